#include "cli/export_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/stat_replay.h"
#include "cli/stat_values.h"

struct reading {
	struct export_counts_read *counts;
	struct stat_values values;
	size_t event_count;
	enum tally_status status;
	struct tally_error *err;
};

static bool copy_name(struct arena *arena, const char *name, struct tally_str *copy)
{
	char *text = arena_string(arena, name, strlen(name));
	*copy = str_from(text ? text : "");
	return text != NULL;
}

/* The events live as long as their report. */
static enum tally_status keep_events(struct reading *r, const struct stat_report *report)
{
	struct export_counts_read *counts = r->counts;
	if (counts->events)
		return TALLY_OK;
	r->event_count = report->events->len;
	counts->events = arena_array(&counts->names, struct export_count, r->event_count + 1);
	if (!counts->events)
		return error_nomem(r->err);
	for (size_t i = 0; i < r->event_count; i++) {
		struct export_count *event = &counts->events[i];
		event->is_merged = report->events->specs[i].is_merged;
		if (!copy_name(&counts->names, stat_values_name(&r->values, i), &event->name) ||
			!copy_name(&counts->names, stat_values_unit(&r->values, i), &event->unit))
			return error_nomem(r->err);
	}
	return TALLY_OK;
}

static void take_round(void *context, const struct stat_report *report)
{
	struct reading *r = context;
	if (r->status != TALLY_OK)
		return;
	if ((r->values.len + 1) * report->events->len > LIMIT_PAGE_COUNTS) {
		r->counts->view.rounds_left_out++;
		return;
	}
	r->status = stat_values_add(&r->values, report, r->err);
	if (r->status == TALLY_OK)
		r->status = keep_events(r, report);
	const struct export_count_round round = {.end_s = report->interval_s, .elapsed_s = report->wall_ns.mean / 1e9};
	if (r->status == TALLY_OK && !vec_push(&r->counts->rounds, round))
		r->status = error_nomem(r->err);
}

/* Of the columns, those of events, without the times behind them. */
static enum tally_status keep_values(struct reading *r)
{
	struct export_counts_read *counts = r->counts;
	counts->values = calloc(r->values.len * r->event_count + 1, sizeof(*counts->values));
	if (!counts->values)
		return error_nomem(r->err);
	for (size_t round = 0; round < r->values.len; round++)
		memcpy(&counts->values[round * r->event_count], &r->values.rows[round * r->values.columns],
			r->event_count * sizeof(*counts->values));
	for (size_t i = 0; i < r->event_count; i++)
		counts->events[i].least_share = r->values.shares[i];
	counts->view.events = counts->events;
	counts->view.event_count = r->event_count;
	counts->view.rounds = counts->rounds.items;
	counts->view.round_count = counts->rounds.len;
	counts->view.values = counts->values;
	return TALLY_OK;
}

enum tally_status export_counts_read(
	struct export_counts_read *counts, struct perfdata_reader *reader, struct tally_error *err)
{
	struct reading r = {.counts = counts, .err = err};
	const struct stat_replay_request request = {
		.reader = reader, .has_mode = true, .mode = AGGREGATE_ALL, .show = take_round, .context = &r};
	*counts = (struct export_counts_read){0};
	arena_init(&counts->names);
	enum tally_status status = stat_replay(&request, err);
	/* No round of them; or damage, which is told by who reads the samples. */
	if (status == TALLY_NOT_FOUND || status == TALLY_CORRUPT)
		status = TALLY_OK;
	if (status == TALLY_OK)
		status = r.status;
	if (status == TALLY_OK)
		status = keep_values(&r);
	stat_values_deinit(&r.values);
	perfdata_reader_rewind(reader);
	return status;
}

void export_counts_deinit(struct export_counts_read *counts)
{
	vec_free(&counts->rounds);
	free(counts->values);
	arena_deinit(&counts->names);
}
