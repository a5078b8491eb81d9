/* SPDX-License-Identifier: Apache-2.0 */
#include "code/types/value_run.h"

#include <elf.h>
#include <string.h>

#include "base/order.h"

#define WORD_BYTES     8
#define LOWEST_ADDRESS 0x1000 /* Lowest address of an object; smaller constants are assumed to be offsets. */
/* DWARF numbers of the registers that a call preserves: rbx, rbp, rsp, r12 to r15. */
#define X86_CALL_KEEPS UINT64_C(0xf0c8)
/* DWARF numbers of the registers that a call preserves: x19 to x29, sp. */
#define ARM64_CALL_KEEPS UINT64_C(0xbff80000)

static const struct value nothing = {.kind = VALUE_NONE};

/* Each item begins with its address. */
static uint64_t value_item_address(const char *item)
{
	uint64_t address;
	memcpy(&address, item, sizeof(address));
	return address;
}

void *value_item_at(void *items, size_t count, size_t bytes, uint64_t address)
{
	char *base = items;
	size_t low;
	LOWER_BOUND(low, count, middle, value_item_address(base + middle * bytes) < address);
	return low < count && value_item_address(base + low * bytes) == address ? base + low * bytes : NULL;
}

void value_run_rewind(struct value_run *run)
{
	run->next_variable = 0;
	run->active.len = 0;
}

/* Returns the type that a pointer points to; NULL if the type is not a pointer, or does not point to an object. */
static const struct dwarf_type *pointed_to(const struct value_run *run, const struct dwarf_type *type)
{
	const struct dwarf_type *plain = dwarf_type_plain(run->input->types, type);
	if (!plain || plain->kind != DWARF_TYPE_POINTER)
		return NULL;
	const struct dwarf_type *target = dwarf_type_target(run->input->types, plain);
	const struct dwarf_type *object = dwarf_type_plain(run->input->types, target);
	return object && object->kind != DWARF_TYPE_FUNCTION ? target : NULL;
}

/* Returns the type of the object that a value points to, and the offset in it; false if it is not a known address. */
static bool points_at(
	const struct value_run *run, const struct value *value, const struct dwarf_type **type, int64_t *offset)
{
	*offset = value->offset;
	if (value->kind == VALUE_ADDRESS)
		*type = value->type;
	else if (value->kind == VALUE_TYPED)
		*type = pointed_to(run, value->type);
	else
		return false;
	return *type != NULL;
}

static bool is_useful(const struct value_run *run, const struct value *value)
{
	const struct dwarf_type *type;
	int64_t offset;
	return value->kind == VALUE_FRAME || value->kind == VALUE_CONSTANT || points_at(run, value, &type, &offset);
}

/* Retains the order of active variables: inner scopes come last. */
static void value_run_activate(struct value_run *run, uint32_t index)
{
	size_t at = run->active.len;
	if (!vec_push(&run->active, index)) {
		run->out_of_memory = true;
		return;
	}
	for (; at > 0 && run->variables.items[run->active.items[at - 1]].order > run->variables.items[index].order;
		at--)
		run->active.items[at] = run->active.items[at - 1];
	run->active.items[at] = index;
}

static void renew_active(struct value_run *run, uint64_t address)
{
	size_t kept = 0;
	for (size_t i = 0; i < run->active.len; i++)
		if (run->variables.items[run->active.items[i]].high > address)
			run->active.items[kept++] = run->active.items[i];
	run->active.len = kept;
	for (; run->next_variable < run->variables.len; run->next_variable++) {
		const struct value_variable *variable = &run->variables.items[run->next_variable];
		if (variable->low > address)
			break;
		if (variable->high > address)
			value_run_activate(run, (uint32_t)run->next_variable);
	}
}

void value_run_enter(struct value_run *run, struct value_state *state, uint64_t address)
{
	renew_active(run, address);
	for (size_t i = 0; i < run->active.len; i++) {
		const struct value_variable *variable = &run->variables.items[run->active.items[i]];
		uint32_t reg = variable->storage.reg;
		struct value value = {.kind = VALUE_TYPED, .type = variable->type};
		if (reg >= OPERATION_REGISTERS || (variable->storage.kind != DWARF_STORAGE_REGISTER &&
							  variable->storage.kind != DWARF_STORAGE_SUM))
			continue;
		value.offset = (int64_t)(0 - (uint64_t)variable->storage.offset);
		bool is_better = variable->storage.kind == DWARF_STORAGE_REGISTER && is_useful(run, &value);
		if (is_better || !is_useful(run, &state->registers[reg]))
			state->registers[reg] = value;
	}
}

