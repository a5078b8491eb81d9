/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/top/top_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "tasks/reporting/report_replay.h"
#include "tasks/reporting/report_selection.h"
#include "tasks/session/symbol_notes.h"

static bool events_have(const struct perfdata_event *events, size_t count, uint64_t sample_type)
{
	for (size_t i = 0; i < count; i++)
		if (events[i].attr.sample_type & sample_type)
			return true;
	return false;
}

static bool top_view_is_dummy(const struct perfdata_event *event)
{
	return event->attr.type == EVENT_SOFTWARE && event->attr.config == SW_DUMMY;
}

static struct report_source top_view_source_of(struct top_view *view)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(view->reader, &count);
	struct report_source source = {.has_chains = events_have(events, count, SAMPLE_CALLCHAIN),
		.is_all_tracepoints = true,
		.has_groups = perfdata_events_have_groups(events, count),
		.fields = &view->fields};
	for (size_t i = 0; i < count; i++)
		source.is_all_tracepoints &= events[i].attr.type == EVENT_TRACEPOINT || top_view_is_dummy(&events[i]);
	return source;
}

static enum tally_status make_replay_options(
	struct top_view *view, struct replay_options *made, struct tally_error *err)
{
	const struct report_request *r = &view->settings->report;
	const struct report_replay wanted = {.plan = &view->plan, .fields = &view->fields, .reader = view->reader};
	const struct switch_names names = {
		r->selection.switch_on, r->selection.switch_off, r->selection.shows_switches};
	*made = report_replay_options(&wanted);
	/* Finding inlined calls would require the debug information of every program that runs. */
	made->with_inlines = false;
	made->max_stack = r->chains.max_stack;
	if (!names.on && !names.off)
		return TALLY_OK;
	made->switches = &view->switches;
	return report_switches_find(&names, view->reader, &view->switches, err);
}

/* Rejects keys that need a whole recording, or records that are not retained between refreshes. */
static enum tally_status check_keys(const struct top_view *view, struct tally_error *err)
{
	const struct {
		enum profile_facet facet;
		const char *name;
	} all[] = {{FACET_NAMESPACE, "cgroup_id"}, {FACET_PARALLELISM, "parallelism"}, {FACET_DATA, "symbol_daddr"}};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (report_plan_facets(&view->plan) >> all[i].facet & 1)
			return error_set(err, TALLY_UNSUPPORTED, "top by %s is not supported yet", all[i].name);
	if (report_plan_facets(&view->plan) >> FACET_CGROUP & 1 && !view->settings->record.fields.cgroups)
		return error_set(err, TALLY_INVALID, "top by cgroup needs --all-cgroups");
	return TALLY_OK;
}

/* Makes one table per event or group. The dummy event, which only records processes, has none. */
static void choose_tables(struct top_view *view)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(view->reader, &count);
	const struct report_tables tables = {.plan = &view->plan, .profile = top_view_profile(view)};
	uint32_t members;
	for (uint32_t i = 0; i < count && view->count < TOP_TABLES_MAX; i += members) {
		members = report_tables_members(&tables, i);
		view->has_group |= members > 1;
		if (!top_view_is_dummy(&events[i]) || members > 1)
			view->first[view->count++] = i;
	}
}

enum tally_status top_view_init(struct top_view *view, const struct cli *cli, struct top_settings *settings,
	struct live_session *session, struct tally_error *err)
{
	struct record record;
	*view = (struct top_view){.cli = cli, .settings = settings, .session = session};
	diag_init(&view->doubts);
	enum tally_status status =
		perfdata_reader_open_beginning(live_session_description(session), &view->reader, err);
	while (status == TALLY_OK)
		status = perfdata_reader_next(view->reader, &record, err);
	if (status != TALLY_END)
		return status;
	report_fields_init(&view->fields, view->reader);
	struct report_source source = top_view_source_of(view);
	status = report_plan_make(&settings->report, &source, &view->plan, err);
	if (status == TALLY_OK)
		status = check_keys(view, err);
	struct replay_options replay;
	if (status == TALLY_OK)
		status = make_replay_options(view, &replay, err);
	const struct binary_store_options store = symbol_options_of(cli, &settings->report.symbols, view->reader);
	if (status == TALLY_OK)
		status = live_session_start(
			session, &(struct live_session_config){.replay = &replay, .store = &store}, err);
	if (status == TALLY_OK)
		status = live_profile_hide(
			live_session_profile(session), settings->hides_kernel, settings->hides_user, err);
	if (status == TALLY_OK)
		choose_tables(view);
	if (status == TALLY_OK && settings->report.groups.sort_is_set && !view->has_group)
		status = error_set(
			err, TALLY_INVALID, "--group-sort-idx needs events in a group; --group makes one of all");
	return status == TALLY_OK ? top_view_renew(view, err) : status;
}

