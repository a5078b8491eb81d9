/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/trace/trace_value.h"

#include "analysis/trace/trace_expression.h"
#include "base/array.h"

uint64_t trace_load(struct tally_bytes bytes, size_t at, uint32_t size, bool is_signed, bool swap)
{
	uint64_t v = 0;
	if (at > bytes.len || size > bytes.len - at)
		return 0;
	const uint8_t *data = bytes.data + at;
	if (size == 1) {
		v = *data;
	} else if (size == 2) {
		uint16_t half;
		memcpy(&half, data, sizeof(half));
		v = swap ? __builtin_bswap16(half) : half;
	} else if (size == 4) {
		uint32_t word;
		memcpy(&word, data, sizeof(word));
		v = swap ? __builtin_bswap32(word) : word;
	} else if (size == 8) {
		memcpy(&v, data, sizeof(v));
		return swap ? __builtin_bswap64(v) : v;
	} else {
		return 0;
	}
	unsigned unused = 64 - size * 8;
	return is_signed ? (uint64_t)((int64_t)(v << unused) >> unused) : v;
}

static struct tally_bytes trace_value_slice(struct tally_bytes raw, size_t offset, size_t len)
{
	if (offset >= raw.len)
		return (struct tally_bytes){NULL, 0};
	return (struct tally_bytes){raw.data + offset, MIN(len, raw.len - offset)};
}

struct tally_bytes trace_field_bytes(
	const struct trace_field *field, const struct trace_context *context, struct tally_bytes raw)
{
	if (!field->is_dynamic) {
		/* An array without a size extends to the end of the payload. */
		size_t len = field->is_array && field->size == 0 ? SIZE_MAX : field->size;
		return trace_value_slice(raw, field->offset, len);
	}
	uint64_t where = trace_load(raw, field->offset, 4, false, context->swap);
	size_t offset = where & 0xffff;
	if (field->is_relative)
		offset += (size_t)field->offset + field->size;
	return trace_value_slice(raw, offset, (size_t)(where >> 16));
}

uint64_t trace_field_number(
	const struct trace_field *field, const struct trace_context *context, struct tally_bytes raw, size_t item)
{
	if (!field->is_array)
		return trace_load(raw, field->offset, field->size, field->is_signed, context->swap);
	struct tally_bytes bytes = trace_field_bytes(field, context, raw);
	if (field->item_bytes == 0 || item >= bytes.len / field->item_bytes)
		return 0;
	return trace_load(bytes, item * field->item_bytes, field->item_bytes, field->is_signed, context->swap);
}

static const struct trace_node *trace_value_get(const struct trace_source *s, uint32_t node)
{
	return &s->event->nodes[node];
}

static const struct trace_field *field_of(const struct trace_source *s, const struct trace_node *node)
{
	return &s->event->fields[node->value];
}

struct tally_bytes trace_bytes(const struct trace_source *s, uint32_t index)
{
	const struct trace_node *node = trace_value_get(s, index);
	while (node->kind == TRACE_CAST || (node->kind == TRACE_UNARY && node->op == '&'))
		node = trace_value_get(s, node->a);
	if (node->kind == TRACE_FIELD || node->kind == TRACE_DYNAMIC || node->kind == TRACE_BITMASK)
		return trace_field_bytes(field_of(s, node), s->context, s->raw);
	return (struct tally_bytes){NULL, 0};
}

/* Returns an item of an indexed array; 0 if there is none. */
static uint64_t item_number(const struct trace_source *s, const struct trace_node *node)
{
	const struct trace_node *array = trace_value_get(s, node->a);
	uint32_t bytes = 0;
	while (array->kind == TRACE_CAST)
		array = trace_value_get(s, array->a);
	if (array->kind != TRACE_FIELD && array->kind != TRACE_DYNAMIC)
		return 0;
	const struct trace_field *field = field_of(s, array);
	bytes = field->item_bytes;
	uint64_t item = trace_number(s, node->b);
	struct tally_bytes all = trace_bytes(s, node->a);
	if (bytes == 0 || item >= all.len / bytes)
		return 0;
	return trace_load(all, (size_t)item * bytes, bytes, field->is_signed, s->context->swap);
}

