/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_roots.h - tells which code of an entry nobody calls, for the store: its call-frame information says so, or the
 * program begins there. Reads the entries of .eh_frame for the code asked about, which its search table finds; the whole
 * unwind table is made only where that does not answer. Any thread, as load_unwind.h.
 */
#ifndef CODE_BINARIES_LOAD_ROOTS_H
#define CODE_BINARIES_LOAD_ROOTS_H

#include "code/binaries/binary_entry.h"

/* addresses: offsets in the file. */
void load_roots(const struct binary_store_options *options, struct binary_entry *entry, const uint64_t *addresses,
	size_t count, bool *are_roots);

#endif
