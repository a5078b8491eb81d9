/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_location.h"

#include <ctype.h>
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>

#include "arch/arch.h"
#include "base/leb128.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_numbers.h"
#include "object/frame_numbers.h"

#define PROBE_STACK_MAX 16
#define PROBE_NO_BASE	UINT32_MAX
#define X86_64_XMM0	17
#define X86_64_XMM_END	33
#define X86_64_ST0	33
#define X86_64_ST_END	41
#define AARCH64_V0	64
#define AARCH64_V_END	96

struct probe_evaluation {
	struct probe_locator *locator;
	struct cursor cursor;
	const struct dwarf_file *file;
	const struct dwarf_unit *unit;
	struct probe_chain stack[PROBE_STACK_MAX];
	size_t depth;
	struct probe_location *location;
	/* The last operation named a register (DW_OP_reg0 to DW_OP_regx), which holds the variable itself. */
	bool is_register;
	bool is_value; /* DW_OP_stack_value was read: the expression results in the value, not in its address. */
};

/* Records why the location cannot be used. Returns false, so that the caller can return its result. */
static bool TALLY_PRINTF(2, 3) probe_give_up(struct probe_evaluation *e, const char *format, ...)
{
	char text[256];
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	e->location->kind = PROBE_LOCATION_NONE;
	e->location->is_described = true;
	e->location->reason = arena_string(e->locator->arena, text, strlen(text));
	e->locator->out_of_memory |= !e->location->reason;
	return false;
}

const char *probe_register_name(struct probe_locator *locator, uint32_t reg)
{
	const struct arch *arch = locator->binary->arch;
	for (uint32_t i = 0; arch && i < arch->dwarf_count && reg != ARCH_NO_DWARF; i++) {
		const char *name = arch->dwarf_registers[i] == reg ? arch_register_name(arch, i) : NULL;
		if (!name)
			continue;
		char *copy = arena_printf(locator->arena, "%%%s", name);
		locator->out_of_memory |= !copy;
		for (char *c = copy; c && *c; c++)
			*c = (char)tolower((unsigned char)*c);
		return copy;
	}
	return NULL;
}

const char *probe_register_words(struct probe_locator *locator, uint32_t reg)
{
	const struct arch *arch = locator->binary->arch;
	const char *name = probe_register_name(locator, reg);
	if (name)
		return name;
	unsigned machine = arch ? arch->e_machine : EM_NONE;
	if (machine == EM_X86_64 && reg >= X86_64_XMM0 && reg < X86_64_XMM_END)
		name = arena_printf(locator->arena, "%%xmm%u", reg - X86_64_XMM0);
	else if (machine == EM_X86_64 && reg >= X86_64_ST0 && reg < X86_64_ST_END)
		name = arena_printf(locator->arena, "%%st%u", reg - X86_64_ST0);
	else if (machine == EM_AARCH64 && reg >= AARCH64_V0 && reg < AARCH64_V_END)
		name = arena_printf(locator->arena, "%%v%u", reg - AARCH64_V0);
	else
		name = arena_printf(locator->arena, "register %u of DWARF", reg);
	locator->out_of_memory |= !name;
	return name ? name : "";
}

static bool probe_push(struct probe_evaluation *e, struct probe_chain chain)
{
	if (e->depth == PROBE_STACK_MAX)
		return probe_give_up(e, "its location is too deep");
	e->stack[e->depth++] = chain;
	return true;
}

static bool probe_push_register(struct probe_evaluation *e, uint64_t reg, int64_t offset)
{
	return probe_push(e, (struct probe_chain){.base = PROBE_BASE_REGISTER,
				     .reg = reg > UINT32_MAX ? UINT32_MAX : (uint32_t)reg,
				     .count = 1,
				     .offsets = {offset}});
}

static bool probe_push_number(struct probe_evaluation *e, uint64_t number)
{
	return probe_push(e, (struct probe_chain){.base = PROBE_BASE_NUMBER, .count = 1, .number = number});
}

static bool probe_push_address(struct probe_evaluation *e, uint64_t address)
{
	return probe_push(e, (struct probe_chain){.base = PROBE_BASE_ADDRESS, .count = 1, .number = address});
}

static int64_t probe_sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void probe_add(struct probe_chain *chain, int64_t offset)
{
	chain->offsets[chain->count - 1] = probe_sum(chain->offsets[chain->count - 1], offset);
}