/* Comparisons and logical operators have the type int, whatever their operands. */
static bool trace_value_is_truth(uint32_t op)
{
	switch (op) {
	case '!':
	case '<':
	case '>':
	case TRACE_LESS_EQUAL:
	case TRACE_GREATER_EQUAL:
	case TRACE_EQUAL:
	case TRACE_UNEQUAL:
	case TRACE_AND:
	case TRACE_OR:
		return true;
	default:
		return false;
	}
}

/* Returns whether the value of this node has a 64-bit unsigned type in C. */
static bool is_unsigned(const struct trace_source *s, uint32_t index)
{
	const struct trace_node *node = trace_value_get(s, index);
	switch (node->kind) {
	case TRACE_NUMBER:
		return node->op == 'u';
	case TRACE_FIELD:
		return !field_of(s, node)->is_signed && field_of(s, node)->size == 8;
	case TRACE_CAST:
		return node->value == 8 && node->op != 's';
	case TRACE_UNARY:
		return !trace_value_is_truth(node->op) && is_unsigned(s, node->a);
	case TRACE_BINARY:
		if (trace_value_is_truth(node->op))
			return false;
		if (node->op == TRACE_SHIFT_LEFT || node->op == TRACE_SHIFT_RIGHT)
			return is_unsigned(s, node->a);
		return is_unsigned(s, node->a) || is_unsigned(s, node->b);
	case TRACE_CHOICE:
		return is_unsigned(s, node->b) || is_unsigned(s, node->c);
	case TRACE_UNKNOWN:
	case TRACE_STRING:
	case TRACE_DYNAMIC:
	case TRACE_DYNAMIC_LENGTH:
	case TRACE_BITMASK:
	case TRACE_INDEX:
	case TRACE_FLAGS:
	case TRACE_SYMBOLIC:
	case TRACE_ITEM:
	case TRACE_HEX:
	case TRACE_ARRAY:
		break;
	}
	return false;
}

static bool trace_value_compare(uint32_t op, bool is_less, bool is_equal)
{
	switch (op) {
	case '<':
		return is_less;
	case '>':
		return !is_less && !is_equal;
	case TRACE_LESS_EQUAL:
		return is_less || is_equal;
	default:
		return !is_less;
	}
}

static uint64_t trace_value_arithmetic(const struct trace_node *node, uint64_t a, uint64_t b, bool without_sign)
{
	int64_t left = (int64_t)a;
	int64_t right = (int64_t)b;
	bool can_divide = right != 0 && !(left == INT64_MIN && right == -1);
	switch (node->op) {
	case '*':
		return a * b;
	case '/':
		if (without_sign)
			return b ? a / b : 0;
		return can_divide ? (uint64_t)(left / right) : 0;
	case '%':
		if (without_sign)
			return b ? a % b : 0;
		return can_divide ? (uint64_t)(left % right) : 0;
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '&':
		return a & b;
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	case TRACE_SHIFT_LEFT:
		return b < 64 ? a << b : 0;
	case TRACE_SHIFT_RIGHT:
		return b >= 64 ? 0 : without_sign ? a >> b : (uint64_t)(left >> b);
	case TRACE_EQUAL:
		return a == b;
	case TRACE_UNEQUAL:
		return a != b;
	default:
		return trace_value_compare(node->op, without_sign ? a < b : left < right, a == b);
	}
}

static uint64_t trace_value_binary(const struct trace_source *s, const struct trace_node *node)
{
	uint64_t left = trace_number(s, node->a);
	if (node->op == TRACE_AND)
		return left && trace_number(s, node->b);
	if (node->op == TRACE_OR)
		return left || trace_number(s, node->b);
	bool is_known = trace_value_get(s, node->a)->kind != TRACE_UNKNOWN &&
			trace_value_get(s, node->b)->kind != TRACE_UNKNOWN;
	if (!is_known && (node->op == TRACE_EQUAL || node->op == TRACE_UNEQUAL))
		return node->op == TRACE_UNEQUAL; /* The kernel's value of a constant without a number is not known. */
	bool without_sign = is_unsigned(s, node->a) || (node->op != TRACE_SHIFT_RIGHT && is_unsigned(s, node->b));
	return trace_value_arithmetic(node, left, trace_number(s, node->b), without_sign);
}

