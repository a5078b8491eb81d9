/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/facet_cells.h"

#include "base/array.h"
#include "profile/flat/facet_keys.h"
#include "view/text/origin_text.h"

#define FACET_CELLS_LEVEL_WIDTH	  4 /* The prefix "[k] ". */
#define FACET_CELLS_ADDRESS_WIDTH (2 + REPORT_ADDRESS_DIGITS)
#define TRANSACTION_WIDTH	  32 /* Width for any transaction in perf's report. */
#define NANOSECONDS		  1000000000u
#define TIME_DECIMALS		  6
#define TIME_DECIMALS_NS	  9
#define TIME_WIDTH_NS		  16
/* The prefix "[k] ", which perf subtracts from the width for the digits of an address. */
#define OFFSET_PREFIX_LENGTH 4

static const struct profile_value *facet_cells_value_of(
	const struct report_layout *l, enum profile_key key, const struct flat_row *row)
{
	return profile_facet(l->profile, row->facets, profile_key_facet(key));
}

static const struct profile_function *facet_cells_function_of(
	const struct profile *p, const struct profile_value *value)
{
	if (value->frame == PROFILE_NONE || p->frames[value->frame].function == PROFILE_NONE)
		return NULL;
	return &p->functions[p->frames[value->frame].function];
}

static uint32_t facet_cells_binary_of(const struct profile *p, const struct profile_value *value)
{
	return value->frame == PROFILE_NONE ? PROFILE_NONE : p->frames[value->frame].binary;
}

static struct tally_str object_name(const struct report_layout *l, const struct profile_value *value)
{
	return report_object_name(l, facet_cells_binary_of(l->profile, value));
}

static struct tally_str line_of(const struct profile *p, const struct profile_value *value)
{
	return value->frame == PROFILE_NONE ? STR("") : profile_string(p, p->frames[value->frame].innermost_line.line);
}

static struct tally_str facet_cells_text_of(const struct profile *p, const struct profile_value *value)
{
	return value->text == PROFILE_NONE ? STR("") : profile_string(p, value->text);
}

/* perf fits columns with objects of branches to those that have symbols, and columns with objects of data to all
 * known ones. */
static bool object_counts(const struct report_layout *l, enum profile_key key, const struct profile_value *value)
{
	return key == KEY_DSO_DATA ? facet_cells_binary_of(l->profile, value) != PROFILE_NONE
				   : facet_cells_function_of(l->profile, value) != NULL;
}

/* Returns the width that perf uses: names of data have room for an offset. */
static size_t place_width(const struct report_layout *l, enum profile_key key, const struct profile_value *value)
{
	const struct profile *p = l->profile;
	enum profile_key_form form = (enum profile_key_form)profile_key_get(key)->form;
	const struct profile_function *function = facet_cells_function_of(p, value);
	if (form == KEY_FORM_OBJECT)
		return object_counts(l, key, value) ? text_cells(object_name(l, value)) : REPORT_ADDRESS_DIGITS;
	if (!function)
		return FACET_CELLS_LEVEL_WIDTH + FACET_CELLS_ADDRESS_WIDTH;
	if (form == KEY_FORM_PLACE)
		return 0;
	size_t width = text_cells(profile_string(p, function->name)) + FACET_CELLS_LEVEL_WIDTH + report_origin_width(l);
	if (form == KEY_FORM_DATUM)
		return width + FACET_CELLS_ADDRESS_WIDTH;
	return form == KEY_FORM_CACHELINE ? width + FACET_CELLS_ADDRESS_WIDTH + 1 : width;
}

static size_t facet_cells_field_width(
	const struct report_layout *l, const struct profile_field *field, const struct profile_value *value)
{
	size_t len = text_cells(facet_cells_text_of(l->profile, value));
	len += field->is_dynamic && len > 0;
	return MAX(len, field->width);
}