/* base is the register that variables are relative to, or PROBE_NO_BASE. */
static bool probe_find_frame(struct probe_evaluation *e, uint32_t base, struct probe_frame *frame)
{
	struct probe_locator *locator = e->locator;
	if (!locator->has_frame || locator->frame_reg != base) {
		locator->out_of_memory |= probe_frame_find(locator->binary, locator->place->address, base,
						  &locator->frame, NULL) != TALLY_OK;
		locator->has_frame = !locator->out_of_memory;
		locator->frame_reg = base;
	}
	*frame = locator->frame;
	return locator->has_frame || probe_give_up(e, "memory ran out");
}

static bool probe_push_cfa(struct probe_evaluation *e, int64_t offset)
{
	struct probe_frame frame;
	if (!probe_find_frame(e, PROBE_NO_BASE, &frame))
		return false;
	if (!frame.is_known)
		return probe_give_up(
			e, "it is in the function's frame, which call-frame information does not describe there");
	return probe_push_register(e, frame.reg, probe_sum(frame.offset, offset));
}

/* Pushes the sum of a frame-base register and an offset. Compilers describe the frame base for the function's body; in
 * the prologue and the epilogue, the register has another distance from the CFA, which this corrects. */
static bool probe_push_based(struct probe_evaluation *e, uint32_t reg, int64_t offset)
{
	struct probe_frame frame;
	if (!probe_find_frame(e, reg, &frame))
		return false;
	if (frame.is_known && frame.has_body && (frame.reg != reg || frame.offset < frame.body_offset))
		return probe_push_register(
			e, frame.reg, probe_sum(probe_sum(frame.offset, offset), -frame.body_offset));
	return probe_push_register(e, reg, offset);
}

bool probe_list_next(struct probe_locator *locator, struct dwarf_location_list *list, uint64_t *low, uint64_t *high,
	struct tally_bytes *expression)
{
	return locator->list_steps++ < PROBE_LIST_STEPS_MAX && dwarf_location_next(list, low, high, expression);
}

static bool probe_push_frame_base(struct probe_evaluation *e, int64_t offset)
{
	const struct dwarf_location *base = e->locator->frame_base;
	struct dwarf_location_list list;
	struct tally_bytes expression;
	uint64_t low, high;
	dwarf_location_begin(&list, e->locator->lists, e->file, e->unit, base);
	while (probe_list_next(e->locator, &list, &low, &high, &expression)) {
		if (e->locator->address < low || e->locator->address >= high || expression.len == 0)
			continue;
		struct cursor c = cursor_make(expression, e->file->swap);
		uint8_t op = cursor_u8(&c);
		if (op == DW_OP_call_frame_cfa)
			return probe_push_cfa(e, offset);
		/* Unlike a single expression, a location list is valid at every address, even in the prologue. */
		bool is_of_body = base->kind == DWARF_LOCATION_EXPRESSION;
		uint32_t reg = op;
		if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
			offset = probe_sum(cursor_sleb(&c), offset);
		if ((op < DW_OP_reg0 || op > DW_OP_reg31) && (op < DW_OP_breg0 || op > DW_OP_breg31))
			break;
		reg -= op >= DW_OP_breg0 ? DW_OP_breg0 : DW_OP_reg0;
		return is_of_body ? probe_push_based(e, reg, offset) : probe_push_register(e, reg, offset);
	}
	return probe_give_up(e, "it is in the function's frame, whose place is not known");
}

/* Pushes the value that a register had at the function's entry, which is known only at that address. */
static bool probe_push_entry_value(struct probe_evaluation *e)
{
	uint64_t size = cursor_uleb(&e->cursor);
	struct tally_bytes bytes =
		cursor_bytes(&e->cursor, size > cursor_left(&e->cursor) ? cursor_left(&e->cursor) + 1 : (size_t)size);
	struct cursor inner = cursor_make(bytes, e->file->swap);
	uint8_t op = bytes.len > 0 ? cursor_u8(&inner) : 0;
	uint32_t reg = op >= DW_OP_reg0 && op <= DW_OP_reg31 ? (uint32_t)(op - DW_OP_reg0) : UINT32_MAX;
	if (op == DW_OP_regx)
		reg = (uint32_t)cursor_uleb(&inner);
	if (reg == UINT32_MAX)
		(void)probe_give_up(e, "its value at the function's entry was not kept");
	else if (e->locator->address != e->locator->function_entry)
		(void)probe_give_up(e, "it was in %s at the function's entry, and was not kept",
			probe_register_words(e->locator, reg));
	else
		return probe_push_register(e, reg, 0);
	e->location->is_described = false;
	return false;
}

static bool probe_is_number(const struct probe_chain *chain)
{
	return chain->base == PROBE_BASE_NUMBER && chain->count == 1;
}

