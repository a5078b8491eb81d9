/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_module.h - loads the symbols of a kernel module: from the kernel's symbol list if the recorded module is loaded
 * on this machine, else from its file. Failures are reported in entry->status.
 *
 * A module's file has no addresses. The addresses of its sections come from /sys/module, from names that are also in
 * the symbol list, or, for its code only, from the start of the module.
 */
#ifndef CODE_BINARIES_LOAD_MODULE_H
#define CODE_BINARIES_LOAD_MODULE_H

#include "code/binaries/load_kernel.h"

/* Loads a module. Call it after the kernel's own entry was loaded, which determines whether the recording is of this
 * machine. */
void load_module(const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *entry);
/* Sets the section addresses of the module's file (or of its debug file) to their run-time addresses. NOMEM is the only
 * error. */
TALLY_MUST_CHECK enum tally_status load_module_place(const struct binary_store_options *options,
	struct binary_entry *entry, struct elf_image *image, struct tally_error *err);

#endif
