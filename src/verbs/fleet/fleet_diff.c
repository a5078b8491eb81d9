/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/fleet/fleet_diff.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "tasks/comparing/diff_statistics.h"
#include "tasks/comparing/match_notes.h"
#include "tasks/fleet/fleet_time.h"
#include "tasks/reporting/report_tables.h"
#include "view/data/changes_json.h"
#include "view/text/changes_text.h"

#define FLEET_DIFF_SCHEMA 1 /* The format is described in docs/diff-json.md. */
#define FLEET_DIFF_LEVEL  0.005 /* The default of diff, which docs/diff.md explains. */
#define MIN_SHARE	  0.5

struct fleet_replicate {
	struct tally_str value; /* The value of the label that distinguishes replicates. */
	struct fleet_batch *batch;
	struct flat_table table;
	bool has_table;
};

struct fleet_side {
	struct fleet_question question;
	struct arena *arena; /* Owns the values. */
	VEC(struct tally_str) values;
	bool failed; /* Out of memory. */
};

struct fleet_difference {
	struct fleet_store *store;
	const struct fleet_comparison *comparison;
	struct arena arena; /* Owns strings. */
	struct fleet_side sides[2]; /* The baseline is the first. */
	VEC(struct fleet_replicate) replicates; /* The replicates of the baseline come first. */
	size_t base_count;
	struct tally_str event;
	struct report_plan plan;
	struct name_match match;
};

static struct tally_str replicates_label(const struct fleet_difference *d)
{
	const char *by = d->comparison->settings->by;
	return by ? str_from(by) : STR(FLEET_REPLICATES);
}

static void add_value(void *context, struct tally_str text)
{
	struct fleet_side *side = context;
	char *copy = arena_string(side->arena, text.data, text.len);
	side->failed |= !copy || !vec_push(&side->values, ((struct tally_str){copy, text.len}));
}

/* Makes a query such as (QUERY) and host="VALUE". */
static enum tally_status make_query(struct fleet_difference *d, const struct fleet_question *question,
	struct tally_str value, struct tally_str *query, struct tally_error *err)
{
	struct text out = {0};
	struct tally_str label = replicates_label(d);
	if (question->query.len)
		text_printf(&out, "(%.*s) and ", (int)question->query.len, question->query.data);
	text_bytes(&out, label.data, label.len);
	text_str(&out, "=\"");
	for (size_t i = 0; i < value.len; i++) {
		if (value.data[i] == '"' || value.data[i] == '\\')
			text_char(&out, '\\');
		text_char(&out, value.data[i]);
	}
	text_char(&out, '"');
	char *copy = out.failed ? NULL : arena_string(&d->arena, out.data, out.len);
	*query = (struct tally_str){copy, out.len};
	text_deinit(&out);
	return copy ? TALLY_OK : error_nomem(err);
}

static enum tally_status ask_replicate(
	struct fleet_difference *d, const struct fleet_side *side, struct tally_str value, struct tally_error *err)
{
	struct fleet_replicate replicate = {.value = value};
	struct fleet_question question = side->question;
	enum tally_status status = make_query(d, &side->question, value, &question.query, err);
	if (status == TALLY_OK)
		status = fleet_store_ask(d->store, &question, &replicate.batch, err);
	if (status != TALLY_OK)
		return status;
	if (fleet_batch_sample_count(replicate.batch) == 0) {
		fleet_batch_destroy(replicate.batch);
		return TALLY_OK;
	}
	if (vec_push(&d->replicates, replicate))
		return TALLY_OK;
	fleet_batch_destroy(replicate.batch);
	return error_nomem(err);
}

static enum tally_status ask_side(struct fleet_difference *d, struct fleet_side *side, struct tally_error *err)
{
	static const char *const names[] = {"the baseline", "the query"};
	size_t before = d->replicates.len;
	struct tally_str label = replicates_label(d);
	enum tally_status status = fleet_store_labels(d->store, &side->question, label, add_value, side, err);
	if (status == TALLY_OK && side->failed)
		status = error_nomem(err);
	if (status == TALLY_OK && side->values.len > FLEET_REPLICATES_MAX)
		status = error_set(err, TALLY_LIMIT,
			"%s selects %zu values of the label %.*s, and %d can be compared: narrow it",
			names[side != d->sides], side->values.len, (int)label.len, label.data, FLEET_REPLICATES_MAX);
	for (size_t i = 0; status == TALLY_OK && i < side->values.len; i++)
		status = ask_replicate(d, side, side->values.items[i], err);
	if (status == TALLY_OK && d->replicates.len == before)
		status = error_set(err, TALLY_NOT_FOUND, "no sample of %s has the label %.*s in that time",
			names[side != d->sides], (int)label.len, label.data);
	return status;
}

/* Selects the requested event, or the first event of which the first replicate has samples. */
static enum tally_status choose_compared_event(struct fleet_difference *d, struct tally_error *err)
{
	const struct profile *p = d->replicates.items[0].batch->profile;
	d->event = d->sides[0].question.event;
	for (size_t i = 0; d->event.len == 0 && i < p->event_count; i++)
		if (p->events[i].sample_count > 0)
			d->event = profile_string(p, p->events[i].name);
	return d->event.len ? TALLY_OK : error_set(err, TALLY_NOT_FOUND, "the baseline has no samples");
}