static bool probe_dereference(struct probe_evaluation *e, unsigned bytes)
{
	if (e->depth == 0)
		return probe_give_up(e, "its location is damaged");
	struct probe_chain *top = &e->stack[e->depth - 1];
	if (top->count == PROBE_READS_MAX || top->bits || top->shift)
		return probe_give_up(e, "its location takes more reads of memory than the kernel does");
	if (probe_is_number(top))
		return probe_give_up(e, "it is at a constant address");
	top->offsets[top->count++] = 0;
	top->bits = bytes < e->unit->address_size ? 8 * bytes : 0;
	return true;
}

static uint64_t probe_number_of(const struct probe_chain *chain)
{
	return chain->number + (uint64_t)chain->offsets[0];
}

/* Reduces a value to its low bits, for a mask or a conversion to a narrower type. */
static bool probe_keep_bits(struct probe_evaluation *e, uint64_t mask, bool is_signed)
{
	struct probe_chain *top = &e->stack[e->depth - 1];
	unsigned bits = mask == UINT64_MAX ? 64 : (unsigned)__builtin_ctzll(~mask);
	if (mask == 0 || (bits < 64 && mask >> bits))
		return probe_give_up(e, "its value is computed from others, which the kernel cannot do");
	if (probe_is_number(top)) {
		top->number = probe_number_of(top) & mask;
		top->offsets[0] = 0;
	} else if (bits < 64 && (top->bits == 0 || bits < top->bits)) {
		top->bits = bits;
		top->is_extended = is_signed;
	}
	return true;
}

static bool probe_fold(struct probe_evaluation *e, struct probe_chain *left, uint8_t op, uint64_t right)
{
	uint64_t number = probe_number_of(left);
	bool is_shift = op == DW_OP_shl || op == DW_OP_shr || op == DW_OP_shra;
	if (is_shift && right >= 64)
		return probe_give_up(e, "its location is damaged");
	switch (op) {
	case DW_OP_plus:
		number += right;
		break;
	case DW_OP_minus:
		number -= right;
		break;
	case DW_OP_mul:
		number *= right;
		break;
	case DW_OP_and:
		number &= right;
		break;
	case DW_OP_or:
		number |= right;
		break;
	case DW_OP_xor:
		number ^= right;
		break;
	case DW_OP_shl:
		number <<= right;
		break;
	case DW_OP_shr:
		number >>= right;
		break;
	default:
		number = (uint64_t)((int64_t)number >> right);
		break;
	}
	*left = (struct probe_chain){.base = PROBE_BASE_NUMBER, .count = 1, .number = number};
	return true;
}

static bool probe_compute(struct probe_evaluation *e, uint8_t op)
{
	if (e->depth < 2)
		return probe_give_up(e, "its location is damaged");
	struct probe_chain *left = &e->stack[e->depth - 2];
	struct probe_chain right = e->stack[--e->depth];
	if ((op == DW_OP_plus || op == DW_OP_and) && probe_is_number(left) && !probe_is_number(&right)) {
		struct probe_chain swapped = *left;
		*left = right;
		right = swapped;
	}
	if (probe_is_number(left) && probe_is_number(&right))
		return probe_fold(e, left, op, probe_number_of(&right));
	if (op == DW_OP_shr && probe_is_number(&right) && left->bits == 0 &&
		probe_number_of(&right) < 64 - left->shift) {
		left->shift += (unsigned)probe_number_of(&right);
		return true;
	}
	if (!probe_is_number(&right) || ((left->bits || left->shift) && op != DW_OP_and) ||
		(op != DW_OP_plus && op != DW_OP_minus && op != DW_OP_and))
		return probe_give_up(e, "its value is computed from others, which the kernel cannot do");
	if (op == DW_OP_and)
		return probe_keep_bits(e, probe_number_of(&right), false);
	int64_t number = (int64_t)probe_number_of(&right);
	probe_add(left, op == DW_OP_minus ? (int64_t)(0 - (uint64_t)number) : number);
	return true;
}

/* A conversion retains as many bits as the type has. Offset 0 means the generic type (DWARF 5, section 2.5.1.6). */
static bool probe_convert_type(struct probe_evaluation *e)
{
	uint64_t offset = cursor_uleb(&e->cursor);
	struct dwarf_types types;
	uint64_t bytes = e->unit->address_size;
	bool is_signed = false;
	if (e->depth == 0)
		return probe_give_up(e, "its location is damaged");
	if (offset) {
		dwarf_types_init(&types);
		const struct dwarf_type *type =
			dwarf_type_at(&types, (struct dwarf_reference){e->file, e->unit->offset + offset});
		bytes = type ? dwarf_type_size(&types, type) : 0;
		is_signed = type && (type->encoding == DW_ATE_signed || type->encoding == DW_ATE_signed_char);
		e->locator->out_of_memory |= types.out_of_memory;
		dwarf_types_deinit(&types);
	}
	if (bytes == 0 || bytes > 8)
		return probe_give_up(e, "its value is computed from others, which the kernel cannot do");
	return probe_keep_bits(e, bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1, is_signed);
}

