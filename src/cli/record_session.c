#include "cli/record_session.h"
#include "abi/encode.h"
#include "base/error.h"
#include "cli/record_build_ids.h"
#include "cli/record_features.h"
#include "kernel/recording/initial_state.h"
#include "kernel/system/spawn.h"
#include "perfdata/writer.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SYNC_MS 250 /* what a killed recording may lose, beside what did not fit on its way */

struct session {
	const struct record_request *request;
	struct record_summary *summary;
	struct target target; /* whom to record */
	struct spawn child;
	bool has_child, child_is_started, child_is_over;
	struct recorder *recorder;
	struct perfdata_writer *writer;
	struct record_features features;
	bool has_features;
	int signal_fd;
	int pipe_fd; /* what standard output was; -1: the output is a file */
	int64_t synced_ms; /* when the file's header was last made current */
	sigset_t old_mask;
	bool has_mask;
};

static enum tally_status take_signals(struct session *s, struct tally_error *err)
{
	const int ours[] = {SIGINT, SIGTERM, SIGCHLD, SIGPIPE}; /* SIGPIPE: the command is to be ended first */
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		struct sigaction action = {.sa_handler = SIG_DFL};
		sigaction(ours[i], &action, NULL); /* an ignored signal would never reach the descriptor */
		sigaddset(&mask, ours[i]);
	}
	if (sigprocmask(SIG_BLOCK, &mask, &s->old_mask) != 0)
		return error_set_errno(err, TALLY_IO, errno, "signals cannot be blocked");
	s->has_mask = true;
	s->signal_fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	return s->signal_fd >= 0 ? TALLY_OK : error_set_errno(err, TALLY_IO, errno, "signals cannot be received");
}

/* True once the recording shall end. */
static bool read_signals(struct session *s)
{
	struct signalfd_siginfo info;
	bool ends = false;

	while (read(s->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGCHLD) {
			s->summary->signal = (int)info.ssi_signo;
			ends = true;
			continue;
		}
		siginfo_t child = {0};
		if (s->child_is_started &&
			waitid(P_PID, (id_t)s->child.pid, &child, WEXITED | WNOHANG | WNOWAIT) == 0 && child.si_pid) {
			s->child_is_over = true;
			ends = true;
		}
	}
	return ends;
}

static enum tally_status resolve_target(struct session *s, struct tally_error *err)
{
	const struct record_request *q = s->request;
	enum tally_status st = target_resolve(q->kernel, &q->target, &s->target, err);

	if (st == TALLY_OK && s->target.is_overriding)
		diag_add(q->diag, DIAG_WARNING, "PID/TID switch overriding %s", q->target.cpus ? "CPU" : "SYSTEM");
	if (st == TALLY_OK && !q->attrs.per_thread)
		st = target_spread_over_cpus(q->kernel, &s->target, err);
	if (st != TALLY_OK || !q->command)
		return st;
	st = spawn_create(q->command, &s->child, err);
	if (st != TALLY_OK)
		return st;
	s->has_child = true;
	if (s->target.is_command)
		s->target.threads[0] = s->child.pid;
	return TALLY_OK;
}

/* The stream has standard output for itself: the command writes to standard error instead, as under perf. */
static enum tally_status take_standard_output(struct session *s, struct tally_error *err)
{
	if (strcmp(s->request->output, "-") != 0)
		return TALLY_OK;
	s->pipe_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (s->pipe_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return error_set_errno(err, TALLY_IO, errno, "standard output cannot be written to");
	return TALLY_OK;
}

static struct recorder_config recorder_config(struct session *s)
{
	const struct record_request *q = s->request;
	struct recorder_config config = {.kernel = q->kernel,
		.events = q->events,
		.cpus = s->target.cpus,
		.cpu_count = s->target.cpu_count,
		.threads = s->target.threads,
		.thread_count = s->target.thread_count,
		.per_thread = q->attrs.per_thread,
		.keeps_kernel = q->attrs.all_kernel,
		.ring_bytes = q->ring_bytes,
		.diag = q->diag};

	return config;
}

static enum tally_status read_features(struct session *s, struct tally_error *err)
{
	const struct record_request *q = s->request;
	struct record_features_input input = {.kernel = q->kernel,
		.events = q->events,
		.argv = q->argv,
		.use_clockid = q->attrs.use_clockid,
		.clockid = q->attrs.clockid};

