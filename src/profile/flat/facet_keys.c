/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/facet_keys.h"

#include "base/order.h"

#define CACHELINE_BYTES 64u
#define MEMORY_BITS	33 /* Number of bits of the values of FACET_DATA_MEMORY. */

uint64_t facet_cacheline(uint64_t address)
{
	return address & ~(uint64_t)(CACHELINE_BYTES - 1);
}

uint64_t facet_type_cacheline(uint64_t offset)
{
	return offset / CACHELINE_BYTES;
}

static uint32_t frame_function(const struct profile *p, const struct profile_value *value)
{
	return value->frame == PROFILE_NONE ? PROFILE_NONE : p->frames[value->frame].function;
}

static uint32_t frame_binary(const struct profile *p, const struct profile_value *value)
{
	return value->frame == PROFILE_NONE ? PROFILE_NONE : p->frames[value->frame].binary;
}

static uint64_t frame_address(const struct profile *p, const struct profile_value *value)
{
	return value->frame == PROFILE_NONE ? value->number : p->frames[value->frame].address;
}

static uint32_t binary_name(const struct flat_table *table, const struct profile_value *value)
{
	return flat_binary_name(table->profile, &table->options, frame_binary(table->profile, value));
}

static uint64_t facet_keys_branch_flags(enum profile_key_form form, uint64_t flags)
{
	if (form == KEY_FORM_PREDICTED)
		return flags & (BRANCH_FLAG_MISPREDICTED | BRANCH_FLAG_PREDICTED);
	return flags & (form == KEY_FORM_IN_TX ? BRANCH_FLAG_IN_TX : BRANCH_FLAG_ABORT);
}

/* Returns an identifier of the memory that contains the cache line; rows are ordered by it. Lines of the kernel are
 * distinguished by binary, others by their FACET_DATA_MEMORY. */
static uint64_t line_memory(const struct profile *p, const struct profile_value *value)
{
	uint32_t level = p->frames[value->frame].level;
	uint64_t kind = level == PROFILE_LEVEL_KERNEL ? 0 : level == PROFILE_LEVEL_USER ? 1 : level;
	if (frame_binary(p, value) == PROFILE_NONE)
		return (kind << 1 | 1) << MEMORY_BITS;
	return kind << (MEMORY_BITS + 1) | (kind == 0 ? frame_binary(p, value) : value->number);
}

void facet_key_words(const struct flat_table *table, enum profile_key key, const struct profile_value *value,
	uint64_t words[FACET_KEY_WORDS])
{
	const struct profile *p = table->profile;
	enum profile_key_form form = (enum profile_key_form)profile_key_get(key)->form;
	words[0] = words[1] = 0;
	if (!value)
		return;
	switch ((int)form) {
	case KEY_FORM_TEXT:
	case KEY_FORM_FIELD:
	case KEY_FORM_TYPE:
	case KEY_FORM_TYPE_OFFSET:
		words[0] = value->text;
		break;
	case KEY_FORM_TYPE_CACHELINE:
		words[0] = value->text;
		words[1] = facet_type_cacheline(value->number);
		break;
	case KEY_FORM_OBJECT:
		words[0] = binary_name(table, value);
		break;
	case KEY_FORM_SYMBOL:
		words[1] = frame_function(p, value) != PROFILE_NONE;
		words[0] = words[1] ? frame_function(p, value) : value->number;
		break;
	case KEY_FORM_OFFSET:
		words[0] = value->number;
		words[1] = frame_binary(p, value);
		break;
	case KEY_FORM_PLACE:
		words[0] = frame_address(p, value);
		words[1] = frame_binary(p, value);
		break;
	case KEY_FORM_LINE:
		words[0] = value->frame == PROFILE_NONE ? 0 : p->frames[value->frame].innermost_line.line;
		break;
	case KEY_FORM_CACHELINE:
		words[0] = facet_cacheline(frame_address(p, value));
		words[1] = line_memory(p, value);
		break;
	case KEY_FORM_PREDICTED:
	case KEY_FORM_IN_TX:
	case KEY_FORM_ABORT:
		words[0] = facet_keys_branch_flags(form, value->number);
		break;
	case KEY_FORM_NOTHING:
		break;
	default:
		words[0] = value->number;
		break;
	}
}

static int facet_keys_ascending(uint64_t a, uint64_t b)
{
	return COMPARE(a, b);
}

static int signed_ascending(uint64_t a, uint64_t b)
{
	return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
}

static int facet_keys_compare_texts(uint32_t a, uint32_t b, const uint32_t *ranks)
{
	if (a == PROFILE_NONE || b == PROFILE_NONE)
		return (a == PROFILE_NONE) - (b == PROFILE_NONE);
	return facet_keys_ascending(ranks[a], ranks[b]);
}

/* Objects of branches and data are in descending order, unknown ones first, as in perf. */
static int compare_objects(const struct flat_table *table, const struct profile_value *a, const struct profile_value *b,
	const uint32_t *ranks)
{
	return -facet_keys_compare_texts(binary_name(table, a), binary_name(table, b), ranks);
}

