/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/switch_waits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/order.h"
#include "kernel/events/event_parser.h"
#include "kernel/events/privileges.h"
#include "kernel/recording/synthesize.h"
#include "kernel/recording/thread_waits.h"
#include "kernel/system/cpu_topology.h"
#include "kernel/system/kernel_files.h"
#include "tasks/recording/record_live.h"
#include "tasks/recording/switch_events.h"
#include "tasks/recording/wait_looks.h"

#define SWITCH_WAITS_STACK_BYTES 16384 /* Size of a stack dump. */
#define DUMP_RING_BYTES		 (8u << 20)
#define CHAIN_RING_BYTES	 (2u << 20)
/* Records without stacks need little room, and ordinary users may lock only little memory. */
#define PLAIN_RING_BYTES (64u << 10)
/* Maximum time in nanoseconds between the time of a record and its appearance in the ring. */
#define IN_WRITING_NS 100000
#define SIDEBAND_FLAGS                                                                                   \
	(ATTR_FLAG(ATTR_BIT_MMAP) | ATTR_FLAG(ATTR_BIT_MMAP2) | ATTR_FLAG(ATTR_BIT_COMM) |               \
		ATTR_FLAG(ATTR_BIT_COMM_EXEC) | ATTR_FLAG(ATTR_BIT_TASK) | ATTR_FLAG(ATTR_BIT_KSYMBOL) | \
		ATTR_FLAG(ATTR_BIT_BPF_EVENT) | ATTR_FLAG(ATTR_BIT_CONTEXT_SWITCH))
#define PENDING_MOST (1u << 18)
#define LOOKS_MS     20 /* Milliseconds for reading threads in /proc at a time, because rings fill up meanwhile. */

struct switch_waits {
	struct switch_waits_config config;
	struct record_attr_options attrs;
	struct event_list events;
	struct recorder *recorder;
	struct event_list wake_events;
	/* Records wake-ups by threads outside of the target and by interrupts; NULL if recorder sees all that are
	 * needed. */
	struct recorder *wakes;
	struct record_live *live;
	/* All online CPUs, if waits must begin on some of them only (records.cpus) but may end on any; else NULL. */
	int *cpus;
	size_t cpu_count;
	bool has_stacks;
	uint64_t started_ns, stopped_ns; /* 0 until it has started or stopped. */
	struct wait_stacks stacks;
	struct wait_tracker tracker;
	struct switch_events records;
	struct wait_look look;
};

/* ---- Opening ---- */

static void switch_waits_set_attrs(struct switch_waits *w, bool has_samples)
{
	const struct switch_waits_config *c = &w->config;
	const struct record_attr_options *whole = c->attrs;
	bool has_dumps = has_samples && whole->chains.mode != CALLGRAPH_FP && !c->no_user_stacks;
	w->attrs = (struct record_attr_options){
		.fields = {.timestamp = true, .cpu = true, .identifier = true, .switch_events = true},
		.modes = {.no_inherit = c->no_inherit, .use_clockid = true, .clockid = CLOCK_MONOTONIC},
		.chains = {.mode = has_dumps	 ? CALLGRAPH_DWARF
				   : has_samples ? CALLGRAPH_FP
						 : CALLGRAPH_NONE,
			.stack_bytes = SWITCH_WAITS_STACK_BYTES,
			.no_kernel = c->no_kernel_stacks,
			.no_user = c->no_user_stacks},
		.rate = {.period = 1, .is_period_given = true},
		.is_system_wide = whole->is_system_wide,
		.has_command = whole->has_command,
		.per_thread = whole->per_thread,
		.starts_disabled = whole->starts_disabled,
		.unwinds_live = has_dumps};
	w->has_stacks = has_samples;
}

/* Parses event names and completes their attributes for opening. */
static enum tally_status switch_waits_parse(const struct kernel_seam *kernel, const char *names,
	const struct record_attr_options *attrs, struct event_list *events, struct tally_error *err)
{
	struct event_catalogue *catalogue;
	enum tally_status status = event_catalogue_create(kernel, &catalogue, err);
	if (status != TALLY_OK)
		return status;
	status = event_parse(catalogue, names, events, err);
	event_catalogue_destroy(catalogue);
	return status == TALLY_OK ? record_attrs_apply(events, attrs, err) : status;
}

