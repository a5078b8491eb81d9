/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_opening.h"

#include <stdlib.h>

#include "base/error.h"
#include "code/binaries/running_kernel.h"
#include "kernel/events/event_gates.h"
#include "kernel/recording/synthesize.h"
#include "kernel/system/kernel_files.h"
#include "kernel/system/surroundings.h"
#include "tasks/recording/record_features.h"
#include "tasks/recording/record_map_ids.h"
#include "tasks/recording/record_waits.h"

static bool has_sideband_everywhere(const struct event_list *events)
{
	for (size_t i = 0; i < events->len; i++)
		if (events->specs[i].is_everywhere)
			return true;
	return false;
}

enum tally_status record_opening_find(struct record_opening *o, struct tally_error *err)
{
	const struct record_request *q = o->request;
	enum tally_status status = target_resolve(q->kernel, &q->target, &o->target, err);
	if (status == TALLY_OK && o->target.is_overriding)
		diag_add(q->diag, DIAG_WARNING, "PID/TID switch overriding %s", q->target.cpus ? "CPU" : "SYSTEM");
	if (status == TALLY_OK && o->target.offline)
		diag_add(q->diag, DIAG_WARNING, "CPU %s is not online and is not measured", o->target.offline);
	if (status == TALLY_OK && o->target.is_system_wide && q->target.cpus && has_sideband_everywhere(q->events))
		status = target_add_other_cpus(q->kernel, &o->target, err);
	if (status == TALLY_OK && !q->plan.attrs.per_thread)
		status = target_spread_over_cpus(q->kernel, &o->target, err);
	return status;
}

static struct recorder_config recorder_config(struct record_opening *o)
{
	const struct record_request *q = o->request;
	struct recorder_config config = {.kernel = q->kernel,
		.events = q->events,
		.cpus = o->target.cpus,
		.cpu_count = o->target.cpu_count,
		.measured_count = o->target.measured_count,
		.threads = o->target.threads,
		.thread_count = o->target.thread_count,
		.per_thread = q->plan.attrs.per_thread,
		.keeps_kernel = q->plan.attrs.modes.all_kernel,
		.overwrites = q->overwrites,
		.flush_bytes = q->plan.flush_bytes,
		.drains_apart = q->output.threads != THREADS_NONE,
		.affinity = q->affinity,
		.ring_bytes = q->plan.ring_bytes,
		.ring_may_shrink = q->plan.attrs.unwinds_live && !q->plan.is_ring_given,
		.look = q->files ? record_files_look : NULL,
		.look_context = q->files,
		.opened = o->walks     ? record_walks_attach
			  : o->filters ? record_filters_attach
				       : NULL,
		.opened_context = o->walks ? (void *)o->walks : (void *)o->filters,
		.diag = q->diag};
	return config;
}

static enum tally_status describe_target(
	struct record_opening *o, struct synthesis *state, bool before_exec, struct tally_error *err)
{
	const struct target *t = &o->target;
	enum tally_status status = TALLY_OK;
	if (t->is_system_wide)
		return synthesize_all(state, err);
	if (t->is_command && before_exec)
		return synthesize_comm(state, t->threads[0], err);
	for (size_t i = 0; status == TALLY_OK && i < t->thread_count; i++)
		status = synthesize_process(state, t->threads[i], err);
	return status;
}

static enum tally_status describe_all(struct record_opening *o, struct synthesis *state,
	const struct record_synth *synth, bool before_exec, struct tally_error *err)
{
	const struct record_request *q = o->request;
	struct recorder_config config = recorder_config(o);
	struct ring_clock clock;
	size_t count;
	const struct recorder_source *sources = recorder_sources(o->recorder, &count);
	enum tally_status status = synthesize_id_index(state, sources, count, err);
	if (status == TALLY_OK && recorder_clock(o->recorder, &clock))
		status = synthesize_time_conv(state, &clock, err);
	if (status == TALLY_OK)
		status = synthesize_kernel(state, err);
	if (status == TALLY_OK)
		status = synthesize_thread_map(state, config.threads, config.thread_count, err);
	if (status == TALLY_OK)
		status = synthesize_cpu_map(state, config.cpus, config.measured_count, err);
	if (status == TALLY_OK && q->plan.attrs.fields.cgroups && !synth->no_cgroups)
		status = synthesize_cgroups(state, err);
	if (status == TALLY_OK)
		status = describe_target(o, state, before_exec, err);
	if (status == TALLY_OK)
		status = synthesize_finished(state, err);
	return status == TALLY_OK ? synthesize_flush(state, err) : status;
}

