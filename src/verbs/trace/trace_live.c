/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "tasks/recording/record_freq.h"
#include "tasks/recording/record_plan.h"
#include "tasks/sampling/live_rings.h"
#include "verbs/trace/trace_before.h"
#include "verbs/trace/trace_events.h"
#include "verbs/trace/trace_exclude.h"
#include "verbs/trace/trace_feed.h"
#include "verbs/trace/trace_files.h"
#include "verbs/trace/trace_line.h"
#include "verbs/trace/trace_program.h"

#define RINGS_BYTES	   (64u << 20) /* Maximum size of all rings together, unless -m is given. */
#define RING_MOST	   (16u << 20)
#define RING_LEAST	   (1u << 20)
#define TRACE_LIVE_WAIT_MS 50 /* Maximum delay of a line; a ring that fills faster wakes this process earlier. */
/* Sampling frequency, in hertz, of events that are not recorded one by one. */
#define FREQ_OTHERS UINT64_C(4000)
#define TYPES_PATH  "/sys/kernel/btf/vmlinux"

struct trace_live {
	struct trace_job *job;
	struct trace_choice *choice;
	struct trace_program *program; /* NULL if system calls are read from tracepoints, or are not traced. */
	struct trace_events_request events;
	struct file_map types_file;
	struct btf_types *types; /* Types of the kernel; NULL if they are not needed or not available. */
	struct live_rings rings;
	uint64_t start_ns; /* Start time with --delay; 0 if nothing remains to be started. */
};

/* ---- records ---- */

static enum tally_status trace_live_take(void *context, const struct record *record, struct tally_error *err)
{
	struct trace_live *live = context;
	struct data_source *source = &live->job->source;
	struct data_sample sample;
	if (record->type != RECORD_SAMPLE) {
		enum tally_status status = sideband_count(&source->pass.sideband, source->reader, record, err);
		return status == TALLY_OK
			       ? trace_feed_sideband(live->job, record, live_rings_time_of(&live->rings, record), err)
			       : status;
	}
	return data_source_decode(source, record, &sample) ? trace_feed_sample(live->job, &sample, err) : TALLY_OK;
}

static enum tally_status trace_live_drain(struct trace_live *live, bool is_last, struct tally_error *err)
{
	enum tally_status status = live_rings_drain(&live->rings, is_last, err);
	if (!text_flush(&live->job->out))
		live->rings.watch.is_over = true; /* The reader of the output has exited. */
	return status;
}

/* ---- selecting what to open ---- */

/* Rings are large, because calls are frequent and a busy machine may not run this process at once. */
static size_t ring_bytes(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t bytes = RING_MOST;
	while (bytes > RING_LEAST && bytes * (size_t)(MAX(cpus, 1)) > RINGS_BYTES)
		bytes /= 2;
	return bytes;
}

static bool needs_maps(const struct trace_live *live)
{
	const struct trace_settings *s = live->job->settings;
	return live->rings.request.plan.attrs.chains.mode != CALLGRAPH_NONE || s->with_minor_faults ||
	       s->with_major_faults;
}

static void trace_live_plan(struct trace_live *live, const struct trace_live_config *config)
{
	const struct trace_settings *s = live->job->settings;
	struct record_settings r = s->record;
	record_target_complete(&r.target, config->words[0] != NULL);
	r.keeps_stacks = true; /* Stacks are unwound when they are printed. */
	struct record_request *request = &live->rings.request;
	request->is_live_view = true;
	request->target = r.target;
	request->plan = record_plan_make(&r);
	request->events = &live->choice->events;
	request->store = symbol_options_of(live->job->cli, &s->symbols, NULL);
	request->map_timeout_ms = r.map_timeout_ms;
	request->command = config->words;
	request->argv = config->argv;
	struct record_attr_options *attrs = &request->plan.attrs;
	attrs->rate.freq = MIN(FREQ_OTHERS, record_freq_limit(request->kernel));
	attrs->modes.use_clockid = true; /* The BPF program uses this clock, too. */
	attrs->modes.clockid = CLOCK_MONOTONIC;
	attrs->fields.timestamp = attrs->fields.cpu = true;
	attrs->fields.data_maps = s->with_minor_faults || s->with_major_faults;
	attrs->fields.cgroups = trace_has_summary(s) && s->summary_mode == TRACE_BY_CGROUP;
	if (!request->plan.is_ring_given)
		request->plan.ring_bytes = ring_bytes();
}