static bool probe_push_constant(struct probe_evaluation *e, uint8_t op)
{
	struct cursor *c = &e->cursor;
	switch (op) {
	case DW_OP_const1u:
		return probe_push_number(e, cursor_u8(c));
	case DW_OP_const1s:
		return probe_push_number(e, (uint64_t)(int8_t)cursor_u8(c));
	case DW_OP_const2u:
		return probe_push_number(e, cursor_u16(c));
	case DW_OP_const2s:
		return probe_push_number(e, (uint64_t)(int16_t)cursor_u16(c));
	case DW_OP_const4u:
		return probe_push_number(e, cursor_u32(c));
	case DW_OP_const4s:
		return probe_push_number(e, (uint64_t)(int32_t)cursor_u32(c));
	case DW_OP_const8u:
	case DW_OP_const8s:
		return probe_push_number(e, cursor_u64(c));
	case DW_OP_constu:
		return probe_push_number(e, cursor_uleb(c));
	default:
		return probe_push_number(e, (uint64_t)cursor_sleb(c));
	}
}

static bool probe_set_pointer(struct probe_evaluation *e)
{
	struct cursor *c = &e->cursor;
	uint64_t offset = cursor_uint(c, e->unit->version < 3 ? e->unit->address_size : e->unit->offset_size);
	e->location->kind = PROBE_LOCATION_POINTER;
	e->location->target = (struct dwarf_reference){e->file, offset};
	e->location->target_offset = cursor_sleb(c);
	c->pos = c->len;
	return !c->failed || probe_give_up(e, "its location is damaged");
}

static bool probe_set_bytes(struct probe_evaluation *e)
{
	uint64_t size = cursor_uleb(&e->cursor);
	struct cursor *c = &e->cursor;
	e->location->kind = PROBE_LOCATION_BYTES;
	e->location->bytes = cursor_bytes(c, size > cursor_left(c) ? cursor_left(c) + 1 : (size_t)size);
	return !c->failed || probe_give_up(e, "its location is damaged");
}

static bool probe_step_special(struct probe_evaluation *e, uint8_t op)
{
	struct cursor *c = &e->cursor;
	switch (op) {
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return probe_push_entry_value(e);
	case DW_OP_convert:
	case DW_OP_GNU_convert:
		return probe_convert_type(e);
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type: {
		uint64_t reg = cursor_uleb(c);
		(void)cursor_uleb(c);
		return probe_push_register(e, reg, 0);
	}
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return probe_give_up(e, "each thread has its own, whose address the kernel does not know");
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return probe_set_pointer(e);
	case DW_OP_implicit_value:
		return probe_set_bytes(e);
	case DW_OP_GNU_parameter_ref:
		(void)probe_give_up(e, "the compiler removed the parameter, which callers no longer pass");
		e->location->is_described = false;
		return false;
	case DW_OP_stack_value:
		e->is_value = true;
		return e->depth > 0 || probe_give_up(e, "its location is damaged");
	default:
		return probe_give_up(e, "its value is computed from others, which the kernel cannot do");
	}
}

static bool probe_step(struct probe_evaluation *e, uint8_t op)
{
	struct cursor *c = &e->cursor;
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return probe_push_number(e, op - DW_OP_lit0);
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		return probe_push_register(e, op - DW_OP_breg0, cursor_sleb(c));
	if (op >= DW_OP_const1u && op <= DW_OP_consts)
		return probe_push_constant(e, op);
	e->is_register = (op >= DW_OP_reg0 && op <= DW_OP_reg31) || op == DW_OP_regx;
	if (e->is_register)
		return probe_push_register(e, op == DW_OP_regx ? cursor_uleb(c) : (uint64_t)(op - DW_OP_reg0), 0);
	switch (op) {
	case DW_OP_bregx: {
		uint64_t reg = cursor_uleb(c);
		return probe_push_register(e, reg, cursor_sleb(c));
	}
	case DW_OP_fbreg:
		return probe_push_frame_base(e, cursor_sleb(c));
	case DW_OP_call_frame_cfa:
		return probe_push_cfa(e, 0);
	case DW_OP_addr:
		return probe_push_address(e, cursor_uint(c, e->unit->address_size));
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return probe_push_address(e, dwarf_location_address(e->file, e->unit, cursor_uleb(c)));
	case DW_OP_deref:
		return probe_dereference(e, e->unit->address_size);
	case DW_OP_deref_size:
		return probe_dereference(e, cursor_u8(c));
	case DW_OP_plus_uconst:
		return probe_push_number(e, cursor_uleb(c)) && probe_compute(e, DW_OP_plus);
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_mul:
	case DW_OP_and:
	case DW_OP_or:
	case DW_OP_xor:
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		return probe_compute(e, op);
	case DW_OP_nop:
		return true;
	default:
		return probe_step_special(e, op);
	}
}