static struct value register_value(const struct value_state *state, uint8_t reg)
{
	return reg < OPERATION_REGISTERS ? state->registers[reg] : nothing;
}

/* Finds the innermost active variable that contains the address, which is in the frame or relative to a register. */
static bool find_variable(
	const struct value_run *run, enum dwarf_storage_kind kind, uint32_t reg, int64_t at, struct value_place *place)
{
	bool is_found = false;
	for (size_t i = 0; i < run->active.len; i++) {
		const struct value_variable *variable = &run->variables.items[run->active.items[i]];
		uint64_t inside = (uint64_t)at - (uint64_t)variable->storage.offset;
		if (variable->storage.kind != kind ||
			(kind == DWARF_STORAGE_AT_REGISTER && variable->storage.reg != reg) ||
			inside >= dwarf_type_size(run->input->types, variable->type))
			continue;
		place->type = variable->type;
		place->offset = inside;
		is_found = true;
	}
	return is_found;
}

static bool value_run_find_global(const struct value_run *run, uint64_t address, struct value_place *place)
{
	struct value_global global;
	if (!run->input->find_global || !run->input->find_global(run->input->context, address, &global))
		return false;
	place->type = global.type;
	place->offset = global.offset;
	return true;
}

/* A variable is described by its record type rather than a typedef, if the record has a name. */
static void name_variable(const struct value_run *run, struct value_place *place)
{
	const struct dwarf_type *plain = dwarf_type_plain(run->input->types, place->type);
	bool is_named = plain && (plain->kind != DWARF_TYPE_RECORD || plain->own_name.len > 0);
	if (is_named && plain->kind == DWARF_TYPE_RECORD)
		place->type = plain;
}

/* Determines which object is at a value plus an offset, and the offset in the object. */
static void place_at_value(
	const struct value_run *run, const struct value *value, int64_t offset, struct value_place *place)
{
	const struct dwarf_type *type;
	int64_t inside;
	int64_t whole = (int64_t)((uint64_t)value->offset + (uint64_t)offset);
	place->kind = VALUE_PLACE_NO_VARIABLE;
	if (value->kind == VALUE_FRAME && find_variable(run, DWARF_STORAGE_AT_FRAME_BASE, 0, whole, place)) {
		place->kind = VALUE_PLACE_TYPED;
		name_variable(run, place);
	} else if (value->kind == VALUE_CONSTANT && value_run_find_global(run, (uint64_t)whole, place)) {
		place->kind = VALUE_PLACE_TYPED;
		name_variable(run, place);
	} else if (points_at(run, value, &type, &inside)) {
		bool is_inside = whole >= 0 && (uint64_t)whole < dwarf_type_size(run->input->types, type);
		place->kind = is_inside ? VALUE_PLACE_TYPED : VALUE_PLACE_BAD_OFFSET;
		place->type = type;
		place->offset = (uint64_t)whole;
	} else if (value->kind == VALUE_TYPED) {
		place->kind = VALUE_PLACE_NO_TYPE;
	}
}

static struct value_place value_run_place_of(
	const struct value_run *run, const struct value_state *state, const struct operation_memory *memory)
{
	struct value_place place = {.kind = VALUE_PLACE_NO_VARIABLE};
	struct value base = register_value(state, memory->base), index = register_value(state, memory->index);
	if (memory->is_in_segment)
		return place;
	if (memory->is_absolute) {
		struct value address = {.kind = VALUE_CONSTANT, .offset = (int64_t)memory->address};
		place_at_value(run, &address, 0, &place);
		return place;
	}
	if (find_variable(run, DWARF_STORAGE_AT_REGISTER, memory->base, memory->offset, &place)) {
		place.kind = VALUE_PLACE_TYPED;
		name_variable(run, &place);
		return place;
	}
	place_at_value(run, &base, memory->offset, &place);
	if (place.kind == VALUE_PLACE_NO_VARIABLE && is_useful(run, &index))
		place_at_value(run, &index, memory->offset, &place);
	if (place.kind == VALUE_PLACE_NO_VARIABLE && memory->offset >= LOWEST_ADDRESS && base.kind == VALUE_NONE) {
		struct value address = {.kind = VALUE_CONSTANT, .offset = memory->offset};
		place_at_value(run, &address, 0, &place);
	}
	return place;
}

