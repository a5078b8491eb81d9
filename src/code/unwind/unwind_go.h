/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_go.h - converts a frame of Go's function table into a row of call-frame information. Private to
 * unwind_table.c.
 *
 * In Go, the return address is where the call stored it; on an architecture with a link register, the function saves it
 * at the lowest address of its frame. Source: "Go internal ABI specification".
 */
#ifndef CODE_UNWIND_UNWIND_GO_H
#define CODE_UNWIND_UNWIND_GO_H

#include "arch/arch.h"
#include "object/dwarf/cfi.h"
#include "object/elf/go_frames.h"

/* Returns whether the row has precedence over call-frame information, which does not describe stack switches. */
static inline bool unwind_go_is_special(const struct go_frame *frame)
{
	return frame->kind != GO_FRAME_CALLED;
}

/* Sets row and frame to what call-frame information would say about the code of from. */
void unwind_go_row(const struct arch *arch, const struct go_frame *from, struct cfi_row *row, struct cfi_frame *frame);

#endif
