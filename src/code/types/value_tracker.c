/* SPDX-License-Identifier: Apache-2.0 */
#include "code/types/value_tracker.h"

#include <elf.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "code/types/fused.h"
#include "code/types/value_run.h"

#define NO_STATE UINT32_MAX

/* Decodes the code. An instruction that cannot be decoded is in the list, too, with is_known unset. */
static bool read_instructions(const struct value_tracker_input *input, struct value_run *run)
{
	struct tally_bytes left = input->code;
	uint64_t address = input->start;
	while (left.len > 0) {
		struct value_instruction one = {.address = address, .state = NO_STATE};
		one.is_known = disassembler_operation(input->disassembler, left, address, &one.operation);
		if (!vec_push(&run->instructions, one))
			return false;
		unsigned size = one.operation.size < left.len ? one.operation.size : (unsigned)left.len;
		left = (struct tally_bytes){left.data + size, left.len - size};
		address += size;
	}
	return true;
}

static struct value_instruction *instruction_at(struct value_run *run, uint64_t address)
{
	const size_t bytes = sizeof(struct value_instruction);
	return value_item_at(run->instructions.items, run->instructions.len, bytes, address);
}

/* Each target of a jump gets a state, in which the states of all paths to it are merged. */
static bool place_states(struct value_run *run)
{
	for (size_t i = 0; i < run->instructions.len; i++) {
		const struct operation *operation = &run->instructions.items[i].operation;
		struct value_instruction *target = operation->kind == OPERATION_JUMP && operation->has_target
							   ? instruction_at(run, operation->target)
							   : NULL;
		if (!target || target->state != NO_STATE)
			continue;
		target->state = (uint32_t)run->states.len;
		if (!vec_push(&run->states, ((struct value_state){.is_reached = false})))
			return false;
	}
	return true;
}

static int value_tracker_by_low(const void *a, const void *b)
{
	const struct value_variable *left = a;
	const struct value_variable *right = b;
	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	return COMPARE(left->order, right->order);
}

static int by_return(const void *a, const void *b)
{
	const struct dwarf_call *left = a;
	const struct dwarf_call *right = b;
	return COMPARE(left->return_address, right->return_address);
}

/* Replaces storage relative to the frame base by storage relative to the register that the frame base is in. If the
 * frame base is the canonical frame address (CFA), the storage remains as it is. */
static struct dwarf_storage value_tracker_resolved(struct dwarf_storage storage, const struct dwarf_storage *base)
{
	if (storage.kind != DWARF_STORAGE_AT_FRAME_BASE)
		return storage;
	if (base->kind == DWARF_STORAGE_CFA)
		return storage;
	storage.kind = base->kind == DWARF_STORAGE_REGISTER || base->kind == DWARF_STORAGE_AT_REGISTER
			       ? DWARF_STORAGE_AT_REGISTER
			       : DWARF_STORAGE_UNKNOWN;
	storage.reg = base->reg;
	storage.offset = (int64_t)((uint64_t)storage.offset + (uint64_t)base->offset);
	return storage;
}

static bool take_variables(struct value_run *run)
{
	const struct dwarf_variables *from = run->input->variables;
	for (size_t i = 0; i < from->items.len; i++) {
		const struct dwarf_variable *variable = &from->items.items[i];
		struct value_variable own = {.low = variable->low,
			.high = variable->high,
			.order = (uint32_t)i,
			.storage = value_tracker_resolved(variable->storage, &from->frame_base),
			.type = dwarf_type_at(run->input->types, variable->type)};
		if (own.type && own.storage.kind != DWARF_STORAGE_UNKNOWN &&
			own.storage.kind != DWARF_STORAGE_AT_ADDRESS && !vec_push(&run->variables, own))
			return false;
	}
	if (run->variables.len > 0)
		qsort(run->variables.items, run->variables.len, sizeof(*run->variables.items), value_tracker_by_low);
	for (size_t i = 0; i < from->calls.len; i++)
		if (!vec_push(&run->calls, from->calls.items[i]))
			return false;
	if (run->calls.len > 0)
		qsort(run->calls.items, run->calls.len, sizeof(*run->calls.items), by_return);
	return true;
}

