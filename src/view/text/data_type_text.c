/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/data_type_text.h"

#include <inttypes.h>

#include "view/text/percent_text.h"

#define RULE_WIDTH	      76
#define NUMBER_WIDTH	      11 /* Width of the columns for offset and size. */
#define DATA_TYPE_TEXT_INDENT 4

static unsigned data_type_text_column_width(const struct annotate_text_options *options)
{
	return options->column == ANNOTATE_PERIOD ? 12 : 8;
}

/* Prints "0x10", but "0" without the prefix. */
static void data_type_text_put_hex(struct text *out, uint64_t number)
{
	unsigned digits = 1;
	for (uint64_t rest = number >> 4; rest; rest >>= 4)
		digits++;
	unsigned used = number ? digits + 2 : digits;
	text_repeat(out, ' ', used < NUMBER_WIDTH ? NUMBER_WIDTH - used : 1);
	text_str(out, number ? "0x" : "");
	text_hex(out, number, 0);
}

static void data_type_text_put_values(
	struct text *out, const struct data_type_table *table, size_t row, const struct annotate_text_options *options)
{
	const struct annotate_value *values = &table->values[row * table->event_count];
	for (uint32_t e = 0; e < table->event_count; e++) {
		bool by_hits = options->percent == ANNOTATE_LOCAL_HITS || options->percent == ANNOTATE_GLOBAL_HITS;
		uint64_t part = by_hits ? values[e].count : values[e].period;
		uint64_t whole = by_hits ? table->values[e].count : table->values[e].period;
		double percent = whole ? 100.0 * (double)part / (double)whole : 0;
		const char *colour = options->with_colours ? percent_colour(percent) : "";
		text_colour(out, colour);
		if (options->column == ANNOTATE_PERCENT)
			text_fixed_right(out, percent, 2, data_type_text_column_width(options));
		else
			text_u64_right(out, options->column == ANNOTATE_PERIOD ? values[e].period : values[e].count,
				data_type_text_column_width(options));
		text_colour(out, *colour ? COLOUR_END : "");
	}
}

/* Closes the records that end before a row of this depth, or with the table. */
static void put_ends(struct text *out, const struct data_type_table *table, unsigned open, unsigned depth,
	const struct annotate_text_options *options)
{
	size_t margin = (size_t)data_type_text_column_width(options) * table->event_count + 2 * NUMBER_WIDTH + 2;
	while (open > depth) {
		open--;
		text_repeat(out, ' ', margin + (size_t)DATA_TYPE_TEXT_INDENT * open);
		text_str(out, "};\n");
	}
}

static void data_type_text_put_head(
	struct text *out, const struct data_type_table *table, const struct annotate_text_options *options)
{
	static const char *const titles[] = {
		[ANNOTATE_PERCENT] = "Percent", [ANNOTATE_SAMPLES] = "Samples", [ANNOTATE_PERIOD] = "Period"};
	text_str(out, "Annotate type: '");
	text_visible(out, str_from(table->name));
	text_str(out, "' in ");
	text_visible(out, str_from(table->file));
	text_printf(out, " (%" PRIu64 " samples):\n", table->sample_count);
	for (uint32_t e = 0; table->event_count > 1 && e < table->event_count; e++) {
		text_printf(out, " event[%u] = ", e);
		text_visible(out, table->events[e]);
		text_char(out, '\n');
	}
	text_repeat(out, '=', RULE_WIDTH);
	text_char(out, '\n');
	text_str_right(out, str_from(titles[options->column]),
		(size_t)data_type_text_column_width(options) * table->event_count);
	text_str_right(out, STR("offset"), NUMBER_WIDTH);
	text_str_right(out, STR("size"), NUMBER_WIDTH);
	text_str(out, "  field\n");
}

void data_type_text(struct text *out, const struct data_type_table *table, const struct annotate_text_options *options)
{
	unsigned open = 0; /* Number of open records. */
	data_type_text_put_head(out, table, options);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct data_type_row *row = &table->rows[i];
		put_ends(out, table, open, row->depth, options);
		open = row->depth + row->has_fields;
		data_type_text_put_values(out, table, i, options);
		data_type_text_put_hex(out, row->offset);
		data_type_text_put_hex(out, row->size);
		text_repeat(out, ' ', 2 + (size_t)DATA_TYPE_TEXT_INDENT * row->depth);
		text_visible(out, str_from(row->type_name));
		text_char(out, '\t');
		text_visible(out, str_from(row->name));
		text_str(out, row->has_fields ? " {\n" : ";\n");
	}
	put_ends(out, table, open, 0, options);
	text_char(out, '\n');
}