static enum tally_status make_tables(struct fleet_difference *d, struct tally_error *err)
{
	const struct report_source source = {0};
	enum tally_status status = report_plan_make(&d->comparison->settings->report, &source, &d->plan, err);
	if (status == TALLY_OK && d->plan.key_count == 0)
		status = error_set(err, TALLY_INVALID, "-s needs a key such as sym or dso");
	for (size_t i = 0; status == TALLY_OK && i < d->replicates.len; i++) {
		struct fleet_replicate *r = &d->replicates.items[i];
		const struct profile *p = r->batch->profile;
		const struct flat_options options = {
			.keys = d->plan.keys, .key_count = d->plan.key_count, .member_count = 1};
		if (report_plan_facets(&d->plan) & ~p->facets || report_plan_has_key(&d->plan, KEY_CPU))
			return error_set(err, TALLY_UNSUPPORTED, "a key of --sort is not kept by the store");
		for (uint32_t event = 0; event < p->event_count && status == TALLY_OK && !r->has_table; event++) {
			struct flat_options own = options;
			own.first_event = event;
			if (!str_equal(profile_string(p, p->events[event].name), d->event))
				continue;
			status = flat_table_init(&r->table, p, &own, err);
			r->has_table = status == TALLY_OK;
		}
	}
	return status;
}

static void put_side(const struct fleet_difference *d, const struct fleet_side *side, size_t count, struct text *out)
{
	struct tally_str label = replicates_label(d), title = fleet_settings_title(&side->question);
	text_str(out, side == d->sides ? "# Baseline: " : "# New: ");
	text_visible(out, title);
	text_str(out, ", ");
	fleet_time_print(out, side->question.begin_ns);
	text_str(out, " to ");
	fleet_time_print(out, side->question.end_ns);
	text_printf(out, ", %zu of the label %.*s\n", count, (int)label.len, label.data);
}

static void put_json_side(struct json *j, const struct fleet_difference *d, const struct fleet_side *side)
{
	struct text time = {0};
	json_object(j, NULL);
	json_string(j, "side", side == d->sides ? STR("base") : STR("new"));
	json_string(j, "query", side->question.query);
	fleet_time_print(&time, side->question.begin_ns);
	json_string(j, "since", text_view(&time));
	text_clear(&time);
	fleet_time_print(&time, side->question.end_ns);
	json_string(j, "until", text_view(&time));
	json_object_end(j);
	j->out->failed |= time.failed;
	text_deinit(&time);
}

static void put_json_event(struct json *j, const struct fleet_difference *d, const struct diff_table *diff,
	const struct diff_changes *changes)
{
	json_object(j, NULL);
	json_string(j, "name", d->event);
	json_array(j, "totals");
	for (size_t i = 0; i < diff->file_count; i++)
		json_u64(j, NULL, diff->totals[i]);
	json_array_end(j);
	json_string(j, "test", changes->needed ? STR("size") : STR("rank"));
	if (changes->needed)
		json_u64(j, "needed_replicates", changes->needed);
	json_u64(j, "untested_rows", diff->row_count - changes->tested_count);
	json_array(j, "rows");
	for (size_t i = 0; i < changes->tested_count; i++) {
		uint32_t row = changes->order[i];
		json_object(j, NULL);
		changes_json_keys(j, diff, row, d->plan.keys, d->plan.key_count);
		changes_json_values(j, diff, row);
		changes_json_change(j, "change", &changes->rows[row]);
		json_object_end(j);
		text_line_end(j->out);
	}
	json_array_end(j);
	json_object_end(j);
}

static void put_json(const struct fleet_difference *d, const struct diff_table *diff, const struct diff_test *test,
	const struct diff_changes *changes, struct text *out)
{
	struct json j = {.out = out};
	json_object(&j, NULL);
	json_u64(&j, "schema", FLEET_DIFF_SCHEMA);
	json_array(&j, "sides");
	put_json_side(&j, d, &d->sides[0]);
	put_json_side(&j, d, &d->sides[1]);
	json_array_end(&j);
	json_string(&j, "label", replicates_label(d));
	json_array(&j, "replicates");
	for (size_t i = 0; i < d->replicates.len; i++) {
		json_object(&j, NULL);
		json_string(&j, "value", d->replicates.items[i].value);
		json_string(&j, "side", i < d->base_count ? STR("base") : STR("new"));
		json_object_end(&j);
	}
	json_array_end(&j);
	changes_json_test(&j, &(struct changes_json_test){.measure = "share",
				      .correction = "holm",
				      .level = test->level,
				      .confidence = RUN_CONFIDENCE,
				      .min_share = test->min_share});
	json_array(&j, "events");
	put_json_event(&j, d, diff, changes);
	json_array_end(&j);
	match_notes_json(&j, &d->match);
	json_object_end(&j);
	text_char(out, '\n');
}

