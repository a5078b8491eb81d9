/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_roots.h - finds out, for the store, which code of an entry has no caller, because its call-frame information
 * says so or because the program begins there. It reads only the entries of .eh_frame for the code in question, by the
 * search table; it builds the whole unwind table only if that is not enough. Any thread, as load_unwind.h.
 */
#ifndef CODE_BINARIES_LOAD_ROOTS_H
#define CODE_BINARIES_LOAD_ROOTS_H

#include "code/binaries/binary_entry.h"

/* addresses: offsets in the file. */
void load_roots(const struct binary_store_options *options, struct binary_entry *entry, const uint64_t *addresses,
	size_t count, bool *are_roots);

#endif
