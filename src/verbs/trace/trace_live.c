/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_live.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "kernel/system/spawn.h"
#include "tasks/recording/record_description.h"
#include "tasks/recording/record_freq.h"
#include "tasks/recording/record_plan.h"
#include "tasks/recording/ring_merge.h"
#include "verbs/trace/trace_before.h"
#include "verbs/trace/trace_events.h"
#include "verbs/trace/trace_exclude.h"
#include "verbs/trace/trace_feed.h"
#include "verbs/trace/trace_files.h"
#include "verbs/trace/trace_line.h"
#include "verbs/trace/trace_program.h"

#define RINGS_BYTES (64u << 20) /* together, unless -m says so */
#define RING_MOST   (16u << 20)
#define RING_LEAST  (1u << 20)
#define WAIT_MS	    50 /* lines are printed so soon; a ring that fills faster wakes us */
#define FREQ_OTHERS UINT64_C(4000) /* events that are no single occurrences */
#define FRAMES_KEPT (1u << 20)
#define TYPES_PATH  "/sys/kernel/btf/vmlinux"

struct trace_live {
	struct trace_job *job;
	struct trace_choice *choice;
	struct trace_program *program; /* NULL: system calls come as tracepoints, or not at all */
	struct trace_events_request events;
	struct file_map types_file;
	struct btf_types *types; /* of the kernel; NULL: they are not needed, or there are none */
	struct diag diag;
	struct record_request request;
	struct record_opening opening;
	struct spawn child;
	bool has_child, child_is_started, child_is_over;
	struct file_map description;
	struct writer beginning; /* of a recording: description, and what ran already. The job's source reads it */
	size_t state_at; /* where the latter begins */
	struct ring_merge merge;
	int signal_fd;
	sigset_t old_mask;
	bool has_mask, is_over;
	uint64_t start_ns; /* with --delay; 0: nothing is to be started (any more) */
};

/* ---- what to open ---- */

static void trace_live_say_notes(struct trace_live *live)
{
	cli_print_diag(live->job->cli, &live->diag);
	diag_deinit(&live->diag);
	diag_init(&live->diag);
}

/* Calls come fast, and a busy machine may not run us at once. */
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
	return live->request.plan.attrs.chains.mode != CALLGRAPH_NONE || s->with_minor_faults || s->with_major_faults;
}

static void trace_live_plan(struct trace_live *live, const struct trace_live_config *config)
{
	const struct trace_settings *s = live->job->settings;
	struct record_settings r = s->record;
	record_target_complete(&r.target, config->words[0] != NULL);
	r.keeps_stacks = true; /* they are unwound when they are printed */
	live->request = (struct record_request){.kernel = kernel_seam_linux(),
		.is_live_view = true,
		.target = r.target,
		.plan = record_plan_make(&r),
		.events = &live->choice->events,
		.store = symbol_options_of(live->job->cli, &s->symbols, NULL),
		.map_timeout_ms = r.map_timeout_ms,
		.command = config->words,
		.argv = config->argv,
		.diag = &live->diag};
	struct record_attr_options *attrs = &live->request.plan.attrs;
	attrs->rate.freq = MIN(FREQ_OTHERS, record_freq_limit(live->request.kernel));
	attrs->modes.use_clockid = true; /* that of the BPF program */
	attrs->modes.clockid = CLOCK_MONOTONIC;
	attrs->fields.timestamp = attrs->fields.cpu = true;
	attrs->fields.data_maps = s->with_minor_faults || s->with_major_faults;
	attrs->fields.cgroups = trace_has_summary(s) && s->summary_mode == TRACE_BY_CGROUP;
	if (!live->request.plan.is_ring_given)
		live->request.plan.ring_bytes = ring_bytes();
}

static bool has_others(const struct trace_live *live)
{
	const struct trace_settings *s = live->job->settings;
	return live->choice->events.len > 1 || s->with_minor_faults || s->with_major_faults;
}

/* Types make structs and enumerations readable, and nothing else: without them there are numbers. */
static void trace_live_read_types(struct trace_live *live)
{
	struct tally_error ignored;
	if (live->job->settings->only_summary || file_map_open(TYPES_PATH, &live->types_file, &ignored) != TALLY_OK)
		return;
	if (btf_types_open(live->types_file.bytes, &live->types, &ignored) == TALLY_OK)
		live->job->style.types = live->types;
}

