/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expression.h - evaluates DWARF expressions of call-frame information: arithmetic on registers and memory.
 *
 * dwarf_expression_run has no state; it reads the thread's registers and memory by callbacks, which return false if a
 * value is not known. Bad input: it returns false for an unknown operation, a stack overflow or underflow, or too many
 * steps.
 *
 *	ok = dwarf_expression_run(bytes, &(struct dwarf_machine){...}, &cfa_first_on_stack, &value);
 */
#ifndef OBJECT_DWARF_EXPRESSION_H
#define OBJECT_DWARF_EXPRESSION_H

#include "base/cursor.h"

struct dwarf_machine {
	bool (*read_register)(void *context, uint64_t number, uint64_t *value);
	bool (*read_memory)(void *context, uint64_t address, unsigned size, uint64_t *value);
	void *context;
	uint64_t cfa; /* Result of DW_OP_call_frame_cfa, if has_cfa. */
	bool has_cfa;
	bool swap;
	uint8_t address_size;
};

/* Evaluates an expression. initial is pushed before the first operation; NULL if there is none. */
bool dwarf_expression_run(
	struct tally_bytes expression, const struct dwarf_machine *machine, const uint64_t *initial, uint64_t *result);

#endif