size_t facet_cell_width(const struct report_layout *l, enum profile_key key, const struct flat_row *row)
{
	const struct profile_value *value = facet_cells_value_of(l, key, row);
	const struct profile_key_info *info = profile_key_get(key);
	size_t width = info->width, cells;
	if (!value)
		return width;
	switch ((int)info->form) {
	case KEY_FORM_TIME:
		return l->options->times_in_ns ? TIME_WIDTH_NS : width;
	case KEY_FORM_TEXT:
		if (key == KEY_TRANSACTION)
			return value->number ? TRANSACTION_WIDTH : width;
		cells = text_cells(facet_cells_text_of(l->profile, value));
		return MAX(cells, width);
	case KEY_FORM_FIELD:
		return facet_cells_field_width(l, &l->profile->fields[key - KEY_FIELD], value);
	case KEY_FORM_OBJECT:
		if (!object_counts(l, key, value) && (l->options->separator || l->options->width_count))
			return width;
		return place_width(l, key, value);
	case KEY_FORM_SYMBOL:
	case KEY_FORM_DATUM:
	case KEY_FORM_PLACE:
	case KEY_FORM_CACHELINE:
		return place_width(l, key, value);
	case KEY_FORM_LINE:
		return text_cells(line_of(l->profile, value));
	case KEY_FORM_TYPE:
	case KEY_FORM_TYPE_OFFSET:
	case KEY_FORM_TYPE_CACHELINE: /* perf's columns are as wide as their headings. */
		return width;
	default:
		return width;
	}
}

static void put_level(struct text *out, uint8_t level)
{
	text_char(out, '[');
	text_char(out, level ? (char)level : 'H');
	text_str(out, "] ");
}

static void facet_cells_put_address(struct text *out, uint64_t address)
{
	text_str(out, address ? "0x" : "");
	text_hex(out, address, REPORT_ADDRESS_DIGITS);
}

static void facet_cells_put_name(
	const struct report_layout *l, struct text *out, const struct profile_function *function, size_t width)
{
	struct tally_str name = profile_string(l->profile, function->name);
	size_t room = width > FACET_CELLS_LEVEL_WIDTH ? width - FACET_CELLS_LEVEL_WIDTH : 0;
	name = text_cells_cut(name, room);
	text_bytes(out, name.data, name.len);
}

static void put_offset(struct text *out, uint64_t offset)
{
	text_str(out, "+0x");
	text_hex(out, offset, 0);
}

/* Prints a symbol. Without one, code is shown by its address in the object, and data by the accessed address. */
static void facet_cells_put_place(const struct report_layout *l, struct text *out, enum profile_key key,
	const struct profile_value *value, const struct flat_row *row, size_t width)
{
	const struct profile *p = l->profile;
	const struct profile_frame *frame = &p->frames[value->frame];
	const struct profile_function *function = facet_cells_function_of(p, value);
	enum profile_key_form form = (enum profile_key_form)profile_key_get(key)->form;
	uint64_t address = form == KEY_FORM_DATUM ? value->number : frame->address;
	report_origin(l, out, frame->binary, address);
	put_level(out, form == KEY_FORM_SYMBOL ? frame->level : row->level);
	if (!function) {
		facet_cells_put_address(out, address);
		return;
	}
	facet_cells_put_name(l, out, function, width > report_origin_width(l) ? width - report_origin_width(l) : 0);
	uint64_t offset = frame->address - function->start;
	if ((form == KEY_FORM_PLACE && offset) || (key == KEY_SYMBOL_DATA && function->is_object))
		put_offset(out, offset);
}

static void put_cacheline(
	const struct report_layout *l, struct text *out, const struct profile_value *value, const struct flat_row *row)
{
	const struct profile_function *function = facet_cells_function_of(l->profile, value);
	uint64_t line = facet_cacheline(l->profile->frames[value->frame].address);
	report_origin(l, out, facet_cells_binary_of(l->profile, value), line);
	put_level(out, facet_cells_binary_of(l->profile, value) == PROFILE_NONE ? 'X' : row->level);
	if (function && (!function->is_object || line >= function->start)) {
		facet_cells_put_name(l, out, function, SIZE_MAX);
		if (function->is_object)
			put_offset(out, line - function->start);
	} else {
		facet_cells_put_address(out, line);
	}
}