/* Returns whether debug information itself describes the base register or the memory at this point. */
static bool is_said(const struct value_run *run, const struct operation_memory *memory)
{
	for (size_t i = 0; i < run->active.len; i++) {
		const struct dwarf_storage *storage = &run->variables.items[run->active.items[i]].storage;
		if (storage->kind == DWARF_STORAGE_AT_FRAME_BASE || storage->reg == memory->base)
			return true;
	}
	return memory->is_absolute;
}

struct value_place value_run_place(
	struct value_run *run, const struct value_state *state, const struct value_instruction *instruction)
{
	const struct operation *operation = &instruction->operation;
	struct value_place place = {.kind = VALUE_PLACE_NONE};
	if (instruction->is_known && operation->memory.is_there && !operation->memory.is_address_only) {
		place = value_run_place_of(run, state, &operation->memory);
		place.is_followed = !is_said(run, &operation->memory);
	}
	if (operation->is_stack)
		place.kind = VALUE_PLACE_STACK;
	place.address = place.accessed_by = instruction->address;
	return place;
}

/* Returns the type of the scalar at an offset in a type; NULL if there is none. */
static const struct dwarf_type *leaf_at(struct dwarf_types *types, const struct dwarf_type *type, uint64_t offset)
{
	for (unsigned depth = 0; depth < OPERATION_REGISTERS && type; depth++) {
		const struct dwarf_type *plain = dwarf_type_plain(types, type);
		if (!plain)
			return NULL;
		if (plain->kind == DWARF_TYPE_ARRAY) {
			type = dwarf_type_target(types, plain);
			uint64_t size = type ? dwarf_type_size(types, type) : 0;
			offset = size ? offset % size : 0;
			continue;
		}
		if (plain->kind != DWARF_TYPE_RECORD)
			return offset == 0 ? type : NULL;
		size_t count;
		const struct dwarf_member *members = dwarf_type_members(types, plain, &count);
		type = NULL;
		for (size_t i = 0; i < count && !type; i++)
			if (offset >= members[i].offset && offset - members[i].offset < members[i].size) {
				type = members[i].type;
				offset -= members[i].offset;
			}
	}
	return NULL;
}

/* Finds the offset of a memory operand from the canonical frame address; returns false if its base is another address,
 * or if it has an index or a segment. */
static bool frame_slot(const struct value_state *state, const struct operation_memory *memory, int64_t *at)
{
	struct value base = register_value(state, memory->base);
	*at = (int64_t)((uint64_t)base.offset + (uint64_t)memory->offset);
	return base.kind == VALUE_FRAME && memory->index == OPERATION_NO_REGISTER && !memory->is_in_segment;
}

static struct value value_run_loaded(const struct value_run *run, const struct value_state *state,
	const struct operation_memory *memory, int64_t behind)
{
	struct operation_memory word = *memory;
	int64_t at;
	word.offset += behind;
	word.address += (uint64_t)behind;
	if (frame_slot(state, &word, &at)) {
		struct value kept = value_state_slot(state, at);
		if (is_useful(run, &kept))
			return kept;
	}
	struct value_place place = value_run_place_of(run, state, &word);
	const struct dwarf_type *leaf =
		place.kind == VALUE_PLACE_TYPED ? leaf_at(run->input->types, place.type, place.offset) : NULL;
	return leaf ? (struct value){.kind = VALUE_TYPED, .type = leaf} : nothing;
}

/* Adds a constant to a value. A pointer that moves by a multiple of the size of its type points to that type again. */
static struct value value_run_moved(const struct value_run *run, struct value value, int64_t by)
{
	const struct dwarf_type *type;
	int64_t offset;
	if (!is_useful(run, &value))
		return nothing;
	value.offset = (int64_t)((uint64_t)value.offset + (uint64_t)by);
	if (points_at(run, &value, &type, &offset)) {
		uint64_t size = dwarf_type_size(run->input->types, type);
		if (size > 0 && size <= INT64_MAX && offset % (int64_t)size == 0)
			value.offset = 0;
	}
	return value;
}

