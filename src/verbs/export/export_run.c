/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/export/export_run.h"

#include <stdlib.h>

#include "analysis/replay/quality.h"
#include "analysis/wait_events.h"
#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/progress_line.h"
#include "tasks/session/cpu_filter.h"
#include "tasks/session/symbol_notes.h"

static bool has_cgroups(struct perfdata_reader *reader)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++)
		if (events[i].attr.sample_type & SAMPLE_CGROUP)
			return true;
	return false;
}

static enum tally_status export_run_read_profile(const struct export_settings *s, const struct export_wishes *wishes,
	struct export_run *run, struct tally_error *err)
{
	uint64_t facets = wishes->code ? UINT64_C(1) << FACET_PLACE : 0;
	if (wishes->traces && perfdata_reader_features(run->source.reader)->tracing_data.len > 0)
		facets |= UINT64_C(1) << FACET_TRACE;
	if (wait_events_find(run->source.reader, WAITS_APART).wait != WAIT_EVENT_NONE)
		facets |= UINT64_C(1) << FACET_STATE | UINT64_C(1) << FACET_WAKER;
	if (wishes->cgroups && has_cgroups(run->source.reader))
		facets |= UINT64_C(1) << FACET_CGROUP;
	bool with_rows = wishes->rows ||
			 (wishes->dated_rows &&
				 feature_is_present(perfdata_reader_features(run->source.reader), FEATURE_CLOCK_DATA));
	struct replay_options options = {
		.with_threads = wishes->threads || s->samples.filters.pids || s->samples.filters.tids,
		.with_cpu = wishes->rows || run->cpus,
		.with_stacks = true,
		.with_inlines = !s->no_inline,
		.with_exact_frames = wishes->places,
		.with_lines = wishes->places,
		.only_known_lines = true,
		.with_whole_paths = true,
		.with_rows = with_rows,
		.with_build_ids = true,
		.facets = facets,
		.waits = WAITS_IF_WALL,
		.spans = s->samples.times ? &run->spans : NULL,
		.max_stack = (unsigned)s->max_stack,
	};
	return progress_line_replay(run->source.reader, run->source.store, &options, &run->result, err);
}

/* Determines the times of the first and last sample, limited to the interval from the first to the last span of
 * --time. */
static void find_times(const struct export_settings *s, struct export_run *run)
{
	perfdata_reader_rewind(run->source.reader);
	struct time_span whole = time_bounds_read(run->source.reader);
	run->view.first_time = whole.first_ns;
	run->view.last_time = whole.last_ns;
	size_t count = s->samples.times ? run->spans.items.len : 0;
	uint64_t first = UINT64_MAX, last = 0;
	for (size_t i = 0; i < count; i++) {
		first = MIN(run->spans.items.items[i].first_ns, first);
		last = MAX(run->spans.items.items[i].last_ns, last);
	}
	if (count > 0 && first > whole.first_ns)
		run->view.first_time = MIN(first, whole.last_ns);
	if (count > 0 && last < whole.last_ns)
		run->view.last_time = MAX(last, run->view.first_time);
}

/* The events of a pipe are not known in advance, so the event is searched for after reading. */
static enum tally_status export_run_choose_event(
	const struct export_settings *s, struct export_run *run, struct tally_error *err)
{
	const struct profile *p = run->result.profile;
	run->view.event = PROFILE_NONE;
	for (uint32_t i = 0; s->event && i < p->event_count; i++)
		if (str_equal(profile_string(p, p->events[i].name), str_from(s->event)))
			run->view.event = i;
	if (s->event && run->view.event == PROFILE_NONE)
		return error_set(err, TALLY_NOT_FOUND, "no event '%s' in %s: 'tally evlist' lists its events", s->event,
			s->input.path);
	return TALLY_OK;
}

