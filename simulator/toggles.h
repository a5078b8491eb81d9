/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toggles.h - detects when a function of --toggle is on the stack of the running thread.
 *
 * Only the outermost call matters, from its first instruction until the stack pointer is above its value there: after
 * a return, a C++ exception or longjmp. A function that it tail-calls is a part of it.
 */
#ifndef SIMULATOR_TOGGLES_H
#define SIMULATOR_TOGGLES_H

#include "core.h"

/* Bit i is set if a function that matches pattern i of --toggle has run, for the first SIM_TOGGLES_TOLD patterns. */
extern UInt sim_toggles_ran;

/* Returns whether a function that --toggle names begins at this address, which is about to be executed. */
Bool sim_toggles_begins(Addr address);
/* Called by translated code: before the first instruction of such a function, and after a return or indirect jump. */
void sim_toggles_enter(Addr sp, Addr return_address);
void sim_toggles_leave(Addr sp, Addr target);

#endif