	input.sources = recorder_sources(s->recorder, &input.source_count);
	enum tally_status st = record_features_read(&input, &s->features, err);
	s->has_features = st == TALLY_OK;
	return st;
}

static enum tally_status add_events(struct session *s, struct tally_error *err)
{
	struct event_list *events = s->request->events;
	size_t source_count;
	const struct recorder_source *sources = recorder_sources(s->recorder, &source_count);
	enum tally_status st = TALLY_OK;

	for (size_t i = 0; st == TALLY_OK && i < events->len; i++) {
		uint64_t *ids;
		size_t count;
		st = record_event_ids(sources, source_count, (uint32_t)i, &ids, &count, err);
		if (st != TALLY_OK)
			return st;
		st = perfdata_writer_add_event(
			s->writer, &events->specs[i].attr, str_from(events->specs[i].name), ids, count, err);
		free(ids);
	}
	return st;
}

static enum tally_status open_output(struct session *s, struct tally_error *err)
{
	const struct record_request *q = s->request;
	enum tally_status st = s->pipe_fd >= 0 ? perfdata_writer_create_pipe(s->pipe_fd, &s->writer, err)
					       : perfdata_writer_create_file(q->output, true, &s->writer, err);

	if (st == TALLY_OK)
		st = add_events(s, err);
	if (st == TALLY_OK)
		st = read_features(s, err);
	if (st == TALLY_OK)
		st = perfdata_writer_begin(s->writer, &s->features.features, err);
	return st;
}

static enum tally_status to_writer(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct session *s = context;

	enum tally_status st = perfdata_writer_append(s->writer, slices, slice_count, err);

	return st == TALLY_OK ? TALLY_OK
			      : error_prefix(err, "'%s' has all that was recorded so far", s->request->output);
}

static enum tally_status describe_target(struct session *s, struct initial_state *state, struct tally_error *err)
{
	const struct target *t = &s->target;
	enum tally_status st = TALLY_OK;

	if (t->is_system_wide)
		return initial_state_all(state, err);
	if (t->is_command)
		return initial_state_comm(state, t->threads[0], err);
	for (size_t i = 0; st == TALLY_OK && i < t->thread_count; i++)
		st = initial_state_process(state, t->threads[i], err);
	return st;
}

static enum tally_status describe_all(struct session *s, struct initial_state *state, struct tally_error *err)
{
	const struct record_request *q = s->request;
	struct recorder_config config = recorder_config(s);
	struct ring_clock clock;
	size_t count;
	const struct recorder_source *sources = recorder_sources(s->recorder, &count);
	enum tally_status st = initial_state_id_index(state, sources, count, err);

	if (st == TALLY_OK && recorder_clock(s->recorder, &clock))
		st = initial_state_time_conv(state, &clock, err);
	if (st == TALLY_OK && !q->no_initial_state)
		st = initial_state_kernel(state, err);
	if (st == TALLY_OK)
		st = initial_state_thread_map(state, config.threads, config.thread_count, err);
	if (st == TALLY_OK)
		st = initial_state_cpu_map(state, config.cpus, config.cpu_count, err);
	if (st == TALLY_OK && !q->no_initial_state)
		st = describe_target(s, state, err);
	if (st == TALLY_OK)
		st = initial_state_finished(state, err);
	return st == TALLY_OK ? initial_state_flush(state, err) : st;
}

static enum tally_status write_initial_state(struct session *s, struct tally_error *err)
{
	const struct event_list *events = s->request->events;
	struct record_layout layout = record_layout_make(&events->specs[record_attrs_tracking(events)].attr, false);
	struct record_sink sink = {to_writer, s};
	struct initial_state state;