/* Our BPF program tells more than tracepoints do, and costs less. */
static enum tally_status trace_live_choose_way(struct trace_live *live, struct tally_error *err)
{
	struct trace_job *job = live->job;
	struct target_request *t = &live->request.target;
	struct tally_error refused = {0};
	const struct trace_program_config config = {.job = job,
		.kernel = live->request.kernel,
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
	diag_add(&live->diag, DIAG_NOTE,
		"%s; calls are read from tracepoints instead, which have no texts, structs or buffers of arguments",
		refused.text);
	return TALLY_OK;
}

static enum tally_status make_events(struct trace_live *live, struct tally_error *err)
{
	live->events = (struct trace_events_request){.job = live->job,
		.choice = live->choice,
		.kernel = live->request.kernel,
		.has_records = trace_program_has_records(live->program),
		.has_sums = trace_program_has_sums(live->program)};
	enum tally_status status = trace_events_add(&live->events, err);
	if (status == TALLY_OK)
		status = record_attrs_apply(&live->choice->events, &live->request.plan.attrs, err);
	if (status == TALLY_OK)
		trace_events_finish(&live->events);
	if (status == TALLY_OK && !needs_maps(live))
		live->choice->events.specs[0].attr.flags &= ~(ATTR_FLAG(ATTR_BIT_MMAP) | ATTR_FLAG(ATTR_BIT_MMAP2));
	return status;
}

static enum tally_status trace_live_open_rings(struct trace_live *live, struct tally_error *err)
{
	struct record_opening *o = &live->opening;
	enum tally_status status = record_opening_find(o, err);
	if (status == TALLY_OK && live->request.command[0]) {
		status = spawn_create(live->request.command, &live->child, err);
		live->has_child = status == TALLY_OK;
		if (live->has_child && o->target.is_command)
			o->target.threads[0] = live->child.pid;
	}
	if (status == TALLY_OK)
		status = record_opening_open(o, err);
	uint32_t last = (uint32_t)live->choice->events.len - 1;
	return status == TALLY_OK && live->program
		       ? trace_program_watch(live->program, o->recorder, last, &o->target, err)
		       : status;
}

/* ---- the beginning of a recording, for the source ---- */

static enum tally_status trace_live_put(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct trace_live *live = context;
	for (size_t i = 0; i < slice_count; i++)
		writer_bytes(&live->beginning, slices[i].data, slices[i].len);
	return live->beginning.failed ? error_nomem(err) : TALLY_OK;
}

static enum tally_status trace_live_describe(struct trace_live *live, struct tally_error *err)
{
	const struct record_sink sink = {trace_live_put, live};
	enum tally_status status = record_description_read(&live->opening, &live->description, err);
	if (status == TALLY_OK)
		status = trace_live_put(live, &live->description.bytes, 1, err);
	live->state_at = live->beginning.len;
	return status == TALLY_OK ? record_opening_describe(&live->opening, &sink,
					    (struct record_synth){.no_maps = !needs_maps(live)}, live->has_child, err)
				  : status;
}

/* Who runs already. The source's machine has read the same. */
static enum tally_status trace_live_learn(struct trace_live *live, struct tally_error *err)
{
	struct tally_bytes bytes = writer_view(&live->beginning);
	enum tally_status status = TALLY_OK;
	struct record record;
	for (size_t at = live->state_at; status == TALLY_OK && at < bytes.len; at += record.bytes.len) {
		struct record_fields fields;
		status = record_at(bytes, false, at, &record, err);
		if (status == TALLY_OK && record_decode(&record, &fields, NULL) == TALLY_OK &&
			!trace_threads_apply(&live->job->threads, &record, &fields))
			status = error_nomem(err);
	}
	return status;
}

static enum tally_status trace_live_open_source(struct trace_live *live, struct tally_error *err)
{
	struct trace_job *job = live->job;
	const struct data_input input = {.symbols = job->settings->symbols};
	struct perfdata_reader *reader;
	enum tally_status status = perfdata_reader_open_beginning(writer_view(&live->beginning), &reader, err);
	if (status == TALLY_OK)
		status = data_source_take(job->cli, &input, reader, NULL, &job->source, err);
	if (status == TALLY_OK)
		status = trace_live_learn(live, err);
	job->is_live = true;
	job->applies_maps = true;
	if (status == TALLY_OK)
		status = trace_feed_begin(job, err);
	if (status == TALLY_OK && live->has_child && !trace_files_expect(job, live->child.pid))
		status = error_nomem(err);
	return status;
}

static uint64_t trace_live_time_of(void *context, const struct record *record)
{
	const struct trace_live *live = context;
	return time_order_time_of(live->job->source.reader, record, false);
}

static enum tally_status trace_live_open_all(struct trace_live *live, struct tally_error *err)
{
	enum tally_status status = trace_exclude_find(live->job, trace_program_follows_all(&live->request.target), err);
	trace_live_read_types(live);
	if (status == TALLY_OK)
		status = trace_live_choose_way(live, err);
	if (status == TALLY_OK)
		status = make_events(live, err);
	if (status == TALLY_OK)
		status = trace_live_open_rings(live, err);
	if (status == TALLY_OK)
		status = trace_live_describe(live, err);
	if (status == TALLY_OK)
		status = trace_live_open_source(live, err);
	return status == TALLY_OK ? ring_merge_init(&live->merge, live->opening.recorder, trace_live_time_of, live, err)
				  : status;
}

/* ---- starting ---- */

static enum tally_status trace_live_take_signals(struct trace_live *live, struct tally_error *err)
{
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGCHLD);
	live->has_mask = sigprocmask(SIG_BLOCK, &mask, &live->old_mask) == 0;
	live->signal_fd = live->has_mask ? signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC) : -1;
	return live->signal_fd >= 0 ? TALLY_OK : error_set_errno(err, TALLY_IO, errno, "signals cannot be received");
}

