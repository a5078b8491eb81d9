/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_replay.h"

#include "analysis/wait_events.h"
#include "base/error.h"
#include "cli/progress_line.h"
#include "tasks/reporting/report_selection.h"

static bool report_replay_requires(const struct report_request *r, enum quality_value value)
{
	for (size_t i = 0; i < r->requirements.count; i++) {
		if (r->requirements.items[i].value == value)
			return true;
	}
	return false;
}

static bool has_call_stacks(const struct perfdata_reader *reader)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++)
		if (events[i].attr.branch_sample_type & BRANCH_CALL_STACK)
			return true;
	return false;
}

uint64_t report_lbr_registers(const struct perfdata_reader *reader)
{
	const struct perfdata_pmu_caps *caps = &perfdata_reader_features(reader)->cpu_caps;
	uint64_t number;
	for (size_t i = 0; has_call_stacks(reader) && i < caps->len; i++)
		if (str_equal(caps->items[i].name, STR("branches")) && str_to_u64(caps->items[i].value, 10, &number))
			return number;
	return 0;
}

/* Returns how waits count. They count as samples of the clock event, so that times on and off the CPU add up, if --wall
 * or a sort key about waits asks for it; by default, if the recording was made with --wall. */
static enum replay_waits report_replay_waits(const struct report_plan *p)
{
	uint64_t wait_facets = UINT64_C(1) << FACET_STATE | UINT64_C(1) << FACET_WAKER;
	if (p->request->rows.wall == WALL_NEVER || p->request->rows.wakers)
		return WAITS_APART;
	return p->request->rows.wall == WALL_ALWAYS || (report_plan_facets(p) & wait_facets) ? WAITS_JOINED
											     : WAITS_IF_WALL;
}

struct replay_options report_replay_options(const struct report_replay *wanted)
{
	const struct report_plan *p = wanted->plan;
	const struct report_request *r = p->request;
	return (struct replay_options){
		.with_threads = p->filters.pids || p->filters.tids || report_plan_has_key(p, KEY_PID) ||
				report_plan_has_key(p, KEY_TGID),
		.with_cpu = r->samples.cpus || r->selection.has_socket || report_plan_has_key(p, KEY_CPU),
		.history = !p->with_history	? HISTORY_NONE
			   : p->is_caller_first ? HISTORY_OLDEST_FIRST
						: HISTORY_NEWEST_FIRST,
		.max_history = r->chains.max_stack,
		.stitched_registers = r->chains.stitches ? report_lbr_registers(wanted->reader) : 0,
		.with_stacks = p->with_chains || r->rows.wakers || p->filters.no_idle || p->with_history ||
			       p->with_children || p->filters.parent || p->filters.ignored_callees ||
			       report_replay_requires(r, QUALITY_COMPLETE),
		.with_inlines = !r->rows.no_inline && !wanted->without_inlines,
		.self_is_inlined = r->rows.self_is_inlined && !wanted->without_inlines,
		.without_names = wanted->without_names,
		.max_bytes = wanted->max_bytes,
		.with_lines = report_plan_has_key(p, KEY_SRCLINE) || report_plan_has_key(p, KEY_SRCFILE) ||
			      report_plan_has_form(p, KEY_FORM_LINE) ||
			      (p->with_chains && (p->is_by_address || p->is_by_line)),
		.with_whole_paths = r->rows.full_source_path,
		.with_addresses = p->is_by_address || (r->is_verbose && p->with_children),
		.with_exact_frames = report_plan_has_form(p, KEY_FORM_DATUM) ||
				     report_plan_has_form(p, KEY_FORM_PLACE) ||
				     report_plan_has_form(p, KEY_FORM_CACHELINE) ||
				     report_plan_has_form(p, KEY_FORM_OFFSET) || r->is_verbose,
		.with_origins = r->is_verbose,
		.facets = report_plan_facets(p) | (p->filters.no_idle ? UINT64_C(1) << FACET_STATE : 0),
		.time_quantum_ns = r->rows.time_quantum_ns,
		.with_raw_traces = r->rows.raw_traces,
		.tells_no_trace = true,
		.fields = wanted->fields->items,
		.field_count = wanted->fields->count,
		.by_branch = p->mode == KEY_MODE_BRANCH,
		.waits = report_replay_waits(p),
		.wakers = !r->rows.wakers   ? WAKERS_NONE
			  : r->rows.follows ? WAKERS_FOLLOWED
					    : WAKERS_SHOWN,
		.weight_is_period = p->mode == KEY_MODE_MEMORY,
	};
}

bool report_replay_covers(const struct replay_options *have, const struct replay_options *want)
{
	bool is_alike = have->by_branch == want->by_branch && have->self_is_inlined == want->self_is_inlined &&
			have->weight_is_period == want->weight_is_period && have->history == want->history &&
			have->field_count == want->field_count && have->waits == want->waits &&
			have->wakers == want->wakers;
	bool has_labels = have->with_threads >= want->with_threads && have->with_cpu >= want->with_cpu &&
			  have->with_lines >= want->with_lines && have->with_addresses >= want->with_addresses &&
			  have->with_exact_frames >= want->with_exact_frames &&
			  have->with_origins >= want->with_origins;
	return is_alike && has_labels && have->with_stacks >= want->with_stacks && !(want->facets & ~have->facets);
}

enum tally_status report_replay_run(const struct report_replay *wanted, struct binary_store *store,
	struct replay_result *result, struct tally_error *err)
{
	const struct report_request *r = wanted->plan->request;
	struct replay_options options = report_replay_options(wanted);
	enum tally_status status = TALLY_OK;
	struct time_spans spans = {0};
	if (r->samples.times) {
		status = time_spans_read(r->samples.times, wanted->reader, &spans, err);
		options.spans = &spans;
	}
	struct replay_switches switches;
	if (status == TALLY_OK && (r->selection.switch_on || r->selection.switch_off)) {
		struct switch_names names = {
			r->selection.switch_on, r->selection.switch_off, r->selection.shows_switches};
		status = report_switches_find(&names, wanted->reader, &switches, err);
		options.switches = &switches;
	}
	options.progress = wanted->progress;
	if (r->output.is_interactive && wait_events_find(wanted->reader, options.waits).are_joined)
		options.facets |= UINT64_C(1) << FACET_STATE; /* Flame graphs show states. */
	if (options.by_branch && !r->output.is_interactive)
		/* The summary of branches below the tables needs their kinds. */
		options.facets |= UINT64_C(1) << FACET_BRANCH_KIND;
	if (status == TALLY_OK && r->output.is_interactive)
		status = replay_profile(wanted->reader, store, &options, result, err);
	else if (status == TALLY_OK)
		status = progress_line_replay(wanted->reader, store, &options, result, err);
	time_spans_deinit(&spans);
	return status;
}
