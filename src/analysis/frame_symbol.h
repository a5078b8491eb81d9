/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_symbol.h - finds the symbol of a resolved frame; callers are recorded by their return addresses and are looked
 * up inside the call.
 *
 * A caller is looked up inside its call, which is one byte before. That is wrong for two kinds of addresses in call
 * chains, which have no call before them: the function that a signal handler returns to, and kernel code that was
 * interrupted at its first instruction. Both are the start of a function, so only such addresses need a check: whether
 * the code before the address is a call.
 *
 *	symbol = frame_symbol_find(store, id, &frame);  frame = frame_of_symbol(frame, symbol);
 */
#ifndef ANALYSIS_FRAME_SYMBOL_H
#define ANALYSIS_FRAME_SYMBOL_H

#include "analysis/resolve.h"
#include "code/binary_store.h"

/* The symbol that begins at a return address: the address may then belong to it or to the symbol before. NULL: no
 * symbol begins there. before: the symbol at the frame's address. */
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
