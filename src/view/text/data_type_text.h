/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_type_text.h - prints a data type with the samples of each of its fields, in the layout of `perf annotate
 * --data-type`.
 *
 * Appends to a text that the caller owns and flushes. It borrows the table. The values of a row are values[row *
 * event_count + event]; the first row is the type itself.
 *
 *	data_type_text(&out, &table, &options);
 */
#ifndef VIEW_TEXT_DATA_TYPE_TEXT_H
#define VIEW_TEXT_DATA_TYPE_TEXT_H

#include "view/text/annotate_lines.h"

struct data_type_row {
	unsigned depth;
	const char *type_name, *name;
	uint64_t offset, size;
	bool has_fields; /* The next rows, which are one level deeper, are its fields. */
};

struct data_type_table {
	const char *name, *file;
	uint64_t sample_count;
	const struct tally_str *events; /* Names of events. */
	uint32_t event_count;
	const struct data_type_row *rows;
	size_t row_count;
	const struct annotate_value *values;
};

void data_type_text(struct text *out, const struct data_type_table *table, const struct annotate_text_options *options);

#endif
