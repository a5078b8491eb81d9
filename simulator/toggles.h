/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toggles.h - knows when a function of --toggle is on the stack of the thread that runs.
 *
 * The outermost call counts, from its first instruction until the stack pointer is above where it was there: by a
 * return, a C++ exception or longjmp. A function that it jumps to as its last act (a tail call) is a part of it.
 */
#ifndef SIMULATOR_TOGGLES_H
#define SIMULATOR_TOGGLES_H

#include "core.h"

/* Which of the first SIM_TOGGLES_TOLD patterns of --toggle name a function that has run: a bit for each, in order. */
extern UInt sim_toggles_ran;

/* Whether a function that --toggle names begins at this address, which is about to run. */
Bool sim_toggles_begins(Addr address);
/* Translated code calls these: before the first instruction of such a function, and after a return or indirect jump. */
void sim_toggles_enter(Addr sp, Addr return_address);
void sim_toggles_leave(Addr sp, Addr target);

#endif
