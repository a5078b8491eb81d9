/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_bridge.h - finds the caller of code that no call-frame information covers. Each caller is a guess, which is
 * checked as far as possible and counted in run->bridged. Private to this folder.
 */
#ifndef CODE_UNWIND_UNWIND_BRIDGE_H
#define CODE_UNWIND_UNWIND_BRIDGE_H

#include "code/unwind/unwind_run.h"

/* Steps out of an address without code, after a call to it: the return address is where the call stored it. */
enum step unwind_bridge_from_nowhere(struct run *run);
/* For a function that has not touched the stack, like much assembly code: its return address is still at the top of the
 * stack. Only further unwinding shows whether this is right. */
enum step unwind_bridge_leaf(struct run *run);
/* If the frame pointer leads to a return address, that is the caller. ROOT: the process has just begun. */
enum step unwind_bridge_frame_pointer(struct run *run);

#endif