static bool has_others(const struct trace_live *live)
{
	const struct trace_settings *s = live->job->settings;
	return live->choice->events.len > 1 || s->with_minor_faults || s->with_major_faults;
}

/* Types only make structs and enums readable; without them, numbers are printed. */
static void trace_live_read_types(struct trace_live *live)
{
	struct tally_error ignored;
	if (live->job->settings->only_summary || file_map_open(TYPES_PATH, &live->types_file, &ignored) != TALLY_OK)
		return;
	if (btf_types_open(live->types_file.bytes, &live->types, &ignored) == TALLY_OK)
		live->job->style.types = live->types;
}

/* The BPF program is preferred, because it reports more than tracepoints do, and costs less. */
static enum tally_status trace_live_choose_way(struct trace_live *live, struct tally_error *err)
{
	struct trace_job *job = live->job;
	struct target_request *t = &live->rings.request.target;
	struct tally_error refused = {0};
	const struct trace_program_config config = {.job = job,
		.kernel = live->rings.request.kernel,
		.target = t,
		.of_command = t->has_command && !t->system_wide && !t->pids && !t->tids && !t->cpus && !t->user,
		.has_others = has_others(live)};
	if (!live->choice->traces_calls || job->settings->prints_samples)
		return TALLY_OK;
	enum tally_status status = trace_program_create(&config, &live->program, &refused);
	if (status == TALLY_OK)
		return TALLY_OK;
	bool needs_program = job->settings->wants_bpf_sums || job->settings->summary_mode == TRACE_BY_CGROUP;
	if ((status != TALLY_UNSUPPORTED && status != TALLY_DENIED) || needs_program) {
		if (err)
			*err = refused;
		return status;
	}
	job->sums_come = false;
	diag_add(&live->rings.diag, DIAG_NOTE,
		"%s; calls are read from tracepoints instead, which have no texts, structs or buffers of arguments",
		refused.text);
	return TALLY_OK;
}

/*
 * The program selects the threads of a user, including those of processes that start later or change to that user.
 * Their names and forks are recorded on all CPUs: a process that does not run yet has no event of its own.
 */
static void trace_live_widen(struct trace_live *live)
{
	struct target_request *t = &live->rings.request.target;
	if (!live->program || !t->user || !trace_program_follows_all(t))
		return;
	if (has_others(live)) {
		live->choice->events.specs[0].is_of_cpu = true;
		return;
	}
	t->user = NULL;
	t->system_wide = true;
}

static enum tally_status make_events(struct trace_live *live, struct tally_error *err)
{
	live->events = (struct trace_events_request){.job = live->job,
		.choice = live->choice,
		.kernel = live->rings.request.kernel,
		.has_records = trace_program_has_records(live->program),
		.has_sums = trace_program_has_sums(live->program)};
	enum tally_status status = trace_events_add(&live->events, err);
	if (status == TALLY_OK)
		status = record_attrs_apply(&live->choice->events, &live->rings.request.plan.attrs, err);
	if (status == TALLY_OK)
		trace_events_finish(&live->events);
	if (status == TALLY_OK && !needs_maps(live))
		live->choice->events.specs[0].attr.flags &= ~(ATTR_FLAG(ATTR_BIT_MMAP) | ATTR_FLAG(ATTR_BIT_MMAP2));
	return status;
}

/* Stores the names of threads that ran before the trace began; the source's machine reads the same records. */
static enum tally_status trace_live_learn(
	void *context, const struct record *record, const struct record_fields *fields, struct tally_error *err)
{
	struct trace_live *live = context;
	return trace_threads_apply(&live->job->threads, record, fields) ? TALLY_OK : error_nomem(err);
}