/* Adds an unknown index to an address: the first element of an array stands for all of them. */
static struct value value_run_indexed(const struct value_run *run, struct value value)
{
	struct value_place place;
	if (value.kind != VALUE_FRAME && value.kind != VALUE_CONSTANT)
		return value;
	place_at_value(run, &value, 0, &place);
	if (place.kind != VALUE_PLACE_TYPED)
		return nothing;
	return (struct value){.kind = VALUE_ADDRESS, .type = place.type, .offset = (int64_t)place.offset};
}

static struct value value_run_added(const struct value_run *run, struct value left, struct value right)
{
	bool has_left = is_useful(run, &left), has_right = is_useful(run, &right);
	if (has_left && has_right && left.kind == VALUE_CONSTANT && right.kind != VALUE_CONSTANT)
		return value_run_moved(run, right, left.offset);
	if (has_left && has_right && right.kind == VALUE_CONSTANT)
		return value_run_moved(run, left, right.offset);
	if (has_left == has_right)
		return nothing;
	return value_run_indexed(run, has_left ? left : right);
}

static struct value value_run_address_of(
	const struct value_run *run, const struct value_state *state, const struct operation_memory *memory)
{
	struct value base = register_value(state, memory->base);
	struct value_place place;
	if (memory->is_in_segment)
		return nothing;
	if (memory->is_absolute && memory->index == OPERATION_NO_REGISTER)
		return (struct value){.kind = VALUE_CONSTANT, .offset = (int64_t)memory->address};
	if (memory->is_absolute)
		return value_run_indexed(
			run, (struct value){.kind = VALUE_CONSTANT, .offset = (int64_t)memory->address});
	if (base.kind != VALUE_FRAME &&
		find_variable(run, DWARF_STORAGE_AT_REGISTER, memory->base, memory->offset, &place))
		return (struct value){.kind = VALUE_ADDRESS, .type = place.type, .offset = (int64_t)place.offset};
	base = value_run_moved(run, base, memory->offset);
	return memory->index == OPERATION_NO_REGISTER
		       ? base
		       : value_run_added(run, base, register_value(state, memory->index));
}

static uint8_t stack_pointer(const struct value_run *run)
{
	return run->input->elf_machine == EM_X86_64 ? VALUE_X86_SP : VALUE_ARM64_SP;
}

static void step_push(struct value_run *run, struct value_state *state, const struct operation *operation)
{
	struct value *top = &state->registers[stack_pointer(run)];
	struct value pushed = register_value(state, operation->from);
	if (top->kind != VALUE_FRAME)
		return;
	top->offset -= WORD_BYTES;
	value_state_set_slot(state, top->offset, is_useful(run, &pushed) ? pushed : nothing);
}

static void step_pop(struct value_run *run, struct value_state *state, uint8_t to)
{
	struct value *top = &state->registers[stack_pointer(run)];
	struct value popped = top->kind == VALUE_FRAME ? value_state_slot(state, top->offset) : nothing;
	if (top->kind == VALUE_FRAME)
		top->offset += WORD_BYTES;
	if (to < OPERATION_REGISTERS)
		state->registers[to] = popped;
}

static void step_call(struct value_run *run, struct value_state *state, const struct value_instruction *instruction)
{
	const struct value_tracker_input *input = run->input;
	const struct operation *operation = &instruction->operation;
	const struct dwarf_call *call =
		value_item_at(run->calls.items, run->calls.len, sizeof(*call), instruction->address + operation->size);
	struct dwarf_reference callee = {NULL, 0}, type;
	uint64_t keeps = input->elf_machine == EM_X86_64 ? X86_CALL_KEEPS : ARM64_CALL_KEEPS;
	for (unsigned i = 0; i < OPERATION_REGISTERS; i++)
		if (!(keeps & UINT64_C(1) << i))
			state->registers[i] = nothing;
	if (call)
		callee = call->callee;
	else if (!operation->has_target || !input->find_callee ||
		 !input->find_callee(input->context, operation->target, &callee))
		return;
	if (!dwarf_entry_type(&input->types->reader, callee, &type))
		return;
	struct value returned = {.kind = VALUE_TYPED, .type = dwarf_type_at(input->types, type)};
	if (returned.type)
		state->registers[0] = returned; /* Register 0 is rax or x0. */
}