static int compare_symbols(const struct profile *p, const struct profile_value *a, const struct profile_value *b)
{
	uint32_t fa = frame_function(p, a), fb = frame_function(p, b);
	if (fa == PROFILE_NONE && fb == PROFILE_NONE)
		return signed_ascending(a->number, b->number);
	if (fa == PROFILE_NONE || fb == PROFILE_NONE)
		return (fa == PROFILE_NONE) - (fb == PROFILE_NONE);
	return facet_keys_ascending(p->functions[fa].start, p->functions[fb].start);
}

/* By name, and within a function by descending offset; frames without a name come last. */
static int compare_offsets(
	const struct profile *p, const struct profile_value *a, const struct profile_value *b, const uint32_t *ranks)
{
	uint32_t fa = frame_function(p, a), fb = frame_function(p, b);
	int order = facet_keys_compare_texts(fa == PROFILE_NONE ? PROFILE_NONE : p->functions[fa].name,
		fb == PROFILE_NONE ? PROFILE_NONE : p->functions[fb].name, ranks);
	return order ? order : signed_ascending(b->number, a->number);
}

/* Cache lines in binaries of the kernel are ordered by address alone, regardless of the binary. */
static int facet_keys_compare_lines(
	const struct profile *p, const struct profile_value *a, const struct profile_value *b)
{
	uint64_t of_a = line_memory(p, a), of_b = line_memory(p, b);
	if (of_a >> MEMORY_BITS || of_b >> MEMORY_BITS) {
		int order = facet_keys_ascending(of_a, of_b);
		if (order)
			return order;
	}
	return facet_keys_ascending(facet_cacheline(frame_address(p, a)), facet_cacheline(frame_address(p, b)));
}

int facet_key_compare(const struct flat_table *table, enum profile_key key, const struct profile_value *a,
	const struct profile_value *b, const uint32_t *ranks)
{
	const struct profile *p = table->profile;
	if (!a || !b)
		return 0;
	int order;
	switch ((int)profile_key_get(key)->form) {
	case KEY_FORM_NUMBER:
	case KEY_FORM_SUM:
	case KEY_FORM_CYCLES:
		return facet_keys_ascending(b->number, a->number);
	case KEY_FORM_OFFSET:
		return compare_offsets(p, a, b, ranks);
	case KEY_FORM_SOCKET:
	case KEY_FORM_HEX:
	case KEY_FORM_DATUM:
		return signed_ascending(a->number, b->number);
	case KEY_FORM_TEXT:
		if (key == KEY_TRANSACTION)
			return facet_keys_ascending(b->number, a->number);
		/* Of memory accesses only the low 32 bits of data_src are compared, which all kernels fill. */
		if (profile_key_get(key)->mode == KEY_MODE_MEMORY && key != KEY_BLOCKED)
			return facet_keys_ascending((uint32_t)a->number, (uint32_t)b->number);
		order = facet_keys_ascending(a->number, b->number);
		return order ? order : facet_keys_compare_texts(a->text, b->text, ranks);
	case KEY_FORM_FIELD:
		order = facet_keys_ascending(b->number, a->number);
		return order ? order : facet_keys_compare_texts(b->text, a->text, ranks);
	case KEY_FORM_TYPE:
		return facet_keys_compare_texts(b->text, a->text, ranks);
	case KEY_FORM_TYPE_CACHELINE:
		order = facet_keys_compare_texts(b->text, a->text, ranks);
		return order ? order
			     : facet_keys_ascending(facet_type_cacheline(b->number), facet_type_cacheline(a->number));
	case KEY_FORM_TYPE_OFFSET:
		order = facet_keys_ascending(b->number, a->number);
		return order ? order : facet_keys_compare_texts(b->text, a->text, ranks);
	case KEY_FORM_OBJECT:
		return compare_objects(table, a, b, ranks);
	case KEY_FORM_SYMBOL:
		return compare_symbols(p, a, b);
	case KEY_FORM_PLACE:
		order = compare_objects(table, a, b, ranks);
		return order ? order : signed_ascending(frame_address(p, a), frame_address(p, b));
	case KEY_FORM_LINE:
		return facet_keys_compare_texts(
			p->frames[a->frame].innermost_line.line, p->frames[b->frame].innermost_line.line, ranks);
	case KEY_FORM_CACHELINE:
		return facet_keys_compare_lines(p, a, b);
	case KEY_FORM_PREDICTED:
	case KEY_FORM_IN_TX:
	case KEY_FORM_ABORT:
		return facet_keys_ascending(
			facet_keys_branch_flags((enum profile_key_form)profile_key_get(key)->form, b->number),
			facet_keys_branch_flags((enum profile_key_form)profile_key_get(key)->form, a->number));
	default:
		return facet_keys_ascending(a->number, b->number);
	}
}
