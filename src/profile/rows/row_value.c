/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/rows/row_value.h"

#include "base/array.h"
#include "base/order.h"
#include "profile/flat/facet_keys.h"

/* Returns whether the key's value is a number or text that samples have (profile_facet). Other keys are properties of
 * frames or sums, or belong to branches or memory accesses only. */
static bool is_of_facet(enum profile_key key)
{
	const struct profile_key_info *info = profile_key_get(key);
	if (info->is_value || info->mode != KEY_MODE_ANY)
		return false;
	switch ((int)info->form) {
	case KEY_FORM_NUMBER:
	case KEY_FORM_SUM:
	case KEY_FORM_SOCKET:
	case KEY_FORM_TIME:
	case KEY_FORM_HEX:
	case KEY_FORM_TEXT:
	case KEY_FORM_SIZE:
	case KEY_FORM_COUNT:
	case KEY_FORM_PAGE:
	case KEY_FORM_NOTHING:
	case KEY_FORM_TYPE:
	case KEY_FORM_TYPE_OFFSET:
	case KEY_FORM_TYPE_CACHELINE:
	case KEY_FORM_OFFSET:
		return true;
	default:
		return false;
	}
}

/* Returns whether larger values come first, as in a report. */
static bool is_falling(enum profile_key key)
{
	if (key == KEY_TRANSACTION)
		return true;
	switch ((int)profile_key_get(key)->form) {
	case KEY_FORM_NUMBER:
	case KEY_FORM_SUM:
	case KEY_FORM_TYPE:
	case KEY_FORM_TYPE_OFFSET:
	case KEY_FORM_TYPE_CACHELINE:
		return true;
	default:
		return false;
	}
}

bool row_value_has_key(enum profile_key key)
{
	switch ((int)key) {
	case KEY_PID:
	case KEY_TGID:
	case KEY_COMM:
	case KEY_DSO:
	case KEY_SYMBOL:
	case KEY_CPU:
	case KEY_SRCLINE:
	case KEY_SRCFILE:
	case KEY_SYMBOL_SIZE:
	case KEY_PARENT:
	case KEY_IPC_NULL:
		return true;
	default:
		return is_of_facet(key);
	}
}

static struct row_value of_name(const struct profile *p, uint32_t string)
{
	if (string == PROFILE_NONE)
		return (struct row_value){.text = STR(""), .is_unknown = true};
	return (struct row_value){.text = profile_string(p, string)};
}

static struct row_value of_function(const struct profile *p, uint32_t function)
{
	return of_name(p, function == PROFILE_NONE ? PROFILE_NONE : p->functions[function].name);
}

static struct row_value of_number(int64_t number)
{
	return (struct row_value){.text = STR(""), .number = number};
}

/* A place in a function is its name and the offset in it, because the function may have another address in another
 * build. */
static struct row_value of_offset(const struct profile *p, const struct flat_row *row)
{
	const struct profile_frame *frame = &p->frames[row->frame];
	if (frame->function == PROFILE_NONE)
		return (struct row_value){.text = STR(""), .number = (int64_t)row->address, .is_unknown = true};
	struct row_value value = of_function(p, frame->function);
	value.number = (int64_t)(frame->address - p->functions[frame->function].start);
	return value;
}

/* For data types and transactions the name says everything, but the number orders the rows. */
static struct row_value of_named_number(
	const struct profile *p, enum profile_key key, const struct profile_value *facet)
{
	struct row_value value = of_name(p, facet->text);
	if (key == KEY_TYPE_CACHELINE)
		value.number = (int64_t)facet_type_cacheline(facet->number);
	else if (key != KEY_TYPE)
		value.number = (int64_t)facet->number;
	return value;
}

static struct row_value of_facet(const struct flat_table *table, const struct flat_row *row, enum profile_key key)
{
	const struct profile *p = table->profile;
	if (profile_key_get(key)->form == KEY_FORM_OFFSET)
		return of_offset(p, row);
	if (profile_key_get(key)->form == KEY_FORM_NOTHING)
		return of_number(0);
	const struct profile_value *value = profile_facet(p, row->facets, profile_key_facet(key));
	if (!value)
		return (struct row_value){.text = STR(""), .is_unknown = true};
	if (key == KEY_TRANSACTION || key == KEY_TYPE || key == KEY_TYPE_OFFSET || key == KEY_TYPE_CACHELINE)
		return of_named_number(p, key, value);
	if (profile_key_get(key)->form == KEY_FORM_TEXT)
		return of_name(p, value->text);
	return of_number((int64_t)value->number);
}

struct row_value row_value(const struct flat_table *table, const struct flat_row *row, enum profile_key key)
{
	const struct profile *p = table->profile;
	const struct profile_frame *frame = &p->frames[row->frame];
	const struct profile_thread *thread = &p->threads[row->thread];
	switch ((int)key) {
	case KEY_PID:
		return of_number(thread->tid);
	case KEY_TGID:
		return of_number(thread->pid);
	case KEY_COMM:
		return of_name(p, thread->comm);
	case KEY_DSO:
		return of_name(p, flat_binary_name(p, &table->options, frame->binary));
	case KEY_SYMBOL:
		return of_function(p, frame->function);
	case KEY_CPU:
		return of_number(row->cpu);
	case KEY_SRCLINE:
		return of_name(p, row->place.line);
	case KEY_SRCFILE:
		return of_name(p, row->place.file);
	case KEY_SYMBOL_SIZE:
		return of_number(frame->function == PROFILE_NONE ? 0 : (int64_t)p->functions[frame->function].size);
	case KEY_PARENT:
		return of_function(p, row->parent);
	default:
		return is_of_facet(key) ? of_facet(table, row, key) : of_number(0);
	}
}

static int row_value_compare_numbers(const struct row_value *a, const struct row_value *b)
{
	return COMPARE(a->number, b->number);
}

static int row_value_compare_texts(const struct row_value *a, const struct row_value *b)
{
	size_t shorter = MIN(a->text.len, b->text.len);
	int order = shorter ? memcmp(a->text.data, b->text.data, shorter) : 0;
	return order ? order : COMPARE(a->text.len, b->text.len);
}

int row_value_compare(enum profile_key key, const struct row_value *a, const struct row_value *b)
{
	if (a->is_unknown != b->is_unknown)
		return a->is_unknown ? 1 : -1;
	if (key == KEY_SYMBOL_OFFSET) { /* Offsets in a function are in descending order. */
		int order = row_value_compare_texts(a, b);
		return order ? order : row_value_compare_numbers(b, a);
	}
	bool by_number = key == KEY_TRANSACTION || key == KEY_TYPE_OFFSET;
	int order = by_number ? row_value_compare_numbers(a, b) : row_value_compare_texts(a, b);
	if (order == 0)
		order = by_number ? row_value_compare_texts(a, b) : row_value_compare_numbers(a, b);
	return is_falling(key) ? -order : order;
}

void row_value_append(struct text *bytes, const struct row_value *value)
{
	text_char(bytes, value->is_unknown ? 'u' : 'k');
	text_i64(bytes, value->number);
	text_char(bytes, ' ');
	text_u64(bytes, value->text.len);
	text_char(bytes, ' ');
	text_bytes(bytes, value->text.data, value->text.len);
}
