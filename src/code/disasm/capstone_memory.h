/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capstone_memory.h - replaces the allocator of capstone, because capstone 4 does not check for failed allocations and
 * would crash. When memory runs out, capstone gets some of a small reserve, which is enough to finish its current call;
 * after that it must not be called again. Any thread.
 */
#ifndef CODE_DISASM_CAPSTONE_MEMORY_H
#define CODE_DISASM_CAPSTONE_MEMORY_H

#include <stdbool.h>

/* Installs the allocator. Call it once, before the first handle is opened. */
void capstone_memory_set(void);
/* Returns whether the reserve was used. Results of capstone are valid then, but no further handle may be opened. */
bool capstone_memory_ran_out(void);

#endif
