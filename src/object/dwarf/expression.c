/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/expression.h"

#include "base/leb128.h"
#include "object/frame_numbers.h"

#define EXPRESSION_STACK_DEPTH 64
#define EXPRESSION_STEPS_MAX   1024 /* This limit ends infinite loops; compilers need some tens of steps. */

struct expression_running {
	const struct dwarf_machine *machine;
	struct cursor c;
	uint64_t stack[EXPRESSION_STACK_DEPTH];
	unsigned depth;
	bool failed;
};

static void expression_push(struct expression_running *r, uint64_t value)
{
	if (r->depth == EXPRESSION_STACK_DEPTH) {
		r->failed = true;
		return;
	}
	r->stack[r->depth++] = r->machine->address_size == 4 ? (uint32_t)value : value;
}

/* Numbers have the size of an address, so with 32-bit addresses, bit 31 is the sign. */
static int64_t expression_signed(const struct expression_running *r, uint64_t value)
{
	return r->machine->address_size == 4 ? (int32_t)value : (int64_t)value;
}

static uint64_t expression_pop(struct expression_running *r)
{
	if (r->depth == 0) {
		r->failed = true;
		return 0;
	}
	return r->stack[--r->depth];
}

static uint64_t expression_peek(struct expression_running *r, unsigned index)
{
	if (index >= r->depth) {
		r->failed = true;
		return 0;
	}
	return r->stack[r->depth - 1 - index];
}

static void push_register(struct expression_running *r, uint64_t number, int64_t offset)
{
	uint64_t value = 0;
	if (!r->machine->read_register(r->machine->context, number, &value))
		r->failed = true;
	expression_push(r, value + (uint64_t)offset);
}

static void expression_dereference(struct expression_running *r, unsigned size)
{
	uint64_t value = 0;
	uint64_t address = expression_pop(r);
	if (r->failed || size == 0 || size > 8 || (size & (size - 1)) != 0 ||
		!r->machine->read_memory(r->machine->context, address, size, &value))
		r->failed = true;
	expression_push(r, value);
}

static void expression_rotate(struct expression_running *r)
{
	uint64_t first = expression_pop(r);
	uint64_t second = expression_pop(r);
	uint64_t third = expression_pop(r);
	expression_push(r, first);
	expression_push(r, third);
	expression_push(r, second);
}

static bool run_constant(struct expression_running *r, uint8_t op)
{
	struct cursor *c = &r->c;
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		expression_push(r, (uint64_t)(op - DW_OP_lit0));
		return true;
	}
	switch (op) {
	case DW_OP_addr:
		expression_push(r, cursor_uint(c, r->machine->address_size));
		return true;
	case DW_OP_const1u:
		expression_push(r, cursor_u8(c));
		return true;
	case DW_OP_const1s:
		expression_push(r, (uint64_t)(int64_t)(int8_t)cursor_u8(c));
		return true;
	case DW_OP_const2u:
		expression_push(r, cursor_u16(c));
		return true;
	case DW_OP_const2s:
		expression_push(r, (uint64_t)(int64_t)(int16_t)cursor_u16(c));
		return true;
	case DW_OP_const4u:
		expression_push(r, cursor_u32(c));
		return true;
	case DW_OP_const4s:
		expression_push(r, (uint64_t)(int64_t)(int32_t)cursor_u32(c));
		return true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		expression_push(r, cursor_u64(c));
		return true;
	case DW_OP_constu:
		expression_push(r, cursor_uleb(c));
		return true;
	case DW_OP_consts:
		expression_push(r, (uint64_t)cursor_sleb(c));
		return true;
	default:
		return false;
	}
}

static bool run_stack(struct expression_running *r, uint8_t op)
{
	uint64_t top;
	uint64_t next;
	switch (op) {
	case DW_OP_dup:
		expression_push(r, expression_peek(r, 0));
		return true;
	case DW_OP_drop:
		(void)expression_pop(r);
		return true;
	case DW_OP_over:
		expression_push(r, expression_peek(r, 1));
		return true;
	case DW_OP_pick:
		expression_push(r, expression_peek(r, cursor_u8(&r->c)));
		return true;
	case DW_OP_swap:
		top = expression_pop(r);
		next = expression_pop(r);
		expression_push(r, top);
		expression_push(r, next);
		return true;
	case DW_OP_rot:
		expression_rotate(r);
		return true;
	case DW_OP_deref:
		expression_dereference(r, r->machine->address_size);
		return true;
	case DW_OP_deref_size:
		expression_dereference(r, cursor_u8(&r->c));
		return true;
	case DW_OP_call_frame_cfa:
		r->failed |= !r->machine->has_cfa;
		expression_push(r, r->machine->cfa);
		return true;
	case DW_OP_nop:
		return true;
	default:
		return false;
	}
}