static uint64_t trace_value_unary(const struct trace_source *s, const struct trace_node *node)
{
	uint64_t v = trace_number(s, node->a);
	switch (node->op) {
	case '-':
		return -v;
	case '!':
		return !v;
	case '~':
		return ~v;
	default:
		return v;
	}
}

static uint64_t trace_value_cast(const struct trace_node *node, uint64_t v)
{
	if (node->value >= 8 || node->value == 0)
		return v;
	unsigned unused = 64 - (unsigned)node->value * 8;
	return node->op == 's' ? (uint64_t)((int64_t)(v << unused) >> unused) : v << unused >> unused;
}

uint64_t trace_number(const struct trace_source *s, uint32_t index)
{
	const struct trace_node *node = trace_value_get(s, index);
	switch (node->kind) {
	case TRACE_NUMBER:
		return node->value;
	case TRACE_FIELD:
		return field_of(s, node)->is_array ? 0 : trace_field_number(field_of(s, node), s->context, s->raw, 0);
	case TRACE_DYNAMIC_LENGTH:
		return trace_field_bytes(field_of(s, node), s->context, s->raw).len;
	case TRACE_UNARY:
		return trace_value_unary(s, node);
	case TRACE_BINARY:
		return trace_value_binary(s, node);
	case TRACE_CHOICE:
		return trace_number(s, trace_number(s, node->a) ? node->b : node->c);
	case TRACE_CAST:
		return trace_value_cast(node, trace_number(s, node->a));
	case TRACE_INDEX:
		return item_number(s, node);
	case TRACE_UNKNOWN:
	case TRACE_STRING:
	case TRACE_DYNAMIC:
	case TRACE_BITMASK:
	case TRACE_FLAGS:
	case TRACE_SYMBOLIC:
	case TRACE_ITEM:
	case TRACE_HEX:
	case TRACE_ARRAY:
		break;
	}
	return 0;
}

static bool trace_value_is_number(const struct trace_event *event, uint32_t node)
{
	return event->nodes[node].kind == TRACE_NUMBER;
}

void trace_event_fold(struct trace_event *event)
{
	const struct trace_source source = {.event = event};
	for (uint32_t i = 0; i < event->node_count; i++) {
		struct trace_node *node = &event->nodes[i];
		bool is_single = node->kind == TRACE_UNARY || node->kind == TRACE_CAST;
		bool is_pair = node->kind == TRACE_BINARY;
		if (!(is_single || is_pair) || !trace_value_is_number(event, node->a) ||
			(is_pair && !trace_value_is_number(event, node->b)))
			continue;
		uint32_t op = is_unsigned(&source, i) ? 'u' : 0;
		*node = (struct trace_node){.kind = TRACE_NUMBER, .value = trace_number(&source, i), .op = op};
	}
}

static void trace_value_put_hex(struct text *t, uint64_t v)
{
	text_str(t, "0x");
	text_hex(t, v, 0);
}

/* The item with value 0 names the value 0; bits that no item names are printed as a number at the end. */
static void flags_text(const struct trace_source *s, const struct trace_node *node, struct text *t)
{
	uint64_t left = trace_number(s, node->a);
	bool has_some = false;
	for (uint32_t i = node->b; i != TRACE_NO_NODE; i = trace_value_get(s, i)->b) {
		const struct trace_node *item = trace_value_get(s, i);
		uint64_t bits = trace_number(s, item->a);
		if (trace_value_get(s, item->a)->kind == TRACE_UNKNOWN)
			continue;
		if (!has_some && left == 0 && bits == 0) {
			text_bytes(t, item->text.data, item->text.len);
			return;
		}
		if (bits == 0 || (left & bits) != bits)
			continue;
		if (has_some)
			text_bytes(t, node->text.data, node->text.len);
		text_bytes(t, item->text.data, item->text.len);
		has_some = true;
		left &= ~bits;
	}
	if (left == 0)
		return;
	if (has_some)
		text_bytes(t, node->text.data, node->text.len);
	trace_value_put_hex(t, left);
}