static enum tally_status trace_live_open_source(struct trace_live *live, struct tally_error *err)
{
	struct trace_job *job = live->job;
	const struct data_input input = {.symbols = job->settings->symbols};
	enum tally_status status =
		live_rings_add_state(&live->rings, (struct record_synth){.no_maps = !needs_maps(live)}, err);
	if (status == TALLY_OK)
		status = live_rings_open_source(&live->rings, &input, err);
	if (status == TALLY_OK)
		status = live_rings_each_state(&live->rings, trace_live_learn, live, err);
	job->is_live = true;
	job->applies_maps = true;
	if (status == TALLY_OK)
		status = trace_feed_begin(job, err);
	const struct target *t = &live->rings.opening.target;
	if (status == TALLY_OK && live->rings.watch.has_child && !trace_files_expect(job, live->rings.watch.child.pid))
		status = error_nomem(err);
	if (status == TALLY_OK && !t->is_command && !t->is_system_wide &&
		!trace_files_begin(job, t->threads, t->thread_count))
		status = error_nomem(err);
	return status;
}

/* ---- starting ---- */

/*
 * Opening takes a while, during which calls are missed, so the user is informed when tracing begins. perf prints
 * nothing.
 */
static void trace_live_tell_beginning(const struct trace_live *live)
{
	const struct target_request *t = &live->job->settings->record.target;
	const struct cli *cli = live->job->cli;
	if (live->rings.watch.has_child || strcmp(cli->program, "perf") == 0)
		return;
	if (t->pids || t->tids || t->user)
		cli_failf(cli, "attached to %s %s",
			t->pids	  ? "process"
			: t->tids ? "thread"
				  : "the processes of user",
			t->pids	  ? t->pids
			: t->tids ? t->tids
				  : t->user);
	else if (t->cpus)
		cli_failf(cli, "attached to all processes on CPU %s", t->cpus);
	else
		cli_failf(cli, "attached to all processes");
}

static enum tally_status trace_live_begin_measuring(struct trace_live *live, struct tally_error *err)
{
	enum tally_status status = recorder_enable(live->rings.opening.recorder, err);
	const struct target *t = &live->rings.opening.target;
	if (status == TALLY_OK && live->program)
		trace_program_start(live->program);
	live->start_ns = 0;
	if (status == TALLY_OK)
		trace_live_tell_beginning(live);
	return status == TALLY_OK && live->choice->traces_calls && !t->is_command && !t->is_system_wide
		       ? trace_before_read(live->job, t->threads, t->thread_count, err)
		       : status;
}

static enum tally_status trace_live_start(struct trace_live *live, struct tally_error *err)
{
	const struct record_settings *r = &live->job->settings->record;
	bool is_delayed = live->rings.request.plan.attrs.starts_disabled;
	enum tally_status status = TALLY_OK;
	if (is_delayed)
		live->start_ns = r->toggles.len ? clock_ns() + (uint64_t)r->toggles.items[0] * 1000000 : UINT64_MAX;
	if (is_delayed && !live->rings.watch.has_child) /* Names and forks are recorded from the start. */
		status = recorder_set_running(live->rings.opening.recorder, 0, true, err);
	if (status == TALLY_OK && !is_delayed)
		status = trace_live_begin_measuring(live, err);
	live->rings.watch.leaves_command = true; /* As in perf trace, a command that still runs at the end continues. */
	return status == TALLY_OK ? command_watch_start(&live->rings.watch, err) : status;
}

static void trace_live_name_threads(struct trace_live *live)
{
	const struct target *t = &live->rings.opening.target;
	bool inherits = !live->rings.request.plan.attrs.modes.no_inherit;
	/* If there may be several threads, each line names its thread. An attached process may start more later. */
	live->job->shows_threads = t->is_system_wide || t->thread_count > 1 || (t->is_command && inherits) ||
				   live->rings.request.target.user;
	live->job->only_tid = t->thread_count == 1 ? t->threads[0] : 0;
}