/* Turns the value on the stack into a piece of the variable. If the stack is empty, that piece was optimised out. */
static bool probe_add_piece(struct probe_evaluation *e)
{
	struct probe_location *location = e->location;
	struct probe_piece piece = {.bytes = cursor_uleb(&e->cursor), .is_missing = e->depth == 0};
	if (location->piece_count == PROBE_PIECES_MAX)
		return probe_give_up(e, "it lies in too many places");
	if (!piece.is_missing) {
		piece.chain = e->stack[e->depth - 1];
		piece.chain.is_memory = !e->is_register && !e->is_value;
	}
	location->pieces[location->piece_count++] = piece;
	e->depth = 0;
	e->is_register = e->is_value = false;
	return true;
}

static bool probe_evaluate(struct probe_evaluation *e)
{
	struct probe_location *location = e->location;
	while (cursor_left(&e->cursor) > 0 && !e->cursor.failed) {
		uint8_t op = cursor_u8(&e->cursor);
		bool ok = op == DW_OP_piece ? probe_add_piece(e) : probe_step(e, op);
		if (!ok)
			return false;
	}
	if (e->cursor.failed)
		return probe_give_up(e, "its location is damaged");
	if (location->piece_count > 0) {
		location->kind = PROBE_LOCATION_PIECES;
	} else if (e->depth > 0 && location->kind == PROBE_LOCATION_NONE) {
		location->kind = PROBE_LOCATION_CHAIN;
		location->chain = e->stack[e->depth - 1];
		location->chain.is_memory = !e->is_register && !e->is_value;
	}
	if (location->kind != PROBE_LOCATION_NONE)
		return true;
	(void)probe_give_up(e, "it was optimised out there");
	location->is_described = false;
	return false;
}

static void probe_location_set_constant(const struct dwarf_scope_variable *variable, struct probe_location *location)
{
	if (variable->constant_bytes.len > 0) {
		location->kind = PROBE_LOCATION_BYTES;
		location->bytes = variable->constant_bytes;
		return;
	}
	location->kind = PROBE_LOCATION_CHAIN;
	location->chain = (struct probe_chain){.base = PROBE_BASE_NUMBER, .count = 1, .number = variable->constant};
}

void probe_location_find(
	struct probe_locator *locator, const struct dwarf_scope_variable *variable, struct probe_location *location)
{
	const struct probe_scope *scope = &locator->place->scope;
	const struct dwarf_file *file = variable->at.file;
	bool is_own = file == scope->file;
	struct probe_evaluation e = {.locator = locator,
		.file = file,
		.unit = is_own ? scope->unit : dwarf_file_unit_at(file, variable->at.entry),
		.location = location};
	struct dwarf_location_list list;
	struct tally_bytes expression;
	uint64_t low, high;
	*location = (struct probe_location){.reason = "it was optimised out"};
	if (is_own && (variable->at.entry < scope->unit->offset || variable->at.entry >= scope->unit->end))
		e.unit = dwarf_file_unit_at(file, variable->at.entry);
	if (variable->is_constant) {
		probe_location_set_constant(variable, location);
		return;
	}
	if (variable->has_address) {
		location->kind = PROBE_LOCATION_CHAIN;
		location->chain = (struct probe_chain){
			.base = PROBE_BASE_ADDRESS, .count = 1, .number = variable->address, .is_memory = true};
		return;
	}
	if (variable->location.kind == DWARF_LOCATION_NONE || !e.unit)
		return;
	dwarf_location_begin(&list, locator->lists, file, e.unit, &variable->location);
	while (probe_list_next(locator, &list, &low, &high, &expression)) {
		location->is_elsewhere |= expression.len > 0;
		if (locator->address < low || locator->address >= high || expression.len == 0)
			continue;
		e.cursor = cursor_make(expression, file->swap);
		(void)probe_evaluate(&e);
		return;
	}
	if (location->is_elsewhere)
		location->reason = "it was optimised out there, but is in other code of the function";
}
