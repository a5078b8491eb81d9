/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_bridge.h - finds the caller of code that has no call-frame information. Each caller is a guess, which is
 * verified as far as possible and counted in run->bridged. Private to this directory.
 */
#ifndef CODE_UNWIND_UNWIND_BRIDGE_H
#define CODE_UNWIND_UNWIND_BRIDGE_H

#include "code/unwind/unwind_run.h"

/* Handles a call to an address without code: the return address is where the call stored it. */
enum step unwind_bridge_from_nowhere(struct run *run);
/* Handles a function that has not used the stack, like much assembly code: its return address is still on top of the
 * stack. Only further unwinding shows whether this is right. */
enum step unwind_bridge_leaf(struct run *run);
/* Uses the return address to which the frame pointer leads, if there is one. ROOT: the process has just started, or the
 * chain of frame pointers ends. */
enum step unwind_bridge_frame_pointer(struct run *run);

#endif
