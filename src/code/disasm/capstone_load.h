/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capstone_load.h - loads libcapstone when the first code is disassembled. The dynamic linker would otherwise relocate
 * its tables at each start of a program, and that takes as long as all the rest of a start.
 *
 * capstone's functions can be called once capstone_load has returned true. A program that was linked with the static library has them in it.
 */
#ifndef CODE_DISASM_CAPSTONE_LOAD_H
#define CODE_DISASM_CAPSTONE_LOAD_H

#include <tally/status.h>

/* UNSUPPORTED: it is not installed. Any thread. */
TALLY_MUST_CHECK enum tally_status capstone_load(struct tally_error *err);

#endif