static enum tally_status trace_live_begin_measuring(struct trace_live *live, struct tally_error *err)
{
	enum tally_status status = recorder_enable(live->opening.recorder, err);
	const struct target *t = &live->opening.target;
	if (status == TALLY_OK && live->program)
		trace_program_start(live->program);
	live->start_ns = 0;
	return status == TALLY_OK && live->choice->traces_calls && !t->is_command && !t->is_system_wide
		       ? trace_before_read(live->job, t->threads, t->thread_count, err)
		       : status;
}

static enum tally_status trace_live_start(struct trace_live *live, struct tally_error *err)
{
	const struct record_settings *r = &live->job->settings->record;
	bool is_delayed = live->request.plan.attrs.starts_disabled;
	enum tally_status status = trace_live_take_signals(live, err);
	if (is_delayed)
		live->start_ns = r->toggles.len ? clock_ns() + (uint64_t)r->toggles.items[0] * 1000000 : UINT64_MAX;
	if (status == TALLY_OK && is_delayed && !live->has_child) /* names and forks come from the start */
		status = recorder_set_running(live->opening.recorder, 0, true, err);
	if (status == TALLY_OK && !is_delayed)
		status = trace_live_begin_measuring(live, err);
	if (status == TALLY_OK && live->has_child) {
		status = spawn_start(&live->child, err);
		live->child_is_started = status == TALLY_OK;
	}
	return status;
}