static void step_memory(struct value_run *run, struct value_state *state, const struct operation *operation)
{
	const struct operation_memory *memory = &operation->memory;
	int64_t at;
	if (!memory->is_there || memory->is_address_only || operation->kind == OPERATION_LOAD ||
		!frame_slot(state, memory, &at))
		return;
	if (operation->kind != OPERATION_STORE) {
		value_state_clear_slots(state, at, memory->bytes ? memory->bytes : WORD_BYTES);
		return;
	}
	struct value first = register_value(state, operation->from);
	value_state_set_slot(state, at, is_useful(run, &first) ? first : nothing);
	if (operation->second != OPERATION_NO_REGISTER) {
		struct value second = register_value(state, operation->second);
		value_state_set_slot(state, at + WORD_BYTES, is_useful(run, &second) ? second : nothing);
	}
}

/* Returns the new value of operation->to. Only a load also writes operation->second. */
static struct value result_of(
	const struct value_run *run, const struct value_state *state, const struct operation *operation)
{
	switch (operation->kind) {
	case OPERATION_COPY:
		return register_value(state, operation->from);
	case OPERATION_LOAD:
		return value_run_loaded(run, state, &operation->memory, 0);
	case OPERATION_ADDRESS:
		return value_run_address_of(run, state, &operation->memory);
	case OPERATION_CONSTANT:
		return (struct value){.kind = VALUE_CONSTANT, .offset = operation->constant};
	case OPERATION_ADD_CONSTANT:
		return value_run_moved(run, register_value(state, operation->from), operation->constant);
	case OPERATION_ADD_REGISTER:
		return value_run_added(
			run, register_value(state, operation->from), register_value(state, operation->second));
	case OPERATION_OTHER:
	case OPERATION_STORE:
	case OPERATION_PUSH:
	case OPERATION_POP:
	case OPERATION_LEAVE:
	case OPERATION_JUMP:
	case OPERATION_CALL:
	case OPERATION_RETURN:
		break;
	}
	return nothing;
}

static void step_registers(struct value_run *run, struct value_state *state, const struct operation *operation)
{
	struct value result = result_of(run, state, operation), second = nothing;
	struct value base = register_value(state, operation->memory.base);
	if (operation->kind == OPERATION_LOAD && operation->second != OPERATION_NO_REGISTER)
		second = value_run_loaded(run, state, &operation->memory, WORD_BYTES);
	step_memory(run, state, operation);
	for (unsigned i = 0; i < OPERATION_REGISTERS; i++)
		if (operation->written & UINT64_C(1) << i)
			state->registers[i] = nothing;
	if (operation->step && operation->memory.base < OPERATION_REGISTERS)
		state->registers[operation->memory.base] = value_run_moved(run, base, operation->step);
	if (operation->to < OPERATION_REGISTERS)
		state->registers[operation->to] = result;
	if (operation->kind == OPERATION_LOAD && operation->second < OPERATION_REGISTERS)
		state->registers[operation->second] = second;
}

void value_run_step(struct value_run *run, struct value_state *state, const struct value_instruction *instruction)
{
	const struct operation *operation = &instruction->operation;
	if (!instruction->is_known)
		return;
	switch (operation->kind) {
	case OPERATION_PUSH:
		step_push(run, state, operation);
		break;
	case OPERATION_POP:
		step_pop(run, state, operation->to);
		break;
	case OPERATION_LEAVE:
		state->registers[VALUE_X86_SP] = state->registers[VALUE_X86_FP];
		step_pop(run, state, VALUE_X86_FP);
		break;
	case OPERATION_CALL:
		step_call(run, state, instruction);
		break;
	case OPERATION_OTHER:
	case OPERATION_COPY:
	case OPERATION_LOAD:
	case OPERATION_STORE:
	case OPERATION_ADDRESS:
	case OPERATION_CONSTANT:
	case OPERATION_ADD_CONSTANT:
	case OPERATION_ADD_REGISTER:
	case OPERATION_JUMP:
	case OPERATION_RETURN:
		step_registers(run, state, operation);
		break;
	}
}