static bool run_unary(struct expression_running *r, uint8_t op)
{
	uint64_t value;
	switch (op) {
	case DW_OP_abs:
		value = expression_pop(r);
		expression_push(r, expression_signed(r, value) < 0 ? 0 - value : value);
		return true;
	case DW_OP_neg:
		expression_push(r, 0 - expression_pop(r));
		return true;
	case DW_OP_not:
		expression_push(r, ~expression_pop(r));
		return true;
	case DW_OP_plus_uconst:
		expression_push(r, expression_pop(r) + cursor_uleb(&r->c));
		return true;
	default:
		return false;
	}
}

static uint64_t expression_shifted(const struct expression_running *r, uint8_t op, uint64_t value, uint64_t by)
{
	if (op == DW_OP_shl)
		return by < 64 ? value << by : 0;
	if (op == DW_OP_shr)
		return by < 64 ? value >> by : 0;
	return (uint64_t)(expression_signed(r, value) >> (by < 64 ? by : 63));
}

static uint64_t expression_divided(struct expression_running *r, uint8_t op, uint64_t left, uint64_t right)
{
	int64_t dividend = expression_signed(r, left), divisor = expression_signed(r, right);
	bool overflows = dividend == INT64_MIN && divisor == -1;
	if (right == 0) {
		r->failed = true;
		return 0;
	}
	if (op == DW_OP_mod)
		return left % right;
	return overflows ? left : (uint64_t)(dividend / divisor);
}

static bool run_binary(struct expression_running *r, uint8_t op)
{
	if (op < DW_OP_and || op > DW_OP_ne || op == DW_OP_neg || op == DW_OP_not || op == DW_OP_plus_uconst ||
		op == DW_OP_bra)
		return false;
	uint64_t right = expression_pop(r);
	uint64_t left = expression_pop(r);
	int64_t sright = expression_signed(r, right);
	int64_t sleft = expression_signed(r, left);
	switch (op) {
	case DW_OP_and:
		expression_push(r, left & right);
		break;
	case DW_OP_or:
		expression_push(r, left | right);
		break;
	case DW_OP_xor:
		expression_push(r, left ^ right);
		break;
	case DW_OP_plus:
		expression_push(r, left + right);
		break;
	case DW_OP_minus:
		expression_push(r, left - right);
		break;
	case DW_OP_mul:
		expression_push(r, left * right);
		break;
	case DW_OP_div:
	case DW_OP_mod:
		expression_push(r, expression_divided(r, op, left, right));
		break;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		expression_push(r, expression_shifted(r, op, left, right));
		break;
	case DW_OP_eq:
		expression_push(r, left == right);
		break;
	case DW_OP_ne:
		expression_push(r, left != right);
		break;
	case DW_OP_ge:
		expression_push(r, sleft >= sright);
		break;
	case DW_OP_gt:
		expression_push(r, sleft > sright);
		break;
	case DW_OP_le:
		expression_push(r, sleft <= sright);
		break;
	default:
		expression_push(r, sleft < sright);
		break;
	}
	return true;
}

static void expression_jump(struct expression_running *r, int16_t by)
{
	int64_t to = (int64_t)r->c.pos + by;
	if (to < 0 || (uint64_t)to > r->c.len)
		r->failed = true;
	else
		r->c.pos = (size_t)to;
}

bool dwarf_expression_run(
	struct tally_bytes expression, const struct dwarf_machine *machine, const uint64_t *initial, uint64_t *result)
{
	struct expression_running r = {.machine = machine, .c = cursor_make(expression, machine->swap)};
	if (initial)
		expression_push(&r, *initial);
	for (unsigned steps = 0; cursor_left(&r.c) > 0 && !r.failed; steps++) {
		if (steps == EXPRESSION_STEPS_MAX)
			return false;
		uint8_t op = cursor_u8(&r.c);
		if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
			push_register(&r, (uint64_t)(op - DW_OP_breg0), cursor_sleb(&r.c));
		} else if (op == DW_OP_bregx) {
			uint64_t number = cursor_uleb(&r.c);
			push_register(&r, number, cursor_sleb(&r.c));
		} else if (op == DW_OP_skip) {
			expression_jump(&r, (int16_t)cursor_u16(&r.c));
		} else if (op == DW_OP_bra) {
			int16_t by = (int16_t)cursor_u16(&r.c);
			if (expression_pop(&r) != 0)
				expression_jump(&r, by);
		} else if (!run_constant(&r, op) && !run_stack(&r, op) && !run_unary(&r, op) && !run_binary(&r, op)) {
			r.failed = true;
		}
	}
	*result = expression_pop(&r);
	return !r.failed && !r.c.failed;
}