static void facet_cells_put_time(const struct report_layout *l, struct text *out, uint64_t time_ns)
{
	unsigned decimals = l->options->times_in_ns ? TIME_DECIMALS_NS : TIME_DECIMALS;
	uint64_t rest = time_ns % NANOSECONDS, unit = NANOSECONDS;
	text_u64(out, time_ns / NANOSECONDS);
	text_char(out, '.');
	for (unsigned i = 0; i < decimals; i++) {
		unit /= 10;
		text_char(out, (char)('0' + rest / unit % 10));
	}
}

static void put_page(struct text *out, uint64_t bytes)
{
	static const char units[] = "BKMG";
	if (bytes == 0) {
		text_str(out, "N/A");
		return;
	}
	size_t unit = 0;
	for (; bytes > 1024 && bytes % 1024 == 0 && unit + 2 < sizeof(units); unit++)
		bytes /= 1024;
	text_u64(out, bytes);
	text_char(out, units[unit]);
}

static void put_symbol_offset(const struct report_layout *l, struct text *out, const struct flat_row *row)
{
	const struct profile_frame *frame = &l->profile->frames[row->frame];
	size_t header = strlen(profile_key_get(KEY_SYMBOL_OFFSET)->header);
	put_level(out, row->level);
	if (frame->function == PROFILE_NONE) {
		text_str(out, "0x");
		text_hex(out, row->address, (unsigned)(header - OFFSET_PREFIX_LENGTH));
		return;
	}
	const struct profile_function *function = &l->profile->functions[frame->function];
	facet_cells_put_name(l, out, function, SIZE_MAX);
	put_offset(out, frame->address - function->start);
}

static void facet_cells_put_number(const struct report_layout *l, struct text *out, enum profile_key key,
	const struct profile_value *value, uint32_t row)
{
	uint64_t samples = 1;
	if (profile_key_get(key)->form == KEY_FORM_SUM) {
		samples = 0;
		for (uint32_t m = 0; m < l->table->options.member_count; m++)
			samples += l->node ? flat_member_stat(l->table, l->node, m)->count
					   : flat_table_stat(l->table, row, m)->count;
	}
	text_u64(out, value->number * samples);
}

static void put_branch_flag(struct text *out, enum profile_key_form form, uint64_t flags)
{
	if (form == KEY_FORM_IN_TX)
		text_char(out, flags & BRANCH_FLAG_IN_TX ? 'T' : '.');
	else if (form == KEY_FORM_ABORT)
		text_char(out, flags & BRANCH_FLAG_ABORT ? 'A' : '.');
	else
		text_str(out, flags & BRANCH_FLAG_PREDICTED ? "N" : flags & BRANCH_FLAG_MISPREDICTED ? "Y" : "N/A");
}

/* Prints the value without cutting or padding it. */
static void facet_cells_put_value(
	const struct report_layout *l, struct text *out, size_t column, const struct flat_row *row)
{
	enum profile_key key = l->columns[column];
	const struct profile_value *value = facet_cells_value_of(l, key, row);
	enum profile_key_form form = (enum profile_key_form)profile_key_get(key)->form;
	if (!value)
		return;
	switch ((int)form) {
	case KEY_FORM_NUMBER:
	case KEY_FORM_SUM:
		facet_cells_put_number(l, out, key, value, (uint32_t)(row - l->table->rows));
		break;
	case KEY_FORM_TIME:
		facet_cells_put_time(l, out, value->number);
		break;
	case KEY_FORM_HEX:
		text_str(out, "0x");
		text_hex(out, value->number, 0);
		break;
	case KEY_FORM_OFFSET:
		put_symbol_offset(l, out, row);
		break;
	case KEY_FORM_PAGE:
		put_page(out, value->number);
		break;
	case KEY_FORM_PHYSICAL:
		put_level(out, row->level);
		facet_cells_put_address(out, value->number);
		break;
	case KEY_FORM_SYMBOL:
	case KEY_FORM_DATUM:
	case KEY_FORM_PLACE:
		facet_cells_put_place(l, out, key, value, row, l->widths[column]);
		break;
	case KEY_FORM_PREDICTED:
	case KEY_FORM_IN_TX:
	case KEY_FORM_ABORT:
		put_branch_flag(out, form, value->number);
		break;
	case KEY_FORM_CYCLES:
		if (value->number)
			text_u64(out, value->number);
		else
			text_char(out, '-');
		break;
	default:
		break;
	}
}

