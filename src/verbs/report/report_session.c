/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/report/report_session.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/stack_survey.h"
#include "analysis/stock_perf.h"
#include "base/error.h"
#include "base/limits.h"
#include "tasks/header/header_text.h"
#include "tasks/health/health_report.h"
#include "tasks/reporting/report_annotate.h"
#include "tasks/reporting/report_replay.h"

struct explored {
	struct report_session *session;
	uint32_t *first; /* Index of the first event of each table. */
	struct report_annotate annotate;
	char *sort; /* The sort keys that the user entered last; NULL if there are none. */
	/* The previous profile, machine and sort keys, which tables that are still open refer to. They are freed
	 * when the first of the next tables is made. */
	struct profile *old_profile;
	struct machine *old_machine;
	char *old_sort;
};

static struct report_tables report_session_tables_of(const struct report_session *s)
{
	return (struct report_tables){s->plan, s->result->profile, s->filter, s->cpus};
}

static void forget_old(struct explored *x)
{
	profile_destroy(x->old_profile);
	machine_destroy(x->old_machine);
	free(x->old_sort);
	x->old_profile = NULL;
	x->old_machine = NULL;
	x->old_sort = NULL;
}

static enum tally_status open_table(void *data, uint32_t index, struct explore_table *table, struct tally_error *err)
{
	struct explored *x = data;
	struct report_session *s = x->session;
	forget_old(x);
	uint32_t first = x->first[index];
	struct report_tables tables = report_session_tables_of(s);
	struct explore_table made = {.options = report_tables_options(s->plan)};
	enum tally_status status =
		report_tables_make(&tables, first, report_tables_members(&tables, first), &made.table, err);
	if (status != TALLY_OK)
		return status;
	s->print_title(s->report, &made.table, &made.title);
	text_char(&made.title, 0);
	if (made.title.failed) {
		flat_table_deinit(&made.table);
		text_deinit(&made.title);
		return error_nomem(err);
	}
	*table = made;
	return TALLY_OK;
}

static enum tally_status report_session_annotate(
	void *data, const struct explore_symbol *symbol, bool *leaves, struct tally_error *err)
{
	struct explored *x = data;
	return report_annotate_show(&x->annotate, symbol, leaves, err);
}

static enum tally_status report_session_tree(
	void *data, uint32_t index, bool is_reversed, struct flame_tree *made, struct tally_error *err)
{
	struct explored *x = data;
	const struct report_session *s = x->session;
	struct flame_options options = {.event = x->first[index],
		.group = is_reversed ? FLAME_BY_NOTHING : FLAME_BY_COMM,
		.is_reversed = is_reversed,
		.by_state = true,
		.filter = s->filter,
		.cpu_passes = s->cpus,
		.cpu_limit = s->cpus ? LIMIT_CPUS : 0};
	return flame_tree_init(made, s->result->profile, &options, err);
}

static enum tally_status report_session_levels(
	void *data, const struct flat_table *table, struct flame_tree *made, struct tally_error *err)
{
	const struct explored *x = data;
	return report_levels_init(made, x->session->plan, table, err);
}

static enum tally_status print_health(const struct report_session *s, struct text *out, struct tally_error *err)
{
	struct recording_health health;
	char room[128];
	perfdata_reader_rewind(s->reader);
	enum tally_status status = recording_health_read(s->reader, &health, err);
	if (status != TALLY_OK)
		return status;
	struct health_source source = {.path = s->path, .reader = s->reader, .health = &health};
	struct stack_ends ends;
	if (stack_survey_has_stacks(s->reader) && stack_survey_read(s->reader, s->store, &ends, NULL) == TALLY_OK)
		source.ends = &ends;
	source.refusal = stock_perf_refusal(s->reader, &health, room, sizeof(room));
	health_text(out, &source);
	recording_health_deinit(&health);
	return TALLY_OK;
}

