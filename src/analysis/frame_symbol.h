/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_symbol.h - finds the symbol of a resolved frame; callers are recorded by their return addresses and are looked
 * up inside the call.
 *
 * A caller is looked up inside its call, which is one byte before. That is wrong for two kinds of addresses that stand
 * among callers, though nothing was called before them: the function that a signal handler returns to, and kernel code
 * that was interrupted at its first instruction. Both begin a function, so that only such addresses are in doubt; there
 * the code before the address tells whether it is a call.
 *
 *	symbol = frame_symbol_find(store, id, &frame);  frame = frame_of_symbol(frame, symbol);
 */
#ifndef ANALYSIS_FRAME_SYMBOL_H
#define ANALYSIS_FRAME_SYMBOL_H

#include "analysis/resolve.h"
#include "code/binary_store.h"

/* The symbol that begins at a return address, so that it is in doubt which one it belongs to; NULL: it is not. before: the
 * symbol at the frame's address. */
const struct symbol *frame_symbol_behind(
	const struct binary_store *store, uint32_t id, const struct resolved_frame *frame, const struct symbol *before);
/* NULL: none. One thread; of a loaded entry. */
const struct symbol *frame_symbol_find(struct binary_store *store, uint32_t id, const struct resolved_frame *frame);
/* The frame at the address that its symbol was found at. */
static inline struct resolved_frame frame_of_symbol(struct resolved_frame frame, const struct symbol *symbol)
{
	if (frame.is_return && symbol && symbol->start > frame.address) {
		frame.address++;
		frame.is_return = false;
	}
	return frame;
}

#endif