static enum tally_status switch_waits_open(
	struct switch_waits *w, const char *events, bool has_samples, struct tally_error *err)
{
	struct recorder_config config = *w->config.recorder;
	event_list_deinit(&w->events);
	w->events = (struct event_list){0};
	switch_waits_set_attrs(w, has_samples);
	enum tally_status status = switch_waits_parse(config.kernel, events, &w->attrs, &w->events, err);
	config.events = &w->events;
	config.keeps_kernel = true;
	config.overwrites = config.drains_apart = false;
	config.affinity = AFFINITY_NONE;
	config.flush_bytes = 0;
	config.ring_bytes = w->attrs.unwinds_live ? DUMP_RING_BYTES : has_samples ? CHAIN_RING_BYTES : PLAIN_RING_BYTES;
	config.ring_may_shrink = true;
	config.look = NULL;
	config.opened = NULL;
	config.diag = NULL;
	if (w->cpus) {
		config.cpus = w->cpus;
		config.cpu_count = config.measured_count = w->cpu_count;
	}
	return status == TALLY_OK ? recorder_create(&config, &w->recorder, err) : status;
}

/* A thread that leaves one of the chosen CPUs may continue on any other, so events are opened on all. */
static enum tally_status switch_waits_choose_cpus(struct switch_waits *w, struct tally_error *err)
{
	const struct recorder_config *config = w->config.recorder;
	if (!w->config.target->is_system_wide || config->measured_count == 0)
		return TALLY_OK;
	enum tally_status status = cpu_list_online(config->kernel, &w->cpus, &w->cpu_count, err);
	if (status == TALLY_OK && w->cpu_count == config->measured_count) {
		free(w->cpus);
		w->cpus = NULL;
	} else if (status == TALLY_OK) {
		w->records.cpus = config->cpus;
		w->records.cpu_count = config->measured_count;
	}
	return status;
}

static enum tally_status switch_waits_open_source(struct switch_waits *w, struct tally_error *err)
{
	const struct kernel_seam *kernel = w->config.kernel;
	enum tally_status status = switch_waits_choose_cpus(w, err);
	if (status != TALLY_OK)
		return status;
	if (w->config.source == WAIT_SOURCE_TRACEPOINTS) {
		status = switch_events_read_formats(&w->records, kernel, err);
		return status == TALLY_OK ? switch_waits_open(w, "sched:sched_switch,sched:sched_waking", true, err)
					  : status;
	}
	/* Switches happen in kernel mode, so their samples require the permission to sample the kernel. */
	bool may = may_measure_all(kernel) || kernel_number(kernel, 2, "/proc/sys/kernel/perf_event_paranoid") < 2;
	status = may ? switch_waits_open(w, "context-switches", true, err) : TALLY_DENIED;
	return status == TALLY_DENIED ? switch_waits_open(w, "dummy:u", false, err) : status;
}

static enum tally_status switch_waits_add_ids(
	struct switch_waits *w, const struct recorder *recorder, size_t first, struct tally_error *err)
{
	size_t count;
	const struct recorder_source *sources = recorder_sources(recorder, &count);
	for (size_t i = 0; i < count; i++)
		if (sources[i].fd >= 0 && !map_u64_set(&w->records.ids, sources[i].id, first + sources[i].event))
			return error_nomem(err);
	return TALLY_OK;
}

/* An event of a thread shows only the wake-ups that this thread causes. Events on all CPUs show those by other
 * threads; kernel stacks are sufficient for these. */
