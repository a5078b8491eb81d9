/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_bridge.h - finds the caller of code that no call-frame information covers. Each is a guess that is checked as
 * far as can be, and counted in run->bridged; not for others.
 */
#ifndef CODE_UNWIND_UNWIND_BRIDGE_H
#define CODE_UNWIND_UNWIND_BRIDGE_H

#include "code/unwind/unwind_run.h"

/* After a call to where no code is: its return address is where a call leaves it. */
enum step unwind_bridge_from_nowhere(struct run *run);
/* Of a function that has not touched the stack, as assembly often is: its return address is where the call left it. Only
 * the walk that follows can tell. */
enum step unwind_bridge_leaf(struct run *run);
/* If the frame pointer leads to a return address, that is the caller. ROOT: the process has just begun. */
enum step unwind_bridge_frame_pointer(struct run *run);

#endif
