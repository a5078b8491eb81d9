/* SPDX-License-Identifier: Apache-2.0 */
#include "view/data/changes_json.h"

#include <inttypes.h>
#include <math.h>

#include "profile/rows/row_value.h"

#define CHANGES_JSON_PERCENT 100.0

void changes_json_key_text(struct text *out, const struct diff_table *diff, uint32_t row, enum profile_key key)
{
	const struct diff_row *shown = &diff->rows[row];
	const struct flat_table *table = diff->tables[shown->file];
	const struct flat_row *flat = &table->rows[shown->row];
	struct row_value value = row_value(table, flat, key);
	if (value.text.len)
		text_bytes(out, value.text.data, value.text.len);
	else if (key == KEY_SYMBOL)
		text_printf(out, "0x%" PRIx64, flat->address);
	else if (profile_key_get(key)->form == KEY_FORM_HEX)
		text_printf(out, "0x%" PRIx64, (uint64_t)value.number);
	else if (value.is_unknown)
		text_str(out, "[unknown]");
	else
		text_i64(out, value.number);
}

void changes_json_keys(
	struct json *j, const struct diff_table *diff, uint32_t row, const enum profile_key *keys, size_t count)
{
	struct text cell = {0};
	for (size_t k = 0; k < count; k++) {
		text_clear(&cell);
		changes_json_key_text(&cell, diff, row, keys[k]);
		json_string(j, profile_key_get(keys[k])->name, (struct tally_str){cell.data, cell.len});
	}
	j->out->failed |= cell.failed;
	text_deinit(&cell);
}

void changes_json_values(struct json *j, const struct diff_table *diff, uint32_t row)
{
	json_array(j, "values");
	for (size_t file = 0; file < diff->file_count; file++) {
		const struct diff_value *value = diff_table_value(diff, row, file);
		json_object(j, NULL);
		json_u64(j, "period", value->period);
		json_u64(j, "samples", value->count);
		json_object_end(j);
	}
	json_array_end(j);
}

void changes_json_test(struct json *j, const struct changes_json_test *test)
{
	json_object(j, "test");
	json_string(j, "measure", str_from(test->measure));
	json_string(j, "correction", str_from(test->correction));
	json_fixed(j, "level", test->level, CHANGES_JSON_DECIMALS);
	json_fixed(j, "confidence", test->confidence, 2);
	json_fixed(j, "min_share_percent", test->min_share, 4);
	json_object_end(j);
}

void changes_json_change(struct json *j, const char *name, const struct diff_change *change)
{
	json_object(j, name);
	json_fixed(j, "base_mean", change->base_mean, CHANGES_JSON_DECIMALS);
	json_fixed(j, "new_mean", change->new_mean, CHANGES_JSON_DECIMALS);
	json_fixed(j, "base_share_percent", change->base_share, CHANGES_JSON_DECIMALS);
	json_fixed(j, "new_share_percent", change->new_share, CHANGES_JSON_DECIMALS);
	if (isfinite(change->change))
		json_fixed(j, "change_percent", CHANGES_JSON_PERCENT * change->change, CHANGES_JSON_DECIMALS);
	if (change->has_interval) {
		json_fixed(j, "low_percent", CHANGES_JSON_PERCENT * change->low, CHANGES_JSON_DECIMALS);
		json_fixed(j, "high_percent", CHANGES_JSON_PERCENT * change->high, CHANGES_JSON_DECIMALS);
	}
	json_fixed(j, "p", change->p, 9);
	json_fixed(j, "adjusted_p", change->adjusted_p, 9);
	if (change->noise >= 0)
		json_fixed(j, "noise_percent", CHANGES_JSON_PERCENT * change->noise, CHANGES_JSON_DECIMALS);
	json_string(j, "verdict",
		str_from(change->verdict == DIFF_MORE	     ? "more"
			 : change->verdict == DIFF_LESS	     ? "less"
			 : change->verdict == DIFF_UNDECIDED ? "undecided"
							     : "same"));
	json_object_end(j);
}
