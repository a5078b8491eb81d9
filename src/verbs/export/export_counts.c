/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/export/export_counts.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "tasks/counts/stat_replay.h"
#include "tasks/counts/stat_rows.h"
#include "tasks/counts/stat_values.h"

struct export_counts_reading {
	struct export_counts_read *counts;
	size_t places;
	/* Values of the events in one place (CPU, socket or thread, depending on the aggregation). */
	double *row, *shares;
	enum tally_status status;
	struct tally_error *err;
};

static bool export_counts_copy_text(struct arena *arena, struct tally_str text, struct tally_str *copy)
{
	char *bytes = arena_string(arena, text.data ? text.data : "", text.len);
	*copy = (struct tally_str){bytes ? bytes : "", bytes ? text.len : 0};
	return bytes != NULL;
}

/* Stores the names of an event's count in one place. The counts of an event in all places are adjacent. */
static bool name_event(struct export_counts_reading *r, const struct stat_report *report, size_t event, size_t place)
{
	const struct stat_values values = {.events = report->events};
	struct export_count *count = &r->counts->events[event * r->places + place];
	struct arena *names = &r->counts->names;
	struct text where = {0};
	stat_rows_place(&where, report, event, place);
	count->is_merged = report->events->specs[event].is_merged;
	count->least_share = 100;
	bool is_done = !where.failed &&
		       export_counts_copy_text(names, (struct tally_str){where.data, where.len}, &count->place) &&
		       export_counts_copy_text(names, str_from(stat_values_name(&values, event)), &count->name) &&
		       export_counts_copy_text(names, str_from(stat_values_unit(&values, event)), &count->unit);
	text_deinit(&where);
	return is_done;
}

/* Makes one count per event and place at the first report; later reports have the same events and places. */
static bool export_counts_begin(struct export_counts_reading *r, const struct stat_report *report)
{
	size_t events = report->events->len;
	if (r->counts->events)
		return true;
	r->places = report->aggregation->len;
	r->row = calloc(events + 1, sizeof(*r->row));
	r->shares = calloc(events + 1, sizeof(*r->shares));
	r->counts->events = arena_array(&r->counts->names, struct export_count, events * r->places + 1);
	if (!r->row || !r->shares || !r->counts->events)
		return false;
	for (size_t event = 0; event < events; event++)
		for (size_t place = 0; place < r->places; place++)
			if (!name_event(r, report, event, place))
				return false;
	r->counts->view.event_count = events * r->places;
	return true;
}

static bool export_counts_add_values(struct export_counts_reading *r, const struct stat_report *report)
{
	struct export_counts_read *counts = r->counts;
	size_t events = report->events->len, begin = counts->values.len;
	if (!vec_reserve(&counts->values, begin + events * r->places))
		return false;
	counts->values.len = begin + events * r->places;
	for (size_t place = 0; place < r->places; place++) {
		for (size_t event = 0; event < events; event++)
			r->shares[event] = 100;
		stat_values_of_place(report, place, r->row, r->shares);
		for (size_t event = 0; event < events; event++) {
			struct export_count *count = &counts->events[event * r->places + place];
			counts->values.items[begin + event * r->places + place] = r->row[event];
			if (r->shares[event] < count->least_share)
				count->least_share = r->shares[event];
		}
	}
	return true;
}

static void export_counts_take_round(void *context, const struct stat_report *report)
{
	struct export_counts_reading *r = context;
	if (r->status != TALLY_OK)
		return;
	size_t columns = report->events->len * report->aggregation->len;
	if ((r->counts->rounds.len + 1) * columns > LIMIT_PAGE_COUNTS) {
		r->counts->view.rounds_left_out++;
		return;
	}
	const struct export_count_round round = {.end_s = report->interval_s, .elapsed_s = report->wall_ns.mean / 1e9};
	if (!export_counts_begin(r, report) || !export_counts_add_values(r, report) ||
		!vec_push(&r->counts->rounds, round))
		r->status = error_nomem(r->err);
}

enum tally_status export_counts_read(
	struct export_counts_read *counts, struct perfdata_reader *reader, struct tally_error *err)
{
	struct export_counts_reading r = {.counts = counts, .err = err};
	const struct stat_replay_request request = {.reader = reader, .show = export_counts_take_round, .context = &r};
	*counts = (struct export_counts_read){0};
	arena_init(&counts->names);
	enum tally_status status = stat_replay(&request, err);
	/* NOT_FOUND means that the recording has no counts. Damage is reported by the code that reads samples. */
	if (status == TALLY_NOT_FOUND || status == TALLY_CORRUPT)
		status = TALLY_OK;
	if (status == TALLY_OK)
		status = r.status;
	counts->view.events = counts->events;
	counts->view.rounds = counts->rounds.items;
	counts->view.round_count = counts->rounds.len;
	counts->view.values = counts->values.items;
	free(r.row);
	free(r.shares);
	perfdata_reader_rewind(reader);
	return status;
}

void export_counts_deinit(struct export_counts_read *counts)
{
	vec_free(&counts->rounds);
	vec_free(&counts->values);
	arena_deinit(&counts->names);
}
