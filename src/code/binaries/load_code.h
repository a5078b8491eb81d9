/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_code.h - loads the machine code of an entry: from a program file, the vdso, a jitdump, a vmlinux or /proc/kcore.
 * Used by the store; see binary_store_code.
 *
 * The entry owns the files that are opened for it.
 */
#ifndef CODE_BINARIES_LOAD_CODE_H
#define CODE_BINARIES_LOAD_CODE_H

#include "code/binaries/binary_entry.h"
#include "code/binaries/load_kernel.h"

/* A range of addresses as passed to binary_store_find. */
struct code_range {
	uint64_t start, end;
};

/* Reads the code of a range. The code lives as long as the entry. NOT_FOUND: it is not available, for the reason in
 * err. */
TALLY_MUST_CHECK enum tally_status load_code(const struct binary_store_options *options, struct host_kernel *host,
	struct binary_entry *entry, const struct code_range *range, struct binary_code *code, struct tally_error *err);
/* Builds the names of the addresses that code refers to, once. Returns false if memory runs out. */
bool load_code_names(struct binary_entry *entry);
/* Frees the names, and closes the vmlinux that was opened for its code. */
void unload_code(struct binary_entry *entry);

#endif
