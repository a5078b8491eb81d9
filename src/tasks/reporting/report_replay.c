/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_replay.h"

#include "analysis/wait_events.h"
#include "base/error.h"
#include "cli/progress_line.h"
#include "tasks/reporting/report_selection.h"

static bool report_replay_requires(const struct report_request *r, enum worth_value value)
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

/* Sort keys about waits are about all of a thread's time. */
static enum replay_waits report_replay_waits(const struct report_request *r)
{
	uint64_t wait_facets = UINT64_C(1) << FACET_STATE | UINT64_C(1) << FACET_WAKER;
	if (r->wall == WALL_NEVER || r->wakers)
		return WAITS_APART;
	return r->wall == WALL_ALWAYS || (report_request_facets(r) & wait_facets) ? WAITS_JOINED : WAITS_IF_WALL;
}

struct replay_options report_replay_options(const struct report_replay *wanted)
{
	const struct report_request *r = wanted->request;
	return (struct replay_options){
		.with_threads = r->samples.filters.pids || r->samples.filters.tids ||
				report_request_has_key(r, KEY_PID) || report_request_has_key(r, KEY_TGID),
		.with_cpu = r->samples.cpus || r->has_socket || report_request_has_key(r, KEY_CPU),
		.history = !r->with_history	? HISTORY_NONE
			   : r->is_caller_first ? HISTORY_OLDEST_FIRST
						: HISTORY_NEWEST_FIRST,
		.max_history = r->max_stack,
		.stitched_registers = r->stitches ? report_lbr_registers(wanted->reader) : 0,
		.with_stacks = r->with_chains || r->wakers || r->with_history || r->with_children ||
			       r->samples.filters.parent || r->samples.filters.ignored_callees ||
			       report_replay_requires(r, WORTH_COMPLETE),
		.with_inlines = !r->no_inline && !wanted->without_inlines,
		.self_is_inlined = r->self_is_inlined && !wanted->without_inlines,
		.without_names = wanted->without_names,
		.max_bytes = wanted->max_bytes,
		.with_lines = report_request_has_key(r, KEY_SRCLINE) || report_request_has_key(r, KEY_SRCFILE) ||
			      report_request_has_form(r, KEY_FORM_LINE) ||
			      (r->with_chains && (r->is_by_address || r->is_by_line)),
		.with_whole_paths = r->full_source_path,
		.with_addresses = r->is_by_address || (r->is_verbose && r->with_children),
		.with_exact_frames = report_request_has_form(r, KEY_FORM_DATUM) ||
				     report_request_has_form(r, KEY_FORM_PLACE) ||
				     report_request_has_form(r, KEY_FORM_CACHELINE) ||
				     report_request_has_form(r, KEY_FORM_OFFSET) || r->is_verbose,
		.with_origins = r->is_verbose,
		.facets = report_request_facets(r),
		.time_quantum_ns = r->time_quantum_ns,
		.with_raw_traces = r->raw_traces,
		.tells_no_trace = true,
		.fields = wanted->fields->items,
		.field_count = wanted->fields->count,
		.by_branch = r->mode == KEY_MODE_BRANCH,
		.waits = report_replay_waits(r),
		.wakers = !r->wakers   ? WAKERS_NONE
			  : r->follows ? WAKERS_FOLLOWED
				       : WAKERS_SHOWN,
		.weight_is_period = r->mode == KEY_MODE_MEMORY,
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
	const struct report_request *r = wanted->request;
	struct replay_options options = report_replay_options(wanted);
	enum tally_status status = TALLY_OK;
	struct time_spans spans = {0};
	if (r->samples.times) {
		status = time_spans_read(r->samples.times, wanted->reader, &spans, err);
		options.spans = &spans;
	}
	struct replay_switches switches;
	if (status == TALLY_OK && (r->switch_on || r->switch_off)) {
		struct switch_names names = {r->switch_on, r->switch_off, r->shows_switches};
		status = report_switches_find(&names, wanted->reader, &switches, err);
		options.switches = &switches;
	}
	options.progress = wanted->progress;
	if (r->is_interactive && wait_events_find(wanted->reader, options.waits).are_joined)
		options.facets |= UINT64_C(1) << FACET_STATE; /* for flame graphs */
	if (options.by_branch && !r->is_interactive)
		options.facets |= UINT64_C(1) << FACET_BRANCH_KIND; /* for what stands below the tables */
	if (status == TALLY_OK && r->is_interactive)
		status = replay_profile(wanted->reader, store, &options, result, err);
	else if (status == TALLY_OK)
		status = progress_line_replay(wanted->reader, store, &options, result, err);
	time_spans_deinit(&spans);
	return status;
}
