/* SPDX-License-Identifier: Apache-2.0 */
#include "view/data/data_type_json.h"

static void data_type_json_add_values(struct json *j, const struct data_type_table *table, size_t row)
{
	const struct annotate_value *values = &table->values[row * table->event_count];
	json_array(j, "values");
	for (uint32_t e = 0; e < table->event_count; e++) {
		uint64_t whole = table->values[e].period;
		json_object(j, NULL);
		json_u64(j, "samples", values[e].count);
		json_u64(j, "period", values[e].period);
		json_fixed(j, "percent", whole ? 100.0 * (double)values[e].period / (double)whole : 0, 4);
		json_object_end(j);
	}
	json_array_end(j);
}

/* Closes the fields that end before a field of this depth. */
static void end_fields(struct json *j, unsigned open, unsigned depth)
{
	for (; open > depth; open--) {
		json_array_end(j);
		json_object_end(j);
	}
}

void data_type_json(struct json *j, const struct data_type_table *table)
{
	unsigned open = 0; /* Number of open records. */
	for (size_t i = 0; i < table->row_count; i++) {
		const struct data_type_row *row = &table->rows[i];
		end_fields(j, open, row->depth);
		open = row->depth + row->has_fields;
		json_object(j, NULL);
		json_string(j, "name", str_from(i ? row->name : table->name));
		if (i)
			json_string(j, "type", str_from(row->type_name));
		else
			json_string(j, "dso", str_from(table->file));
		json_u64(j, "offset", row->offset);
		json_u64(j, "size", row->size);
		data_type_json_add_values(j, table, i);
		if (row->has_fields)
			json_array(j, "fields");
		else
			json_object_end(j);
		(void)text_line_end(j->out);
	}
	end_fields(j, open, 0);
}