static void export_run_describe(const struct cli *cli, const struct export_settings *s, struct export_run *run)
{
	const struct perfdata_features *f = perfdata_reader_features(run->source.reader);
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(run->source.reader, &count);
	for (size_t i = 0; i < f->cmdline.len; i++) {
		if (i > 0)
			text_char(&run->command, ' ');
		text_bytes(&run->command, f->cmdline.items[i].data, f->cmdline.items[i].len);
	}
	struct quality quality;
	quality_measure(&quality, run->source.reader, &run->result);
	quality_text(&run->quality, &quality);
	const struct perfdata_origin origin = origin_of(f);
	origin_text(&run->origin, &origin);
	run->view.about = (struct export_about){.quality = {run->quality.data, run->quality.len},
		.program = str_from(cli->program),
		.version = str_from(TALLY_VERSION),
		.title = str_from(s->input.path),
		.hostname = f->hostname,
		.os = f->osrelease,
		.arch = f->arch,
		.cpu = f->cpudesc,
		.command = {run->command.data, run->command.len},
		.cpus = f->cpus_online};
	if (origin.kind != ORIGIN_EVENTS)
		run->view.about.origin = (struct export_origin){
			origin_kind_name(origin.kind), origin.by, origin.not_seen, text_view(&run->origin)};
	if (feature_is_present(f, FEATURE_CLOCK_DATA)) {
		run->view.about.has_wall_clock = true;
		run->view.about.wall_clock_offset_ns = (int64_t)(f->wall_clock_ns - f->clockid_time_ns);
	}
	run->view.has_times = count > 0;
	for (size_t i = 0; i < count; i++)
		if (!(events[i].attr.sample_type & SAMPLE_TIME))
			run->view.has_times = false;
}

static enum tally_status export_run_make_view(const struct cli *cli, const struct export_settings *s,
	const struct export_wishes *wishes, struct export_run *run, struct tally_error *err)
{
	enum tally_status status = export_run_choose_event(s, run, err);
	if (status == TALLY_OK)
		status = profile_filter_init(&run->filter, run->result.profile, &s->samples.filters, err);
	if (status != TALLY_OK)
		return status;
	run->has_filter = true;
	run->filter.cpu_passes = run->cpus;
	run->filter.cpu_limit = run->cpus ? LIMIT_CPUS : 0;
	export_run_describe(cli, s, run);
	if (wishes->times && run->view.has_times)
		find_times(s, run);
	run->view.profile = run->result.profile;
	run->view.filter = &run->filter;
	run->view.marks = run->has_marks ? &run->marks.items : NULL;
	run->view.mark_texts = &run->marks.texts;
	run->view.counts = run->has_counts ? &run->counts.view : NULL;
	run->is_ready = true;
	return TALLY_OK;
}

enum tally_status export_run_open(const struct cli *cli, const struct export_settings *s,
	const struct export_wishes *wishes, struct export_run *run, struct tally_error *err)
{
	*run = (struct export_run){0};
	enum tally_status status = s->samples.cpus ? cpu_filter_parse(s->samples.cpus, &run->cpus, err) : TALLY_OK;
	const struct data_input input = {.file = s->input, .symbols = s->symbols};
	if (status == TALLY_OK)
		status = data_source_open_reader(&input, &run->source, err);
	if (status == TALLY_OK)
		status = data_source_open_store(cli, &input, &run->source, err);
	if (status == TALLY_OK && s->samples.times)
		status = time_spans_read(s->samples.times, run->source.reader, &run->spans, err);
	if (status == TALLY_OK && wishes->marks) {
		/* Reading the marks (events other than samples) reads a pipe to its end, so that the formats of
		 * tracepoints are known. */
		run->has_marks = true;
		run->marks.with_switches = wishes->switches;
		run->marks.spans = s->samples.times ? &run->spans : NULL;
		status = export_marks_read(&run->marks, run->source.reader, err);
	}
	if (status == TALLY_OK && wishes->counts && run->marks.has_counts) {
		run->has_counts = true;
		status = export_counts_read(&run->counts, run->source.reader, err);
	}
	if (status == TALLY_OK)
		status = export_run_read_profile(s, wishes, run, err);
	if (status == TALLY_OK)
		symbol_notes_print_doubts(cli, run->source.store);
	if (!run->result.profile)
		return status;
	cli_print_health(cli, &run->result.health);
	cli_note_origin(cli, run->source.reader);
	struct tally_error made_error;
	enum tally_status made = export_run_make_view(cli, s, wishes, run, &made_error);
	if (made == TALLY_OK)
		return status;
	*err = made_error;
	return made;
}

void export_run_close(struct export_run *run)
{
	if (run->has_marks)
		export_marks_deinit(&run->marks);
	if (run->has_counts)
		export_counts_deinit(&run->counts);
	if (run->has_filter)
		profile_filter_deinit(&run->filter);
	replay_result_deinit(&run->result);
	time_spans_deinit(&run->spans);
	data_source_close(&run->source);
	text_deinit(&run->command);
	text_deinit(&run->quality);
	text_deinit(&run->origin);
	free(run->cpus);
}