static enum tally_status put_text(struct fleet_difference *d, const struct diff_table *diff,
	const struct diff_test *test, const struct diff_changes *changes, struct text *out, struct tally_error *err)
{
	const struct diff_text_options look = {.columns = d->plan.keys, .column_count = d->plan.key_count};
	put_side(d, &d->sides[0], d->base_count, out);
	put_side(d, &d->sides[1], test->sides.other, out);
	text_str(out, "# Event: ");
	text_visible(out, d->event);
	text_str(out, "; mean share of each row in the samples of its replicate\n");
	if (changes->needed)
		text_printf(out,
			"# (too few for a rank test, which needs %zu a side: rows that show no change are undecided)\n",
			changes->needed);
	text_printf(out, "# p: %s of %zu rows, Holm's correction, level %g; %zu rows under %g %% are not tested\n#\n",
		changes->needed ? "test by size" : "rank test", changes->tested_count, test->level,
		diff->row_count - changes->tested_count, test->min_share);
	return changes_text_rows(out, diff, changes, &look, err);
}

static enum tally_status put_comparison(
	struct fleet_difference *d, const struct flat_table *const *tables, struct text *out, struct tally_error *err)
{
	struct diff_table diff;
	struct diff_changes changes = {0};
	size_t other_count = d->replicates.len - d->base_count;
	struct diff_test test = {.sides = {.base = d->base_count, .other = other_count},
		.correction = RUN_CORRECT_HOLM,
		.measure = DIFF_SHARES,
		.level = FLEET_DIFF_LEVEL,
		.loosest_level = FLEET_DIFF_LEVEL,
		.min_share = MIN_SHARE};
	const struct diff_options options = {.keys = d->plan.keys, .key_count = d->plan.key_count, .match = &d->match};
	enum tally_status status = diff_table_init(&diff, tables, d->replicates.len, &options, err);
	if (status != TALLY_OK)
		return status;
	const struct diff_amounts amounts = {diff.values, diff.row_count, diff.totals};
	status = diff_statistics(&amounts, &test, &changes, err);
	if (status == TALLY_OK && d->comparison->settings->report.output.is_json)
		put_json(d, &diff, &test, &changes, out);
	else if (status == TALLY_OK)
		status = put_text(d, &diff, &test, &changes, out, err);
	if (status == TALLY_OK) {
		match_notes_add(d->comparison->notes, &d->match);
		if (report_plan_has_key(&d->plan, KEY_SYMBOL) && diff_table_matched_functions(&diff) == 0)
			match_notes_add_none(d->comparison->notes, "the baseline", "the query", NULL);
	}
	diff_changes_deinit(&changes);
	diff_table_deinit(&diff);
	return status;
}

static enum tally_status match_replicates(struct fleet_difference *d, struct tally_error *err)
{
	const struct profile **profiles = calloc(d->replicates.len, sizeof(struct profile *));
	if (!profiles)
		return error_nomem(err);
	for (size_t i = 0; i < d->replicates.len; i++)
		profiles[i] = d->replicates.items[i].batch->profile;
	enum tally_status status = name_match_init(&d->match, profiles, d->replicates.len, err);
	free(profiles);
	return status;
}

static enum tally_status compare_replicates(struct fleet_difference *d, struct text *out, struct tally_error *err)
{
	const struct flat_table **tables = calloc(d->replicates.len, sizeof(struct flat_table *));
	enum tally_status status = tables ? make_tables(d, err) : error_nomem(err);
	for (size_t i = 0; status == TALLY_OK && i < d->replicates.len; i++)
		if (d->replicates.items[i].has_table)
			tables[i] = &d->replicates.items[i].table;
	if (status == TALLY_OK)
		status = match_replicates(d, err);
	if (status == TALLY_OK)
		status = put_comparison(d, tables, out, err);
	free(tables);
	return status;
}

static void fleet_difference_deinit(struct fleet_difference *d)
{
	for (size_t i = 0; i < d->replicates.len; i++) {
		if (d->replicates.items[i].has_table)
			flat_table_deinit(&d->replicates.items[i].table);
		fleet_batch_destroy(d->replicates.items[i].batch);
	}
	name_match_deinit(&d->match);
	vec_free(&d->replicates);
	vec_free(&d->sides[0].values);
	vec_free(&d->sides[1].values);
	arena_deinit(&d->arena);
}

enum tally_status fleet_diff(
	struct fleet_store *store, const struct fleet_comparison *comparison, struct text *out, struct tally_error *err)
{
	struct fleet_difference d = {.store = store,
		.comparison = comparison,
		.sides = {{.question = comparison->base, .arena = &d.arena},
			{.question = comparison->other, .arena = &d.arena}}};
	arena_init(&d.arena);
	enum tally_status status = ask_side(&d, &d.sides[0], err);
	d.base_count = d.replicates.len;
	if (status == TALLY_OK)
		status = ask_side(&d, &d.sides[1], err);
	if (status == TALLY_OK)
		status = choose_compared_event(&d, err);
	if (status == TALLY_OK)
		status = compare_replicates(&d, out, err);
	fleet_difference_deinit(&d);
	return status;
}