static void drop_filter(struct top_view *view)
{
	if (view->has_filter)
		profile_filter_deinit(&view->filter);
	view->has_filter = false;
}

void top_view_deinit(struct top_view *view)
{
	top_view_stop_annotating(view);
	drop_filter(view);
	diag_deinit(&view->doubts);
	report_fields_deinit(&view->fields);
	if (view->reader)
		perfdata_reader_destroy(view->reader);
}

const struct profile *top_view_profile(const struct top_view *view)
{
	return live_profile_get(live_session_profile(view->session));
}

enum tally_status top_view_renew(struct top_view *view, struct tally_error *err)
{
	const struct profile *p = top_view_profile(view);
	drop_filter(view);
	view->filter = (struct profile_filter){0};
	enum tally_status status = profile_filter_init(&view->filter, p, &view->plan.filters, err);
	view->has_filter = status == TALLY_OK;
	symbol_notes_add_doubts(&view->doubts, live_profile_store(live_session_profile(view->session)));
	return status;
}

const char *top_view_doubt(struct top_view *view)
{
	return view->doubts_told < view->doubts.len ? view->doubts.entries[view->doubts_told++].text : NULL;
}

static enum tally_status top_view_take_recording(
	void *annotate, struct tally_bytes recording, bool fades, struct tally_error *err)
{
	return top_annotate_take(annotate, recording, fades, err);
}

static void top_view_zero_annotation(void *annotate)
{
	top_annotate_zero(annotate);
}

enum tally_status top_view_annotate(struct top_view *view, struct top_annotate **annotate, struct tally_error *err)
{
	const struct top_annotate_config config = {view->cli, &view->settings->report.symbols};
	enum tally_status status = TALLY_OK;
	if (!view->annotate) {
		status = top_annotate_create(&config, &view->annotate, err);
		const struct live_watcher watcher = {top_view_take_recording, top_view_zero_annotation, view->annotate};
		if (status == TALLY_OK) {
			live_session_watch(view->session, &watcher);
			status = top_annotate_take(view->annotate,
				live_profile_recording(live_session_profile(view->session)), false, err);
		}
	}
	*annotate = view->annotate;
	return status;
}

void top_view_stop_annotating(struct top_view *view)
{
	if (view->annotate)
		live_session_watch(view->session, NULL);
	top_annotate_destroy(view->annotate);
	view->annotate = NULL;
}

static uint64_t row_samples(const struct flat_table *table, uint32_t row)
{
	uint64_t sum = 0;
	for (uint32_t m = 0; m < table->options.member_count; m++)
		sum += flat_table_stat(table, row, m)->count;
	return sum;
}

enum tally_status top_view_table(
	const struct top_view *view, uint32_t index, struct flat_table *table, struct tally_error *err)
{
	const struct report_tables tables = {
		.plan = &view->plan, .profile = top_view_profile(view), .filter = &view->filter};
	uint32_t first = view->first[index];
	enum tally_status status =
		report_tables_make(&tables, first, report_tables_members(&tables, first), table, err);
	size_t kept = 0;

	if (status != TALLY_OK || view->settings->count_filter == 0)
		return status;
	for (size_t i = 0; i < table->shown_count; i++)
		if (row_samples(table, table->order[i]) >= view->settings->count_filter)
			table->order[kept++] = table->order[i];
	table->shown_count = kept;
	return TALLY_OK;
}