	initial_state_init(&state, s->request->kernel, &layout, &sink);
	state.with_data_maps = ATTR_HAS(&events->specs[record_attrs_tracking(events)].attr, MMAP_DATA);
	enum tally_status st = describe_all(s, &state, err);
	initial_state_deinit(&state);
	return st == TALLY_OK ? perfdata_writer_sync(s->writer, err) : st;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum tally_status drain(struct session *s, uint64_t *bytes, struct tally_error *err)
{
	struct record_sink sink = {to_writer, s};
	enum tally_status st = recorder_drain(s->recorder, &sink, bytes, err);

	if (st == TALLY_OK && *bytes)
		st = perfdata_writer_finish_round(s->writer, err);
	if (st == TALLY_OK && now_ms() - s->synced_ms >= SYNC_MS) {
		s->synced_ms = now_ms();
		st = perfdata_writer_sync(s->writer, err);
	}
	return st;
}

static bool has_enough(const struct session *s)
{
	return s->request->max_bytes && perfdata_writer_data_bytes(s->writer) >= s->request->max_bytes;
}

static void announce(const struct session *s, const char *text)
{
	if (s->request->announce)
		s->request->announce(text);
}

/* Until the command or the target ends, or a signal comes. */
static enum tally_status record_all(struct session *s, struct tally_error *err)
{
	bool waits_to_enable = s->request->attrs.starts_disabled && s->request->delay_ms > 0;
	int64_t enable_at = now_ms() + s->request->delay_ms;
	bool is_over = false;
	uint64_t bytes;
	enum tally_status st = TALLY_OK;

	while (st == TALLY_OK && !is_over) {
		bool signalled = false;
		int timeout = SYNC_MS;
		if (waits_to_enable) {
			int64_t left = enable_at - now_ms();
			timeout = left < 0 ? 0 : left < SYNC_MS ? (int)left : SYNC_MS;
		}
		st = recorder_wait(s->recorder, s->signal_fd, timeout, &signalled, err);
		if (st == TALLY_OK && waits_to_enable && now_ms() >= enable_at) {
			waits_to_enable = false;
			st = recorder_enable(s->recorder, err);
			announce(s, "Events enabled");
		}
		is_over = (signalled && read_signals(s)) || recorder_target_is_over(s->recorder) || has_enough(s);
		s->summary->wakeups++;
		if (st == TALLY_OK && !is_over)
			st = drain(s, &bytes, err);
	}
	recorder_disable(s->recorder);
	do {
		if (st == TALLY_OK)
			st = drain(s, &bytes, err);
	} while (st == TALLY_OK && bytes);
	return st;
}

/* What the kernel dropped per event, as records of our own: LOST records only come when a ring has room again. */
static enum tally_status write_lost(struct session *s, struct tally_error *err)
{
	size_t count;
	const struct recorder_source *sources = recorder_sources(s->recorder, &count);
	struct writer w = {0};