static struct value_state entry_state(const struct value_tracker_input *input)
{
	struct value_state state = {.is_reached = true};
	bool is_x86 = input->elf_machine == EM_X86_64;
	/* At the entry, the stack pointer is the CFA; on x86, it is 8 less: the call pushed the return address. */
	if (input->is_entry)
		state.registers[is_x86 ? VALUE_X86_SP : VALUE_ARM64_SP] =
			(struct value){.kind = VALUE_FRAME, .offset = is_x86 ? -8 : 0};
	return state;
}

/* Merges the state into that of the jump's target. Sets *is_again if code that was processed already needs another
 * pass: the changed target is not behind the jump, or is not known. */
static void leave_by_jump(struct value_run *run, size_t from, const struct value_state *state, bool *is_again)
{
	const struct operation *operation = &run->instructions.items[from].operation;
	if (!operation->has_target) {
		*is_again |= value_state_merge(&run->indirect, state);
		return;
	}
	struct value_instruction *target = instruction_at(run, operation->target);
	if (!target)
		return;
	bool has_changed = value_state_merge(&run->states.items[target->state], state);
	if (has_changed && target <= &run->instructions.items[from])
		*is_again = true;
}

/* Processes the code once, in its order. Returns true if another pass is needed. */
static bool value_tracker_pass(struct value_run *run, struct value_places *places)
{
	bool is_again = false;
	struct value_state state = entry_state(run->input);
	value_run_rewind(run);
	for (size_t i = 0; i < run->instructions.len; i++) {
		struct value_instruction *instruction = &run->instructions.items[i];
		if (!run->is_followed) {
			state = (struct value_state){.is_reached = true};
		} else if (instruction->state != NO_STATE) {
			struct value_state *kept = &run->states.items[instruction->state];
			value_state_merge(kept, &state);
			state = *kept;
		}
		if (!state.is_reached) /* Only a jump table can lead here. */
			state = run->indirect;
		value_run_enter(run, &state, instruction->address);
		places->items.items[i] = value_run_place(run, &state, instruction);
		value_run_step(run, &state, instruction);
		if (instruction->operation.kind == OPERATION_JUMP && run->is_followed)
			leave_by_jump(run, i, &state, &is_again);
		if (!instruction->operation.goes_on)
			state.is_reached = false;
	}
	return is_again;
}

static bool value_tracker_run_passes(struct value_run *run, struct value_places *places)
{
	if (!vec_reserve(&places->items, run->instructions.len))
		return false;
	places->items.len = run->instructions.len;
	run->is_followed = run->instructions.len <= LIMIT_TRACKED_INSTRUCTIONS;
	for (unsigned i = 0; run->is_followed && i < LIMIT_TRACKED_PASSES; i++)
		if (!value_tracker_pass(run, places))
			return true;
	run->is_followed = false;
	(void)value_tracker_pass(run, places);
	return true;
}

/* An instruction without an access gets the access of the instruction that it is fused with. */
static void join_fused(const struct value_run *run, struct value_places *places)
{
	for (size_t i = 1; i < run->instructions.len; i++) {
		const struct operation *before = &run->instructions.items[i - 1].operation;
		const struct operation *own = &run->instructions.items[i].operation;
		bool is_plain_jump = own->kind == OPERATION_JUMP && !own->goes_on;
		uint64_t address = places->items.items[i].address;
		if (places->items.items[i].kind != VALUE_PLACE_NONE || is_plain_jump ||
			!fused_has(run->input->fused, before->fusing))
			continue;
		places->items.items[i] = places->items.items[i - 1];
		places->items.items[i].address = address;
	}
}

enum tally_status value_tracker_run(
	const struct value_tracker_input *input, struct value_places *places, struct tally_error *err)
{
	struct value_run run = {.input = input};
	*places = (struct value_places){.items = {0}};
	bool ok = read_instructions(input, &run) && place_states(&run) && take_variables(&run) &&
		  value_tracker_run_passes(&run, places) && !run.out_of_memory && !input->types->out_of_memory;
	if (ok)
		join_fused(&run, places);
	vec_free(&run.instructions);
	vec_free(&run.states);
	vec_free(&run.variables);
	vec_free(&run.active);
	vec_free(&run.calls);
	if (ok)
		return TALLY_OK;
	value_places_deinit(places);
	return error_nomem(err);
}

const struct value_place *value_places_find(const struct value_places *places, uint64_t address)
{
	return value_item_at(places->items.items, places->items.len, sizeof(struct value_place), address);
}

void value_places_deinit(struct value_places *places)
{
	vec_free(&places->items);
}