static void symbolic_text(const struct trace_source *s, const struct trace_node *node, struct text *t)
{
	uint64_t value = trace_number(s, node->a);
	for (uint32_t i = node->b; i != TRACE_NO_NODE; i = trace_value_get(s, i)->b) {
		const struct trace_node *item = trace_value_get(s, i);
		if (trace_value_get(s, item->a)->kind != TRACE_UNKNOWN && trace_number(s, item->a) == value) {
			text_bytes(t, item->text.data, item->text.len);
			return;
		}
	}
	trace_value_put_hex(t, value);
}

static void hex_text(const struct trace_source *s, const struct trace_node *node, struct text *t)
{
	struct tally_bytes bytes = trace_bytes(s, node->a);
	uint64_t len = trace_number(s, node->b);
	for (size_t i = 0; i < bytes.len && i < len; i++) {
		if (i > 0 && node->op)
			text_char(t, ' ');
		text_hex(t, bytes.data[i], 2);
	}
}

static void array_text(const struct trace_source *s, const struct trace_node *node, struct text *t)
{
	struct tally_bytes bytes = trace_bytes(s, node->a);
	uint64_t count = trace_number(s, node->b);
	uint64_t size = trace_number(s, node->c);
	text_char(t, '{');
	for (size_t i = 0; size > 0 && size <= 8 && i < count && i < bytes.len / size; i++) {
		if (i > 0)
			text_char(t, ',');
		trace_value_put_hex(t, trace_load(bytes, i * (size_t)size, (uint32_t)size, false, s->context->swap));
	}
	text_char(t, '}');
}

/* Prints 32-bit words in hexadecimal, the last one first. */
static void bitmask_text(const struct trace_source *s, const struct trace_node *node, struct text *t)
{
	struct tally_bytes bytes = trace_field_bytes(field_of(s, node), s->context, s->raw);
	for (size_t i = bytes.len / 4; i-- > 0;) {
		text_hex(t, trace_load(bytes, i * 4, 4, false, s->context->swap), 8);
		if (i > 0)
			text_char(t, ',');
	}
}

static void string_text(struct tally_bytes bytes, struct text *t)
{
	const uint8_t *end = bytes.len > 0 ? memchr(bytes.data, '\0', bytes.len) : NULL;
	text_bytes(t, (const char *)bytes.data, end ? (size_t)(end - bytes.data) : bytes.len);
}

/* Prints the string at a kernel address if it is a format of trace_printk, otherwise the address. */
static void pointer_text(const struct trace_source *s, uint64_t address, struct text *t)
{
	uint64_t format;
	if (s->context->format_ids && map_u64_find(s->context->format_ids, address, &format))
		text_bytes(t, s->context->formats[format].data, s->context->formats[format].len);
	else
		text_hex(t, address, 0);
}

void trace_text(const struct trace_source *s, uint32_t index, struct text *t)
{
	const struct trace_node *node = trace_value_get(s, index);
	switch (node->kind) {
	case TRACE_STRING:
		text_bytes(t, node->text.data, node->text.len);
		return;
	case TRACE_FIELD:
		if (field_of(s, node)->is_array)
			string_text(trace_bytes(s, index), t);
		else
			pointer_text(s, trace_number(s, index), t);
		return;
	case TRACE_DYNAMIC:
		string_text(trace_bytes(s, index), t);
		return;
	case TRACE_BITMASK:
		bitmask_text(s, node, t);
		return;
	case TRACE_CHOICE:
		trace_text(s, trace_number(s, node->a) ? node->b : node->c, t);
		return;
	case TRACE_CAST:
		trace_text(s, node->a, t);
		return;
	case TRACE_FLAGS:
		flags_text(s, node, t);
		return;
	case TRACE_SYMBOLIC:
		symbolic_text(s, node, t);
		return;
	case TRACE_HEX:
		hex_text(s, node, t);
		return;
	case TRACE_ARRAY:
		array_text(s, node, t);
		return;
	case TRACE_UNKNOWN:
	case TRACE_NUMBER:
	case TRACE_DYNAMIC_LENGTH:
	case TRACE_UNARY:
	case TRACE_BINARY:
	case TRACE_INDEX:
	case TRACE_ITEM:
		text_u64(t, trace_number(s, index));
		return;
	}
}
