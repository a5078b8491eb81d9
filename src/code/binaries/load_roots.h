/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_roots.h - determines, for the store, which code of an entry has no caller, because its call-frame information
 * says so or because the program begins there. It reads only the entries of .eh_frame for the requested code, by the
 * search table, and builds the whole unwind table only if that is not enough. Any thread, as in load_unwind.h.
 */
#ifndef CODE_BINARIES_LOAD_ROOTS_H
#define CODE_BINARIES_LOAD_ROOTS_H

#include "code/binaries/binary_entry.h"

/* Sets are_roots[i] if the code at file offset addresses[i] has no caller. */
void load_roots(const struct binary_store_options *options, struct binary_entry *entry, const uint64_t *addresses,
	size_t count, bool *are_roots);

#endif