int trace_live_open(const struct trace_live_config *config, struct trace_live **out)
{
	const struct cli *cli = config->job->cli;
	struct trace_live *live = calloc(1, sizeof(*live));
	struct tally_error err = {0};
	*out = live;
	if (!live)
		return cli_failf(cli, "out of memory");
	live->job = config->job;
	live->choice = config->choice;
	live_rings_init(&live->rings, &(struct live_rings_user){cli, &live->job->source, trace_live_take, live});
	trace_live_plan(live, config);
	enum tally_status status =
		trace_exclude_find(live->job, trace_program_follows_all(&live->rings.request.target), &err);
	trace_live_read_types(live);
	if (status == TALLY_OK)
		status = trace_live_choose_way(live, &err);
	if (status == TALLY_OK)
		trace_live_widen(live);
	if (status == TALLY_OK)
		status = make_events(live, &err);
	if (status == TALLY_OK)
		status = live_rings_open(&live->rings, &err);
	if (status == TALLY_OK && live->program)
		status = trace_program_watch(live->program, live->rings.opening.recorder,
			(uint32_t)live->choice->events.len - 1, &live->rings.opening.target, &err);
	if (status == TALLY_OK)
		status = trace_live_open_source(live, &err);
	live_rings_say_notes(&live->rings);
	if (status == TALLY_OK)
		trace_live_name_threads(live);
	if (status == TALLY_OK)
		status = trace_live_start(live, &err);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

void trace_live_close(struct trace_live *live)
{
	if (!live)
		return;
	trace_program_destroy(live->program);
	live_rings_close(&live->rings);
	btf_types_close(live->types);
	file_map_close(&live->types_file);
	free(live);
}

/* ---- running ---- */

static int trace_live_wait_ms(const struct trace_live *live)
{
	uint64_t now = live->start_ns ? clock_ns() : 0;
	if (!live->start_ns || live->start_ns == UINT64_MAX)
		return TRACE_LIVE_WAIT_MS;
	return live->start_ns <= now ? 0 : (int)(MIN((live->start_ns - now) / 1000000 + 1, TRACE_LIVE_WAIT_MS));
}

enum tally_status trace_live_run(struct trace_live *live, struct tally_error *err)
{
	const bool *is_over = &live->rings.watch.is_over;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && !*is_over && !live->job->is_over) {
		status = live_rings_wait(&live->rings, trace_live_wait_ms(live), err);
		if (status == TALLY_OK && live->start_ns && live->start_ns != UINT64_MAX &&
			clock_ns() >= live->start_ns)
			status = trace_live_begin_measuring(live, err);
		if (status == TALLY_OK && !*is_over)
			status = trace_live_drain(live, false, err);
	}
	recorder_disable(live->rings.opening.recorder);
	if (status == TALLY_OK)
		status = trace_live_drain(live, true, err);
	if (status == TALLY_OK && live->program)
		status = trace_program_finish(live->program, err);
	if (status == TALLY_OK)
		trace_feed_finish(live->job);
	live->job->has_command_status = live->rings.watch.has_ended;
	live->job->command_status = live->rings.watch.child_status;
	return status;
}

int trace_live_exit_code(const struct trace_live *live)
{
	return command_watch_exit_code(&live->rings.watch);
}

void trace_live_tell_command(const struct trace_live *live)
{
	const struct command_watch *watch = &live->rings.watch;
	if (watch->has_ended && WIFSIGNALED(watch->child_status))
		cli_sayf("%s: %s\n", watch->child.command, strsignal(WTERMSIG(watch->child_status)));
	if (command_watch_leaves_running(watch))
		cli_failf(live->job->cli, "note: tracing has ended, and '%s' goes on as process %d",
			watch->child.command, (int)watch->child.pid);
}

void trace_live_tell_losses(struct trace_live *live)
{
	const struct input_health *health = &live->job->source.pass.sideband.health;
	live_rings_count_lost(&live->rings);
	uint64_t lost = input_health_lost(health), damaged = health->damaged.count;
	if (live->program)
		lost = MAX(lost, trace_program_lost_records(live->program));
	if (lost > 0)
		cli_failf(live->job->cli,
			"warning: %llu events were lost because a ring was full: lines and counts are missing; try "
			"larger rings (-m %llu), fewer calls (-e), or only sums (-s)",
			(unsigned long long)lost,
			(unsigned long long)(2 * recorder_ring_bytes(live->rings.opening.recorder) /
					     (uint64_t)sysconf(_SC_PAGESIZE)));
	if (damaged > 0)
		cli_failf(live->job->cli, "note: %llu records were damaged and are left out",
			(unsigned long long)damaged);
	if (live->program)
		trace_program_tell_losses(live->program);
	if (live->start_ns && live->start_ns != UINT64_MAX)
		cli_failf(
			live->job->cli, "note: the trace ended before the time that --delay gives: nothing was traced");
}