static enum tally_status switch_waits_open_wakes(struct switch_waits *w, struct tally_error *err)
{
	static const pid_t everyone = -1;
	int *cpus;
	size_t cpu_count;
	struct record_attr_options attrs = w->attrs;
	attrs.chains = (struct record_chains){.mode = CALLGRAPH_FP, .no_user = true};
	attrs.has_command = attrs.starts_disabled = attrs.unwinds_live = attrs.per_thread = false;
	enum tally_status status = cpu_list_online(w->config.kernel, &cpus, &cpu_count, err);
	if (status != TALLY_OK)
		return status;
	status = switch_waits_parse(w->config.kernel, "sched:sched_waking", &attrs, &w->wake_events, err);
	const struct recorder_config config = {.kernel = w->config.kernel,
		.events = &w->wake_events,
		.cpus = cpus,
		.cpu_count = cpu_count,
		.threads = &everyone,
		.thread_count = 1,
		.ring_bytes = CHAIN_RING_BYTES,
		.ring_may_shrink = true};
	if (status == TALLY_OK) {
		w->wake_events.specs[0].attr.flags &= ~SIDEBAND_FLAGS;
		status = recorder_create(&config, &w->wakes, err);
	}
	free(cpus);
	return status == TALLY_OK ? switch_waits_add_ids(w, w->wakes, SWITCH_EVENTS_OTHERS_WAKE, err) : status;
}

static enum tally_status switch_waits_open_live(struct switch_waits *w, struct tally_error *err)
{
	const uint64_t looks_id = WAIT_LOOKS_ID;
	const struct perf_attr looks = wait_looks_attr(w->records.arch);
	const struct record_live_config live = {.events = &w->events,
		.attrs = &w->attrs,
		.recorder = w->recorder,
		.store = w->config.store,
		.keeps_rate = true};
	enum tally_status status = record_live_create(&live, &w->live, err);
	return status == TALLY_OK ? record_live_add_event(w->live, &looks, &looks_id, 1, err) : status;
}

static void switch_waits_read_kernel(struct switch_waits *w)
{
	char *kallsyms;
	if (kernel_text(w->config.kernel, &kallsyms, NULL, "/proc/kallsyms") != TALLY_OK)
		return;
	wait_stacks_read_kernel(&w->stacks, str_from(kallsyms));
	wait_calls_read(&w->records.calls, str_from(kallsyms));
	free(kallsyms);
}

static bool switch_waits_has_stayed(void *context, uint32_t tid, uint64_t switches)
{
	const struct switch_waits *w = context;
	return thread_waits_switches(w->config.kernel, (pid_t)tid) == switches;
}

enum tally_status switch_waits_create(
	const struct switch_waits_config *config, struct switch_waits **waits, struct tally_error *err)
{
	struct switch_waits *w = calloc(1, sizeof(*w));
	if (!w)
		return error_nomem(err);
	w->config = *config;
	w->tracker.config = (struct wait_tracker_config){.stacks = &w->stacks,
		.wants_preempted = config->wants_preempted,
		.threshold_ns = config->threshold_ns,
		.has_stayed = switch_waits_has_stayed,
		.context = w};
	w->records.kernel = config->kernel;
	w->records.stacks = &w->stacks;
	w->records.arch = record_host_arch();
	w->records.source = config->source;
	enum tally_status status =
		w->records.arch && w->records.arch->dwarf_count
			? switch_waits_open_source(w, err)
			: error_set(err, TALLY_UNSUPPORTED, "stacks of this architecture cannot be unwound here");
	if (status == TALLY_OK) {
		struct perf_attr written = record_attrs_written(&w->events.specs[0].attr, &w->attrs);
		w->records.layout = record_layout_make(&written, false);
		w->records.has_return_addresses = !w->attrs.unwinds_live;
		w->records.is_forking = !config->no_inherit;
		status = switch_waits_add_ids(w, w->recorder, 0, err);
	}
	if (status == TALLY_OK && config->source == WAIT_SOURCE_TRACEPOINTS && !config->target->is_system_wide)
		status = switch_waits_open_wakes(w, err);
	if (status == TALLY_OK)
		status = switch_waits_open_live(w, err);
	if (status != TALLY_OK) {
		switch_waits_destroy(w);
		return status;
	}
	if (w->has_stacks)
		switch_waits_read_kernel(w);
	*waits = w;
	return TALLY_OK;
}