/* Prepares to write records about running processes. The caller frees ids with record_map_ids_deinit after the last use
 * of state. */
static void begin_state(const struct record_opening *o, struct synthesis *state, const struct record_sink *sink,
	struct record_map_ids *ids)
{
	const struct event_list *events = o->request->events;
	const struct perf_attr *tracking = &events->specs[record_attrs_tracking(events)].attr;
	struct record_layout layout = record_layout_make(tracking, false);
	synthesize_init(state, o->request->kernel, &layout, sink);
	state->map_timeout_ms = o->request->map_timeout_ms;
	state->with_data_maps = ATTR_HAS(tracking, MMAP_DATA);
	record_map_ids_init(ids);
	if (ATTR_HAS(tracking, BUILD_ID))
		state->ids = &ids->source;
}

static bool samples_kernel(const struct event_list *events)
{
	for (size_t i = 0; i < events->len; i++)
		if (!event_is_dummy(&events->specs[i]) && !ATTR_HAS(&events->specs[i].attr, EXCLUDE_KERNEL))
			return true;
	return false;
}

/* Warns that the kernel's functions will have no names, because a report cannot determine the kernel's addresses
 * later. */
static void say_hidden_kernel(const struct record_request *q)
{
	if (kernel_is_empty(q->kernel, "/proc/kallsyms")) {
		diag_add(q->diag, DIAG_WARNING,
			"an empty file covers /proc/kallsyms: the kernel's functions have no names in this recording, "
			"now or later; 'sudo umount /proc/kallsyms', or start the container without that file, and "
			"record again");
		return;
	}
	int64_t level = kernel_number(q->kernel, 0, "/proc/sys/kernel/kptr_restrict");
	enum surroundings where = surroundings_find(q->kernel);
	struct text remedy = {0};
	if (level < 2)
		text_str(&remedy, "run as root, or ");
	if (level > 0)
		remedy_sysctl(where, "kernel.kptr_restrict", 0, &remedy);
	else
		remedy_sysctl(where, "kernel.perf_event_paranoid", 1, &remedy);
	diag_add(q->diag, DIAG_WARNING,
		"the kernel hides its addresses (kernel.kptr_restrict is %lld): its functions have no names in this "
		"recording, now or later; %.*s, and record again",
		(long long)level, (int)remedy.len, remedy.data ? remedy.data : "");
	text_deinit(&remedy);
}

enum tally_status record_opening_describe(struct record_opening *o, const struct record_sink *sink,
	struct record_synth synth, bool before_exec, struct tally_error *err)
{
	struct synthesis state;
	struct record_map_ids ids;
	struct running_kernel kernel = {.live = NULL};
	bool is_this_machine = o->request->kernel->root[0] == '\0';
	begin_state(o, &state, sink, &ids);
	if (is_this_machine && running_kernel_open(&kernel))
		state.kernel_list = kernel.text;
	state.no_maps = synth.no_maps;
	state.no_tasks = synth.no_tasks;
	enum tally_status status = describe_all(o, &state, &synth, before_exec, err);
	if (status == TALLY_OK && state.hides_kernel && samples_kernel(o->request->events))
		say_hidden_kernel(o->request);
	synthesize_deinit(&state);
	record_map_ids_deinit(&ids);
	running_kernel_close(&kernel);
	return status;
}

enum tally_status record_opening_describe_threads(struct record_opening *o, const struct record_sink *sink,
	const pid_t *threads, size_t count, struct tally_error *err)
{
	struct synthesis state;
	struct record_map_ids ids;
	enum tally_status status = TALLY_OK;
	begin_state(o, &state, sink, &ids);
	for (size_t i = 0; status == TALLY_OK && i < count; i++)
		status = synthesize_process(&state, threads[i], err);
	if (status == TALLY_OK)
		status = synthesize_flush(&state, err);
	synthesize_deinit(&state);
	record_map_ids_deinit(&ids);
	return status;
}

/* Reduces the stack dumps to what the rings have room for: they may be smaller than the requested or default size. */
static bool shorten_stacks(struct record_opening *o)
{
	const struct record_request *q = o->request;
	uint32_t bytes = (uint32_t)record_live_stack_bytes(recorder_ring_bytes(o->recorder));
	bool is_shorter = false;
	for (size_t i = 0; i < q->events->len; i++) {
		struct perf_attr *attr = &q->events->specs[i].attr;
		is_shorter |= attr->sample_stack_user > bytes;
		if (attr->sample_stack_user > bytes)
			attr->sample_stack_user = bytes;
	}
	return is_shorter;
}

