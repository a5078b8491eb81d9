/* SPDX-License-Identifier: Apache-2.0 */
#include "code/types/value_state.h"

#define SLOT_BYTES 8

static bool value_state_is_same(const struct value *a, const struct value *b)
{
	return a->kind == b->kind && a->type == b->type && a->offset == b->offset;
}

bool value_state_merge(struct value_state *into, const struct value_state *from)
{
	if (!from->is_reached)
		return false;
	if (!into->is_reached) {
		*into = *from;
		return true;
	}
	unsigned kept = 0;
	for (unsigned i = 0; i < into->slot_count; i++) {
		struct value other = value_state_slot(from, into->slots[i].at);
		if (value_state_is_same(&into->slots[i].value, &other))
			into->slots[kept++] = into->slots[i];
	}
	bool has_changed = kept != into->slot_count;
	into->slot_count = kept;
	for (unsigned i = 0; i < OPERATION_REGISTERS; i++) {
		if (into->registers[i].kind == VALUE_NONE ||
			value_state_is_same(&into->registers[i], &from->registers[i]))
			continue;
		into->registers[i] = (struct value){.kind = VALUE_NONE};
		has_changed = true;
	}
	return has_changed;
}

struct value value_state_slot(const struct value_state *state, int64_t at)
{
	for (unsigned i = 0; i < state->slot_count; i++)
		if (state->slots[i].at == at)
			return state->slots[i].value;
	return (struct value){.kind = VALUE_NONE};
}

void value_state_clear_slots(struct value_state *state, int64_t at, unsigned bytes)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < state->slot_count; i++) {
		int64_t from = state->slots[i].at;
		if (from + SLOT_BYTES <= at || from >= at + (int64_t)bytes)
			state->slots[kept++] = state->slots[i];
	}
	state->slot_count = kept;
}

void value_state_set_slot(struct value_state *state, int64_t at, struct value value)
{
	value_state_clear_slots(state, at, SLOT_BYTES);
	if (value.kind != VALUE_NONE && state->slot_count < VALUE_SLOTS)
		state->slots[state->slot_count++] = (struct value_slot){at, value};
}