/* More than one thread may come: lines say whose they are. */
static bool may_have_threads(const struct trace_live *live)
{
	const struct target *t = &live->opening.target;
	bool inherits = !live->request.plan.attrs.modes.no_inherit;
	return t->is_system_wide || t->thread_count > 1 || (t->is_command && inherits) || live->request.target.user;
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
	live->signal_fd = -1;
	diag_init(&live->diag);
	trace_live_plan(live, config);
	live->opening.request = &live->request;
	enum tally_status status = trace_live_open_all(live, &err);
	trace_live_say_notes(live);
	if (status == TALLY_OK)
		live->job->shows_threads = may_have_threads(live);
	if (status == TALLY_OK)
		status = trace_live_start(live, &err);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

void trace_live_close(struct trace_live *live)
{
	if (!live)
		return;
	if (live->has_child && !live->child_is_started)
		spawn_cancel(&live->child);
	ring_merge_deinit(&live->merge);
	trace_program_destroy(live->program);
	record_opening_close(&live->opening);
	if (live->signal_fd >= 0)
		close(live->signal_fd);
	if (live->has_mask)
		sigprocmask(SIG_SETMASK, &live->old_mask, NULL);
	writer_deinit(&live->beginning);
	file_map_close(&live->description);
	btf_types_close(live->types);
	file_map_close(&live->types_file);
	diag_deinit(&live->diag);
	free(live);
}

/* ---- records ---- */

static enum tally_status trace_live_take(struct trace_live *live, const struct record *record, struct tally_error *err)
{
	struct data_source *source = &live->job->source;
	struct data_sample sample;
	if (record->type != RECORD_SAMPLE) {
		enum tally_status status = sideband_count(&source->pass.sideband, source->reader, record, err);
		return status == TALLY_OK
			       ? trace_feed_sideband(live->job, record, trace_live_time_of(live, record), err)
			       : status;
	}
	return data_source_decode(source, record, &sample) ? trace_feed_sample(live->job, &sample, err) : TALLY_OK;
}

static enum tally_status trace_live_drain(struct trace_live *live, bool is_last, struct tally_error *err)
{
	struct data_source *source = &live->job->source;
	uint64_t fill;
	struct record record;
	enum tally_status status = ring_merge_look(&live->merge, is_last, &fill, err);
	while (status == TALLY_OK && ring_merge_next(&live->merge, &record)) {
		status = trace_live_take(live, &record, err);
		if (status == TALLY_OK && !ring_merge_advance(&live->merge))
			status = error_nomem(err);
	}
	ring_merge_release(&live->merge);
	if (status == TALLY_OK && source->pass.resolver.frames.len > FRAMES_KEPT && !data_source_forget_frames(source))
		status = error_nomem(err);
	if (!text_flush(&live->job->out))
		live->is_over = true; /* nobody reads on */
	return status;
}

/* ---- running ---- */

static enum tally_status trace_live_read_signals(struct trace_live *live, struct tally_error *err)
{
	struct signalfd_siginfo info;
	struct rusage usage;
	int exit_status;
	enum tally_status status = TALLY_OK;
	ssize_t n;
	while ((n = read(live->signal_fd, &info, sizeof(info))) == (ssize_t)sizeof(info))
		live->is_over |= info.ssi_signo != SIGCHLD;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return error_set_errno(err, TALLY_IO, errno, "signals cannot be received");
	if (live->child_is_started && !live->child_is_over)
		status = spawn_try_wait(&live->child, &live->child_is_over, &exit_status, &usage, err);
	live->is_over |= live->child_is_over;
	return status;
}

static int trace_live_wait_ms(const struct trace_live *live)
{
	uint64_t now = live->start_ns ? clock_ns() : 0;
	if (!live->start_ns || live->start_ns == UINT64_MAX)
		return WAIT_MS;
	return live->start_ns <= now ? 0 : (int)(MIN((live->start_ns - now) / 1000000 + 1, WAIT_MS));
}

enum tally_status trace_live_run(struct trace_live *live, struct tally_error *err)
{
	struct recorder *recorder = live->opening.recorder;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && !live->is_over && !live->job->is_over) {
		bool is_ready = false;
		status = recorder_wait(recorder, live->signal_fd, trace_live_wait_ms(live), &is_ready, err);
		if (status == TALLY_OK && is_ready)
			status = trace_live_read_signals(live, err);
		if (status == TALLY_OK && live->start_ns && live->start_ns != UINT64_MAX &&
			clock_ns() >= live->start_ns)
			status = trace_live_begin_measuring(live, err);
		live->is_over |= recorder_target_is_over(recorder);
		if (status == TALLY_OK && !live->is_over)
			status = trace_live_drain(live, false, err);
	}
	recorder_disable(recorder);
	if (status == TALLY_OK)
		status = trace_live_drain(live, true, err);
	if (status == TALLY_OK && live->program)
		status = trace_program_finish(live->program, err);
	if (status == TALLY_OK)
		trace_feed_finish(live->job);
	return status;
}

void trace_live_tell_losses(struct trace_live *live)
{
	const struct input_health *health = &live->job->source.pass.sideband.health;
	uint64_t lost = 0, damaged = health->damaged.count + live->merge.merge.damaged;
	size_t count;
	const struct recorder_source *sources = recorder_sources(live->opening.recorder, &count);
	for (size_t i = 0; i < count; i++)
		lost += recorder_lost(live->opening.recorder, &sources[i]);
	if (live->program)
		lost = MAX(lost, trace_program_lost_records(live->program));
	lost = MAX(lost, input_health_lost(health));
	if (lost > 0)
		cli_failf(live->job->cli,
			"warning: %llu events were lost because a ring was full: lines and counts are missing; try "
			"larger "
			"rings (-m %llu), fewer calls (-e), or only sums (-s)",
			(unsigned long long)lost,
			(unsigned long long)(2 * recorder_ring_bytes(live->opening.recorder) /
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