static void top_view_put_target(const struct top_view *view, struct text *out)
{
	const struct target_request *q = &view->settings->record.target;
	const struct target *target = live_session_target(view->session);
	if (q->pids)
		text_printf(out, "target_pid: %s", q->pids);
	else if (q->tids)
		text_printf(out, "target_tid: %s", q->tids);
	else if (q->user)
		text_printf(out, "uid: %s", q->user);
	else if (q->cpus)
		text_printf(out, "all, CPU%s: %s", target->measured_count > 1 ? "s" : "", q->cpus);
	else
		text_printf(out, "all, %zu CPU%s", target->measured_count, target->measured_count > 1 ? "s" : "");
}

void top_view_header(const struct top_view *view, struct text *out)
{
	const struct live_figures f = live_session_figures(view->session);
	const struct live_profile_figures *r = &f.records;
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(view->reader, &count);
	double all = r->samples ? (double)r->samples : 1;
	text_printf(out,
		"PerfTop:%8.0f irqs/sec  kernel:%4.1f%%  exact: %4.1f%% lost: %" PRIu64 "/%" PRIu64 " drop: 0/0 [",
		f.seconds > 0 ? (double)r->samples / f.seconds : 0, 100 * (double)r->kernel_samples / all,
		100 * (double)r->exact_samples / all, r->lost, f.lost_in_all);
	if (view->count == 1) {
		/* The frequency or period of the only event, such as "4000Hz " or "100000 ", precedes its name. */
		const struct perf_attr *attr = &events[view->first[0]].attr;
		text_printf(out, "%" PRIu64 "%s ", attr->sample_period_or_freq, ATTR_HAS(attr, FREQ) ? "Hz" : "");
	}
	for (uint32_t i = 0; i < view->count; i++)
		text_printf(out, "%s%.*s", i ? ", " : "", (int)events[view->first[i]].name.len,
			events[view->first[i]].name.data);
	text_str(out, "],  (");
	top_view_put_target(view, out);
	text_printf(out, "), own CPU %.1f%%", 100 * f.own_cpu);
}

static void put_short_count(uint64_t count, struct text *out)
{
	if (count > 10 * UINT64_C(1000000))
		text_printf(out, "%" PRIu64 "M", count / 1000000);
	else if (count > 10000)
		text_printf(out, "%" PRIu64 "K", count / 1000);
	else
		text_printf(out, "%" PRIu64, count);
}

void top_view_title(const struct top_view *view, uint32_t index, struct text *out)
{
	const struct profile *p = top_view_profile(view);
	const struct live_figures f = live_session_figures(view->session);
	const struct report_tables tables = {.plan = &view->plan, .profile = p};
	uint32_t first = view->first[index], members = report_tables_members(&tables, first);
	size_t count;
	const struct perfdata_event *event = &perfdata_reader_events(view->reader, &count)[first];
	uint64_t samples = 0, period = 0;
	for (uint32_t m = 0; m < members; m++) {
		samples += p->events[first + m].sample_count;
		period += p->events[first + m].total_period;
	}
	text_str(out, "Samples: ");
	put_short_count(samples, out);
	text_printf(out, " of event%s '", members > 1 ? "s" : "");
	for (uint32_t m = 0; m < members; m++) {
		struct tally_str name = profile_string(p, p->events[first + m].name);
		text_printf(out, "%s%.*s", m ? ", " : "", (int)name.len, name.data);
	}
	text_printf(out, "', %" PRIu64 "%s, %.0f/s, lost: %" PRIu64 "/%" PRIu64 ", own CPU %.1f%%, events: %" PRIu64,
		event->attr.sample_period_or_freq, ATTR_HAS(&event->attr, FREQ) ? " Hz" : " a sample",
		f.seconds > 0 ? (double)f.records.samples / f.seconds : 0, f.records.lost, f.lost_in_all,
		100 * f.own_cpu, period);
}
