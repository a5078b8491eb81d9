/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capstone_load.h - loads libcapstone when code is disassembled for the first time. If the program were linked with it,
 * the dynamic linker would relocate capstone's tables at each start, which took two fifths of the CPU time of a start.
 *
 * capstone's functions may be called after capstone_load has returned TALLY_OK. A program that is linked with the
 * static library contains them, and loads nothing.
 */
#ifndef CODE_DISASM_CAPSTONE_LOAD_H
#define CODE_DISASM_CAPSTONE_LOAD_H

#include <tally/status.h>

/* Loads the library. UNSUPPORTED: it cannot be loaded, for the reason in err. Any thread may call this. */
TALLY_MUST_CHECK enum tally_status capstone_load(struct tally_error *err);

#endif