	for (size_t i = 0; i < count; i++) {
		uint64_t lost = recorder_lost(s->recorder, &sources[i]);
		if (lost == 0)
			continue;
		const struct perf_attr *attr = &s->request->events->specs[sources[i].event].attr;
		struct record_layout layout = record_layout_make(attr, false);
		struct record_fields fields = {.type = RECORD_LOST_SAMPLES, .lost_samples = {lost}};
		struct sample_id id = {.id = sources[i].id, .cpu = (uint32_t)sources[i].cpu};
		record_encode(&w, &fields, 0, &layout, &id);
		s->summary->lost_samples += lost;
	}
	enum tally_status st = w.failed ? error_nomem(err) : TALLY_OK;
	struct tally_bytes bytes = writer_view(&w);
	if (st == TALLY_OK && bytes.len)
		st = perfdata_writer_append(s->writer, &bytes, 1, err);
	writer_deinit(&w);
	return st;
}

static bool is_regular_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static enum tally_status finish_file(struct session *s, struct tally_error *err)
{
	const struct record_request *q = s->request;
	struct perfdata_features *features = &s->features.features;
	struct record_build_ids ids = {0};
	bool can_read_back = s->pipe_fd < 0 && is_regular_file(q->output);
	enum tally_status st = TALLY_OK;

	s->summary->bytes = perfdata_writer_data_bytes(s->writer);
	if (can_read_back && !q->no_build_ids) {
		st = perfdata_writer_sync(s->writer, err);
		if (st == TALLY_OK)
			st = record_build_ids_read(q->output, q->all_build_ids, &ids, err);
		if (st != TALLY_OK)
			return st;
		s->summary->has_samples = !q->all_build_ids;
		s->summary->samples = ids.samples;
		s->summary->lost_events = ids.lost_events;
		features->build_ids = ids.items;
		features->build_id_count = ids.len;
		if (ids.len)
			record_features_add(features, FEATURE_BUILD_ID);
	}
	features->first_sample_time_ns = ids.first_ns;
	features->last_sample_time_ns = ids.last_ns;
	if (ids.samples)
		record_features_add(features, FEATURE_SAMPLE_TIME);
	st = perfdata_writer_close(s->writer, features, err);
	s->summary->is_written = st == TALLY_OK;
	record_build_ids_deinit(&ids);
	return st;
}

static void end_child(struct session *s)
{
	struct rusage usage;

	if (!s->has_child)
		return;
	if (!s->child_is_started) {
		spawn_cancel(&s->child);
		return;
	}
	if (!s->child_is_over)
		kill(s->child.pid, SIGTERM);
	s->summary->has_child_status = spawn_wait(&s->child, &s->summary->child_status, &usage, NULL) == TALLY_OK;
}

static void note_what_is_open(const struct session *s)
{
	const struct event_list *events = s->request->events;
	size_t count;

	(void)recorder_sources(s->recorder, &count);
	diag_add(s->request->diag, DIAG_NOTE,
		"%zu events on %zu CPUs and %zu threads: %zu open files, rings of %zu KiB", events->len,
		s->target.cpu_count, s->target.thread_count, count, recorder_ring_bytes(s->recorder) / 1024);
	for (size_t i = 0; i < events->len; i++) {
		struct text t = {0};
		attr_print(&t, &events->specs[i].attr);
		diag_add(s->request->diag, DIAG_NOTE, "%s: %.*s", events->specs[i].name, (int)t.len,
			t.data ? t.data : "");
		text_deinit(&t);
	}
}

static enum tally_status start(struct session *s, struct tally_error *err)
{
	struct recorder_config config;
	enum tally_status st = take_standard_output(s, err);

	if (st == TALLY_OK)
		st = resolve_target(s, err);
	if (st == TALLY_OK)
		st = take_signals(s, err);
	if (st != TALLY_OK)
		return st;
	config = recorder_config(s);
	st = recorder_create(&config, &s->recorder, err);
	if (st == TALLY_OK && s->request->is_verbose)
		note_what_is_open(s);
	if (st == TALLY_OK && s->request->started)
		s->request->started(s->request->started_context);
	if (st == TALLY_OK)
		st = open_output(s, err);
	if (st == TALLY_OK)
		st = write_initial_state(s, err);
	if (st == TALLY_OK && s->request->attrs.starts_disabled)
		announce(s, "Events disabled");
	else if (st == TALLY_OK)
		st = recorder_enable(s->recorder, err);
	if (st == TALLY_OK && s->has_child) {
		st = spawn_start(&s->child, err);
		s->child_is_started = st == TALLY_OK;
	}
	return st;
}

enum tally_status record_session_run(
	const struct record_request *request, struct record_summary *summary, struct tally_error *err)
{
	struct session s = {.request = request, .summary = summary, .signal_fd = -1, .pipe_fd = -1};

	*summary = (struct record_summary){0};
	enum tally_status st = start(&s, err);
	bool was_started = st == TALLY_OK;
	if (was_started) {
		st = record_all(&s, err);
		if (st == TALLY_OK)
			st = write_lost(&s, err);
	}
	end_child(&s);
	if (was_started) { /* a recording that broke off keeps what it has */
		enum tally_status closed = finish_file(&s, st == TALLY_OK ? err : NULL);
		st = st == TALLY_OK ? closed : st;
	} else if (s.writer && s.pipe_fd < 0) {
		if (is_regular_file(request->output)) /* never a device that was there before */
			unlink(request->output);
	}
	perfdata_writer_destroy(s.writer);
	if (s.has_features)
		record_features_deinit(&s.features);
	recorder_destroy(s.recorder);
	target_deinit(&s.target);
	if (s.signal_fd >= 0)
		close(s.signal_fd);
	if (s.pipe_fd >= 0)
		close(s.pipe_fd);
	if (s.has_mask)
		sigprocmask(SIG_SETMASK, &s.old_mask, NULL);
	return st;
}