/* Prints the name uncut, although columns of data types are narrower than most names. */
static void put_type(const struct report_layout *l, struct text *out, enum profile_key key,
	const struct profile_value *value, size_t width)
{
	struct tally_str name = facet_cells_text_of(l->profile, value);
	size_t start = out->len;
	text_bytes(out, name.data, name.len);
	if (profile_key_get(key)->form == KEY_FORM_TYPE_CACHELINE) {
		text_str(out, ": cache-line ");
		text_u64(out, facet_type_cacheline(value->number));
	}
	text_pad_from(out, start, width);
}

/* Prints the number of a socket: signed, with leading zeros. */
static void put_socket(struct text *out, uint64_t socket, size_t width)
{
	int digits = width > 3 ? (int)width - 3 : 0;
	text_printf(out, "%*.*d", (int)width, digits, (int)socket);
}

void facet_cell(const struct report_layout *l, struct text *out, size_t column, const struct flat_row *row)
{
	enum profile_key key = l->columns[column];
	const struct profile_value *value = facet_cells_value_of(l, key, row);
	size_t width = l->widths[column], start = out->len;
	struct tally_str text;
	if (!value)
		return;
	switch ((int)profile_key_get(key)->form) {
	case KEY_FORM_TEXT:
		text = facet_cells_text_of(l->profile, value);
		if (key == KEY_TRANSACTION)
			text_str_left(out, text, width);
		else if (key == KEY_BLOCKED || key == KEY_TRACE || key == KEY_CGROUP)
			text = text_cells_cut(text, width), text_bytes(out, text.data, text.len);
		else
			text_str_cut(out, text, width);
		return;
	case KEY_FORM_FIELD:
		text_str_right(out, facet_cells_text_of(l->profile, value), width);
		return;
	case KEY_FORM_TYPE:
	case KEY_FORM_TYPE_OFFSET:
	case KEY_FORM_TYPE_CACHELINE:
		put_type(l, out, key, value, width);
		return;
	case KEY_FORM_OBJECT:
		text_str_cut(out, object_name(l, value), width);
		return;
	case KEY_FORM_LINE:
		text_str_cut(out, line_of(l->profile, value), width);
		return;
	case KEY_FORM_SOCKET:
		put_socket(out, value->number, width);
		return;
	case KEY_FORM_COUNT:
		text_u64_right(out, value->number, width);
		return;
	case KEY_FORM_SIZE:
		/* 0 and a size above INT64_MAX, that of a mapping of all addresses, say nothing of the object. */
		if (value->number && value->number <= INT64_MAX)
			text_u64_right(out, value->number, width);
		else
			text_str_right(out, STR("unknown"), width);
		return;
	case KEY_FORM_CACHELINE:
		put_cacheline(l, out, value, row);
		return;
	default:
		facet_cells_put_value(l, out, column, row);
		break;
	}
	size_t written = out->len - start;
	/* As in perf, neither times, which are cut, nor offsets are padded. */
	if (profile_key_get(key)->form == KEY_FORM_TIME)
		out->len = start + (MIN(written, width));
	else if (profile_key_get(key)->form != KEY_FORM_OFFSET)
		text_pad_from(out, start, width);
}
