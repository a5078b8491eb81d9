/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_symbol.h - finds the symbol of a resolved frame.
 *
 * A caller was recorded by its return address, and is looked up one byte before it, inside the call. That is wrong for
 * two kinds of addresses in call chains, which have no call before them: the function that a signal handler returns to,
 * and kernel code that was interrupted at its first instruction. Both are the start of a function, so only such
 * addresses need a check: whether the code before the address is a call.
 *
 *	symbol = frame_symbol_find(store, id, &frame);  frame = frame_of_symbol(frame, symbol);
 */
#ifndef ANALYSIS_FRAME_SYMBOL_H
#define ANALYSIS_FRAME_SYMBOL_H

#include "analysis/resolve.h"
#include "code/binary_store.h"

/* Returns the symbol that begins at the return address of a caller, or NULL if none does. `before` is the symbol at the
 * frame's address, which is one byte before the return address, or NULL; the return address may belong to either
 * symbol. */
const struct symbol *frame_symbol_behind(
	const struct binary_store *store, uint32_t id, const struct resolved_frame *frame, const struct symbol *before);
/* Returns the symbol of a frame, or NULL if there is none. The store's entry must be loaded. One thread only. */
const struct symbol *frame_symbol_find(struct binary_store *store, uint32_t id, const struct resolved_frame *frame);
/* Returns the frame with the address at which its symbol was found. */
static inline struct resolved_frame frame_of_symbol(struct resolved_frame frame, const struct symbol *symbol)
{
	if (frame.is_return && symbol && symbol->start > frame.address) {
		frame.address++;
		frame.is_return = false;
	}
	return frame;
}

#endif