static enum tally_status open_waits(struct record_opening *o, struct tally_error *err)
{
	const struct record_request *q = o->request;
	const struct record_attr_options *attrs = &q->plan.attrs;
	const struct recorder_config recorder = recorder_config(o);
	struct record_waits_config config = {.kernel = q->kernel,
		.options = q->plan.waits,
		.events = q->events,
		.recorder = &recorder,
		.attrs = attrs,
		.target = &o->target,
		.store = q->store,
		.diag = q->diag,
		.walks = record_walks_object(o->walks),
		.walks_python = record_walks_python(o->walks),
		.python = record_python_map(&o->python),
		.is_cpu_list = q->target.cpus != NULL,
		.is_process_list = q->target.pids != NULL || q->target.user != NULL,
		.no_inherit = attrs->modes.no_inherit || attrs->per_thread,
		.no_kernel_stacks = attrs->chains.no_kernel || attrs->modes.all_user,
		.no_user_stacks = attrs->chains.no_user || attrs->modes.all_kernel};
	if (q->files)
		config.store.kept = &o->kept;
	return q->plan.waits.is_wanted ? record_waits_create(&config, &o->waits, err) : TALLY_OK;
}

/* The rings of events use all memory that an ordinary user may lock. If nothing is left for the rings of waits, these
 * are created first. */
static enum tally_status open_recorder_and_waits(struct record_opening *o, struct tally_error *err)
{
	const struct recorder_config config = recorder_config(o);
	enum tally_status status = recorder_create(&config, &o->recorder, err);
	if (status != TALLY_OK || o->waits)
		return status;
	status = open_waits(o, err);
	if (status != TALLY_LIMIT)
		return status;
	recorder_destroy(o->recorder);
	o->recorder = NULL;
	status = open_waits(o, err);
	return status == TALLY_OK ? recorder_create(&config, &o->recorder, err) : status;
}

enum tally_status record_opening_open(struct record_opening *o, struct tally_error *err)
{
	const struct record_request *q = o->request;
	record_python_init(&o->python);
	enum tally_status status = record_filters_create(q->kernel, q->events, &o->filters, err);
	const struct python_map python = record_python_map(&o->python);
	if (status == TALLY_OK)
		status = record_walks_create(q, &python, &o->walks, err);
	if (status == TALLY_OK && o->walks && o->filters)
		status = error_set(err, TALLY_INVALID,
			"--call-graph bpf and --filter on samples cannot be used together: an event has one BPF "
			"program; use --call-graph dwarf");
	if (status != TALLY_OK)
		return status;
	o->kept = (struct binary_kept){record_files_find, q->files};
	status = open_recorder_and_waits(o, err);
	if (status != TALLY_OK || !q->plan.attrs.unwinds_live)
		return status;
	if (!q->plan.is_stack_given && shorten_stacks(o)) {
		recorder_destroy(o->recorder);
		o->recorder = NULL;
		status = open_recorder_and_waits(o, err);
	}
	struct record_live_config live = {.events = q->events,
		.attrs = &q->plan.attrs,
		.recorder = o->recorder,
		.store = q->store,
		.kept_registers = q->plan.attrs.fields.user_regs,
		.flush_bytes = q->plan.flush_bytes,
		.keeps_rate = q->keeps_rate};
	if (q->files)
		live.store.kept = &o->kept;
	if (status == TALLY_OK)
		status = record_live_create(&live, &o->live, err);
	return status == TALLY_OK && o->walks ? record_walks_start(o->walks, o->recorder, &o->target, o->live, err)
					      : status;
}

enum tally_status record_opening_add_events(const struct record_request *request, struct recorder *recorder,
	struct perfdata_writer *writer, struct tally_error *err)
{
	struct event_list *events = request->events;
	size_t source_count;
	const struct recorder_source *sources = recorder_sources(recorder, &source_count);
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < events->len; i++) {
		uint64_t *ids;
		size_t count;
		status = record_event_ids(sources, source_count, (uint32_t)i, &ids, &count, err);
		if (status != TALLY_OK)
			return status;
		struct perf_attr attr = record_attrs_written(&events->specs[i].attr, &request->plan.attrs);
		status = perfdata_writer_add_event(writer, &attr, str_from(events->specs[i].name), ids, count, err);
		free(ids);
	}
	return status;
}

void record_opening_close(struct record_opening *o)
{
	record_live_destroy(o->live);
	record_waits_destroy(o->waits);
	recorder_destroy(o->recorder);
	record_filters_destroy(o->filters);
	record_walks_destroy(o->walks);
	record_python_close(&o->python, o->request && o->request->is_live_view);
	target_deinit(&o->target);
	*o = (struct record_opening){.request = o->request};
}