void switch_waits_destroy(struct switch_waits *w)
{
	if (!w)
		return;
	record_live_destroy(w->live);
	recorder_destroy(w->recorder);
	recorder_destroy(w->wakes);
	event_list_deinit(&w->wake_events);
	event_list_deinit(&w->events);
	switch_events_deinit(&w->records);
	wait_tracker_deinit(&w->tracker);
	wait_stacks_deinit(&w->stacks);
	writer_deinit(&w->look.sample);
	free(w->cpus);
	free(w);
}

/* ---- Starting and stopping ---- */

enum tally_status switch_waits_start(struct switch_waits *w, struct tally_error *err)
{
	/* The unwinder needs the mappings of running processes. */
	const struct target *t = w->config.target;
	const struct record_sink sink = {record_live_learn, w->live};
	struct synthesis state;
	synthesize_init(&state, w->config.kernel, &w->records.layout, &sink);
	enum tally_status status = t->is_system_wide ? synthesize_all(&state, err) : TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && !t->is_system_wide && i < t->thread_count; i++)
		status = t->is_command ? synthesize_comm(&state, t->threads[i], err)
				       : synthesize_process(&state, t->threads[i], err);
	if (status == TALLY_OK)
		status = synthesize_flush(&state, err);
	synthesize_deinit(&state);
	if (status == TALLY_OK && w->wakes)
		status = recorder_enable(w->wakes, err);
	return status;
}

enum tally_status switch_waits_begin(struct switch_waits *w, struct tally_error *err)
{
	enum tally_status status = recorder_enable(w->recorder, err);
	w->started_ns = clock_ns();
	return status;
}

enum tally_status switch_waits_add_thread(struct switch_waits *w, uint32_t tid, uint32_t pid,
	const struct off_cpu_before *before, struct tally_error *err)
{
	struct wait_event event = {.kind = WAIT_EVENT_OUT,
		.time_ns = w->started_ns ? w->started_ns : clock_ns(),
		.pid = pid,
		.tid = tid,
		.flags = WAIT_FLAG_BEGAN_BEFORE};
	if (!before)
		return TALLY_OK;
	event.state = (uint8_t)before->state;
	event.syscall = before->syscall;
	event.switches = before->switches == UINT64_MAX ? 0 : before->switches;
	return vec_push(&w->records.events, event) ? TALLY_OK : error_nomem(err);
}

enum tally_status switch_waits_set_running(struct switch_waits *w, bool is_running, struct tally_error *err)
{
	enum tally_status status = recorder_set_running(w->recorder, RECORDER_ALL, is_running, err);
	if (!is_running || status != TALLY_OK) {
		w->stopped_ns = clock_ns();
		return status;
	}
	/* Waits that were in progress when measuring stopped are dropped, because their ends are unknown. */
	if (w->started_ns) {
		w->records.events.len = 0;
		wait_tracker_forget(&w->tracker);
	}
	w->started_ns = clock_ns();
	w->stopped_ns = 0;
	return TALLY_OK;
}

/* ---- Draining ---- */

static int switch_waits_compare(const void *a, const void *b)
{
	const struct wait_event *left = a, *right = b;
	int order = COMPARE(left->time_ns, right->time_ns);
	return order ? order : COMPARE(left->kind, right->kind);
}

static bool switch_waits_counts(const struct switch_waits *w, const struct wait_event *event)
{
	bool is_state = event->kind == WAIT_EVENT_EXIT || event->kind == WAIT_EVENT_EXEC;
	return is_state || (w->started_ns && event->time_ns >= w->started_ns &&
				   (w->stopped_ns == 0 || event->time_ns <= w->stopped_ns));
}

/* Applies the events up to a time that all rings have been read to. While samples wait for unwind tables, no events are
 * applied unless too many are pending or this is the last call, because these samples arrive after younger records. */
