/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_module.h - loads the symbols of a kernel module: from the list of the kernel's symbols if the module that this
 * machine runs is the recorded one, else from its file. Failures are in entry->status.
 *
 * A module's file has no addresses. The addresses of its sections come from /sys/module, from names that are also in
 * the symbol list, or, for its code only, from the start of the module.
 */
#ifndef CODE_BINARIES_LOAD_MODULE_H
#define CODE_BINARIES_LOAD_MODULE_H

#include "code/binaries/load_kernel.h"

/* After the kernel's own entry, which tells whether the recording is of this machine. */
void load_module(const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *entry);
/* Gives the sections of the module's file (or of its debug file) the addresses where they were; NOMEM only. */
TALLY_MUST_CHECK enum tally_status load_module_place(const struct binary_store_options *options,
	struct binary_entry *entry, struct elf_image *image, struct tally_error *err);

#endif
