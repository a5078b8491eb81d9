/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_state.h - describes what registers and stack slots contain at one point of a function. Used by value_tracker.
 *
 * A plain value, which is copied as a whole.
 *
 *	changed = value_state_merge(&there, &here);
 */
#ifndef CODE_TYPES_VALUE_STATE_H
#define CODE_TYPES_VALUE_STATE_H

#include "code/disasm/operation.h"
#include "object/dwarf/dwarf_type.h"

#define VALUE_SLOTS 24 /* Maximum number of stack slots that are tracked; further slots are ignored. */

enum value_kind {
	VALUE_NONE,
	VALUE_TYPED, /* A value of the type, with offset added. */
	VALUE_ADDRESS, /* The address of an object of the type, with offset added. */
	VALUE_FRAME, /* The canonical frame address, with offset added. */
	VALUE_CONSTANT /* The constant offset. */
};

struct value {
	enum value_kind kind;
	const struct dwarf_type *type;
	int64_t offset;
};

struct value_slot {
	int64_t at; /* Offset from the canonical frame address. */
	struct value value;
};

struct value_state {
	bool is_reached; /* If false, no path to this point was processed yet, and the other members are not valid. */
	unsigned slot_count;
	struct value registers[OPERATION_REGISTERS];
	struct value_slot slots[VALUE_SLOTS];
};

/* Keeps in the state into only the values that both states have; copies from if into is not reached yet. Returns true
 * if into has changed. */
bool value_state_merge(struct value_state *into, const struct value_state *from);
/* Returns the value of the slot at an offset from the canonical frame address; its kind is VALUE_NONE if not known. */
struct value value_state_slot(const struct value_state *state, int64_t at);
/* Sets a slot, and removes the slots that overlap it; a value of kind VALUE_NONE only removes. */
void value_state_set_slot(struct value_state *state, int64_t at, struct value value);
/* Removes the slots that overlap the given number of bytes from at on. */
void value_state_clear_slots(struct value_state *state, int64_t at, unsigned bytes);

#endif