static enum tally_status report_session_page(
	void *data, enum explore_page kind, struct text *out, struct tally_error *err)
{
	struct explored *x = data;
	enum tally_status status = TALLY_OK;
	if (kind == EXPLORE_HEADER)
		header_text(out, x->session->reader, true);
	else
		status = print_health(x->session, out, err);
	return status == TALLY_OK && out->failed ? error_nomem(err) : status;
}

static enum tally_status report_session_read_again(struct explored *x, struct tally_error *err)
{
	struct report_session *s = x->session;
	struct report_replay wanted = {.plan = s->plan, .fields = s->fields, .reader = s->reader};
	struct replay_result fresh = {0};
	struct profile_filter filter = {0};
	perfdata_reader_rewind(s->reader);
	enum tally_status status = report_replay_run(&wanted, s->store, &fresh, err);
	/* A truncated recording yields a profile of what precedes the damage, as in the first read. */
	if (!fresh.profile)
		return status == TALLY_OK ? error_nomem(err) : status;
	status = profile_filter_init(&filter, fresh.profile, &s->plan->filters, err);
	if (status != TALLY_OK) {
		replay_result_deinit(&fresh);
		return status;
	}
	filter.cpu_passes = s->filter->cpu_passes;
	filter.cpu_limit = s->filter->cpu_limit;
	profile_filter_deinit(s->filter);
	*s->filter = filter;
	x->old_profile = s->result->profile;
	x->old_machine = s->result->machine;
	s->result->profile = fresh.profile;
	s->result->machine = fresh.machine;
	fresh.profile = NULL;
	fresh.machine = NULL;
	replay_result_deinit(&fresh);
	return TALLY_OK;
}

static enum tally_status report_session_sort(void *data, const char *keys, struct tally_error *err)
{
	struct explored *x = data;
	struct report_session *s = x->session;
	const struct report_rows before = s->request->rows;
	struct report_replay wanted = {.plan = s->plan, .fields = s->fields, .reader = s->reader};
	struct replay_options have = report_replay_options(&wanted);
	char *typed = strdup(keys);
	if (!typed)
		return error_nomem(err);
	s->request->rows.sort = typed;
	s->request->rows.fields = NULL;
	enum tally_status status = report_plan_make(s->request, &s->source, s->plan, err);
	if (status == TALLY_OK) {
		struct replay_options want = report_replay_options(&wanted);
		if (!report_replay_covers(&have, &want))
			status = report_session_read_again(x, err);
	}
	if (status != TALLY_OK) {
		s->request->rows = before;
		free(typed);
		return status;
	}
	x->old_sort = x->sort;
	x->sort = typed;
	return TALLY_OK;
}

/* Runs the session on the events and groups that have samples. */
enum tally_status report_session_run(struct report_session *session, struct tally_error *err)
{
	const struct profile *p = session->result->profile;
	struct report_tables tables = report_session_tables_of(session);
	struct explored x = {.session = session,
		.first = calloc(p->event_count + 1, sizeof(uint32_t)),
		.annotate = {.cli = session->cli,
			.plan = session->plan,
			.is_stream = perfdata_reader_is_pipe(session->reader)}};
	struct explore_source source = {.data = &x,
		.begun = session->begun,
		.open = open_table,
		.annotate = report_session_annotate,
		.tree = report_session_tree,
		.levels = session->request->rows.is_hierarchy ? report_session_levels : NULL,
		.page = report_session_page,
		.sort = report_session_sort};
	if (!x.first)
		return error_nomem(err);
	for (uint32_t event = report_tables_find(&tables, 0); event < p->event_count;) {
		x.first[source.count++] = event;
		event = report_tables_find(&tables, event + report_tables_members(&tables, event));
	}
	const char *sort_before = session->request->rows.sort;
	enum tally_status status = report_explore(&source, err);
	report_annotate_deinit(&x.annotate);
	forget_old(&x);
	session->request->rows.sort = sort_before;
	free(x.sort);
	free(x.first);
	return status;
}