static enum tally_status switch_waits_apply(
	struct switch_waits *w, uint64_t until_ns, const struct off_cpu_sink *sink, struct tally_error *err)
{
	struct wait_event *events = w->records.events.items;
	size_t count = w->records.events.len, done = 0;
	enum tally_status status = TALLY_OK;
	if (count == 0 || (until_ns != UINT64_MAX && count < PENDING_MOST && record_live_is_holding(w->live)))
		return TALLY_OK;
	qsort(events, count, sizeof(*events), switch_waits_compare);
	for (; status == TALLY_OK && done < count && events[done].time_ns <= until_ns; done++)
		if (switch_waits_counts(w, &events[done]))
			status = wait_tracker_apply(&w->tracker, &events[done], sink, err);
	memmove(events, events + done, (count - done) * sizeof(*events));
	w->records.events.len = count - done;
	return status;
}

/* Returns whether the events of a wait lack its state, system call or stack, so that /proc has to be read. */
static bool switch_waits_wants_look(const struct switch_waits *w, const struct wait_thread *thread)
{
	const struct wait_event *out = &thread->out;
	bool is_known = out->state != WAIT_OTHER && (out->state != WAIT_SLEEPING || out->syscall >= 0);
	bool has_stack = out->stack || w->config.no_user_stacks;
	return !thread->is_looked_at && out->state != WAIT_RUNNABLE && (!is_known || !has_stack);
}

static enum tally_status switch_waits_look(struct switch_waits *w, struct tally_error *err)
{
	const struct record_sink sink = {switch_events_take, &w->records};
	size_t position = 0;
	int64_t until_ms = clock_ms() + LOOKS_MS;
	struct wait_thread *thread;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && (thread = wait_tracker_next_off(&w->tracker, &position)) != NULL) {
		struct wait_event event;
		if (!switch_waits_wants_look(w, thread))
			continue;
		if (clock_ms() >= until_ms)
			break;
		thread->is_looked_at = true;
		bool wants_stack = !thread->out.stack && !w->config.no_user_stacks;
		if (!wait_looks_take(w->config.kernel, w->records.arch, thread->tid, wants_stack, &event, &w->look))
			continue;
		struct tally_bytes sample = writer_view(&w->look.sample);
		status = vec_push(&w->records.events, event) && !w->look.sample.failed ? TALLY_OK : error_nomem(err);
		if (status == TALLY_OK && sample.len)
			status = record_live_pass(w->live, &sample, 1, &sink, err);
	}
	return status;
}

enum tally_status switch_waits_drain(
	struct switch_waits *w, bool takes_sums, const struct off_cpu_sink *sink, struct tally_error *err)
{
	const struct record_sink records = {switch_events_take, &w->records};
	uint64_t bytes, now = clock_ns();
	enum tally_status status = record_live_drain(w->live, &records, false, &bytes, err);
	if (status == TALLY_OK && w->wakes)
		status = recorder_drain(w->wakes, &records, &bytes, err);
	if (status == TALLY_OK)
		status = switch_waits_apply(w, now - IN_WRITING_NS, sink, err);
	if (status == TALLY_OK)
		status = switch_waits_look(w, err);
	return status == TALLY_OK && takes_sums ? wait_tracker_give_sums(&w->tracker, sink, err) : status;
}

enum tally_status switch_waits_finish(struct switch_waits *w, const struct off_cpu_sink *sink, struct tally_error *err)
{
	const struct record_sink records = {switch_events_take, &w->records};
	uint64_t bytes = 1, now = w->stopped_ns ? w->stopped_ns : clock_ns();
	enum tally_status status = TALLY_OK;
	recorder_disable(w->recorder);
	if (w->wakes) {
		recorder_disable(w->wakes);
		status = recorder_drain(w->wakes, &records, &bytes, err);
		bytes = 1;
	}
	while (status == TALLY_OK && bytes)
		status = record_live_drain(w->live, &records, true, &bytes, err);
	if (status == TALLY_OK)
		status = switch_waits_apply(w, UINT64_MAX, sink, err);
	return status == TALLY_OK ? wait_tracker_finish(&w->tracker, now, sink, err) : status;
}

struct off_cpu_losses switch_waits_losses(const struct switch_waits *w)
{
	return (struct off_cpu_losses){.switches = w->records.lost, .stacks = w->tracker.lost_stacks};
}

bool switch_waits_has_stacks(const struct switch_waits *w)
{
	return w->has_stacks;
}
