/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_session.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/encode.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/progress_line.h"
#include "kernel/standin/standin.h"
#include "kernel/system/exec_stop.h"
#include "kernel/system/spawn.h"
#include "tasks/recording/record_commands.h"
#include "tasks/recording/record_opening.h"
#include "tasks/recording/record_output.h"
#include "tasks/recording/record_progress.h"
#include "tasks/recording/record_waits.h"
#include "tasks/recording/record_watch.h"

#define EVENTS_AT_ONCE 16

enum waiting { WAITS_FOR_SIGNAL, WAITS_FOR_CONTROL, WAITS_FOR_EVENT };

struct record_session_session {
	const struct record_request *request;
	struct record_summary *summary;
	struct record_opening opening;
	struct spawn child;
	bool has_child, child_is_started, child_is_over;
	struct record_output output;
	struct record_control control;
	struct record_watch *watch; /* NULL without --switch-output-event. */
	struct record_progress progress;
	int signal_fd, wait_fd; /* wait_fd is an epoll descriptor for signals, commands and events of watch. */
	size_t toggles_done; /* Number of entries of request->toggles_ms that have been applied. */
	int64_t started_ms;
	bool is_over, wants_switch, has_hung_up;
	uint64_t wakeups; /* Number of times that rings had data since the current file was opened. */
	sigset_t old_mask;
	bool has_mask;
};

static enum tally_status record_session_take_signals(struct record_session_session *s, struct tally_error *err)
{
	/* SIGPIPE is blocked, so that the command is ended before this process. SIGUSR2 is ignored unless it switches
	 * files. */
	const int ours[] = {SIGINT, SIGTERM, SIGCHLD, SIGPIPE, SIGUSR2, SIGHUP};
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
		struct sigaction action = {.sa_handler = SIG_DFL}, before;
		if (ours[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
			continue; /* Under nohup, the recording outlives its terminal. */
		action.sa_flags = ours[i] == SIGCHLD ? SA_NOCLDSTOP : 0; /* The stops of a child are not needed. */
		/* The kernel discards ignored signals instead of passing them to the signalfd. */
		sigaction(ours[i], &action, NULL);
		sigaddset(&mask, ours[i]);
	}
	if (sigprocmask(SIG_BLOCK, &mask, &s->old_mask) != 0)
		return error_set_errno(err, TALLY_IO, errno, "signals cannot be blocked");
	s->has_mask = true;
	s->signal_fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	return s->signal_fd >= 0 ? TALLY_OK : error_set_errno(err, TALLY_IO, errno, "signals cannot be received");
}

static enum tally_status look_at_child(struct record_session_session *s, struct tally_error *err)
{
	siginfo_t child = {0};
	if (!s->child_is_started)
		return TALLY_OK;
	if (waitid(P_PID, (id_t)s->child.pid, &child, WEXITED | WNOHANG | WNOWAIT) != 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot wait for '%s'", s->child.command);
	/* If this process traces the command, its stops are reported here, too. */
	if (child.si_pid && child.si_code != CLD_TRAPPED && child.si_code != CLD_STOPPED)
		s->child_is_over = s->is_over = true;
	return TALLY_OK;
}

static enum tally_status record_session_read_signals(struct record_session_session *s, struct tally_error *err)
{
	struct signalfd_siginfo info;
	enum tally_status status = TALLY_OK;
	ssize_t n = 0;
	while (status == TALLY_OK && (n = read(s->signal_fd, &info, sizeof(info))) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGUSR2) {
			s->wants_switch |= s->request->output.switches && s->request->output.switch_on_signal;
		} else if (info.ssi_signo == SIGCHLD) {
			status = look_at_child(s, err);
		} else {
			s->summary->signal = (int)info.ssi_signo;
			s->is_over = true;
		}
	}
	if (status == TALLY_OK && n < 0 && errno != EAGAIN && errno != EINTR)
		status = error_set_errno(err, TALLY_IO, errno, "signals cannot be received");
	return status;
}

static enum tally_status record_session_wait_for(
	struct record_session_session *s, int fd, enum waiting what, struct tally_error *err)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = what};
	if (fd < 0 || epoll_ctl(s->wait_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return TALLY_OK;
	return error_set_errno(err, TALLY_INVALID, errno, "the descriptor %d cannot be waited for", fd);
}

static enum tally_status open_waiting(struct record_session_session *s, struct tally_error *err)
{
	enum tally_status status = record_session_take_signals(s, err);
	if (status == TALLY_OK)
		status = record_control_open(&s->request->control, &s->control, err);
	if (status != TALLY_OK)
		return status;
	s->wait_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->wait_fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "waiting for signals");
	status = record_session_wait_for(s, s->signal_fd, WAITS_FOR_SIGNAL, err);
	return status == TALLY_OK ? record_session_wait_for(s, s->control.control_fd, WAITS_FOR_CONTROL, err) : status;
}

static enum tally_status resolve_target(struct record_session_session *s, struct tally_error *err)
{
	const struct record_request *q = s->request;
	enum tally_status status = record_opening_find(&s->opening, err);
	if (status != TALLY_OK || !q->command)
		return status;
	status = spawn_create(q->command, &s->child, err);
	if (status != TALLY_OK)
		return status;
	s->has_child = true;
	if (s->opening.target.is_command)
		s->opening.target.threads[0] = s->child.pid;
	return TALLY_OK;
}

static enum tally_status to_output(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct record_session_session *s = context;
	record_progress_count(&s->progress, slices, slice_count);
	return record_output_append(&s->output, slices, slice_count, err);
}

/* Sink for records that this process synthesizes, which the unwinder must see, too. */
static enum tally_status to_output_and_live(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct record_session_session *s = context;
	const struct record_sink sink = {to_output, s};
	if (s->request->files)
		record_files_look(s->request->files, slices, slice_count);
	return s->opening.live ? record_live_pass(s->opening.live, slices, slice_count, &sink, err)
			       : record_output_append(&s->output, slices, slice_count, err);
}

/* Passes the records about running processes to the unwinder if they are not written at the start, because it needs
 * them in any case. */
static enum tally_status learn_synthesized_state(struct record_session_session *s, struct tally_error *err)
{
	const struct record_request *q = s->request;
	const struct record_sink sink = {record_live_learn, s->opening.live};
	bool is_told = !q->describes_at_end && !q->synth.no_maps && !q->synth.no_tasks;
	return !s->opening.live || is_told ? TALLY_OK
					   : record_opening_describe(&s->opening, &sink, (struct record_synth){0},
						     !s->child_is_started, err);
}

/* Writes the records about running processes if they are due: before the samples, or with --tail-synthesize after
 * them. */
static enum tally_status describe_if_due(struct record_session_session *s, bool is_tail, struct tally_error *err)
{
	if (s->request->describes_at_end != is_tail)
		return TALLY_OK;
	const struct record_sink sink = {to_output_and_live, s};
	enum tally_status status =
		record_opening_describe(&s->opening, &sink, s->request->synth, !s->child_is_started, err);
	return status == TALLY_OK ? record_output_finish_round(&s->output, err) : status;
}

/* Waits are drained before the rings, so that the records that remain in the rings are newer; the last waits have
 * already been drained by finish_waits. */
static enum tally_status record_session_drain(
	struct record_session_session *s, bool is_last, uint64_t *bytes, struct tally_error *err)
{
	struct record_sink sink = {to_output, s};
	enum tally_status status =
		s->opening.waits && !is_last ? record_waits_drain(s->opening.waits, &sink, false, err) : TALLY_OK;
	if (status != TALLY_OK)
		return status;
	status = s->opening.live ? record_live_drain(s->opening.live, &sink, is_last, bytes, err)
				 : recorder_drain(s->opening.recorder, &sink, bytes, err);
	if (status != TALLY_OK || *bytes == 0 || (s->opening.live && record_live_is_holding(s->opening.live)))
		return status;
	return record_output_finish_round(&s->output, err);
}

/* Writes the contents of overwritable rings, and with --tail-synthesize the state of processes. */
static enum tally_status end_of_file(struct record_session_session *s, struct tally_error *err)
{
	struct record_sink sink = {to_output, s};
	uint64_t bytes = 0;
	enum tally_status status = TALLY_OK;
	if (s->request->overwrites)
		status = recorder_snapshot(s->opening.recorder, &sink, &bytes, err);
	if (status == TALLY_OK && bytes)
		status = record_output_finish_round(&s->output, err);
	return status == TALLY_OK ? describe_if_due(s, true, err) : status;
}

static enum tally_status switch_output(struct record_session_session *s, struct tally_error *err)
{
	enum tally_status status = end_of_file(s, err);
	s->wants_switch = false;
	if (status == TALLY_OK)
		record_announce(s->request, "[ %s record: dump data: Woken up %llu times ]", s->request->argv[0],
			(unsigned long long)s->wakeups);
	s->wakeups = 0;
	if (status == TALLY_OK)
		status = record_output_switch(&s->output, err);
	return status == TALLY_OK ? describe_if_due(s, false, err) : status;
}

static enum tally_status read_control(struct record_session_session *s, struct tally_error *err)
{
	struct record_commands commands = {s->request, s->opening.recorder, s->opening.waits, &s->control, false};
	bool is_open;
	enum tally_status status = record_commands_obey(&commands, &is_open, err);
	if (!is_open)
		(void)epoll_ctl(s->wait_fd, EPOLL_CTL_DEL, s->control.control_fd, NULL);
	s->is_over |= commands.wants_stop;
	return status;
}

static enum tally_status read_what_waits(struct record_session_session *s, struct tally_error *err)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	enum tally_status status = TALLY_OK;
	int n = epoll_wait(s->wait_fd, events, EVENTS_AT_ONCE, 0);
	if (n < 0) /* EINTR is impossible with a timeout of 0. */
		return error_set_errno(err, TALLY_IO, errno, "cannot look for signals (epoll_wait)");
	for (int i = 0; status == TALLY_OK && i < n; i++) {
		if (events[i].data.u32 == WAITS_FOR_SIGNAL)
			status = record_session_read_signals(s, err);
		else if (events[i].data.u32 == WAITS_FOR_CONTROL)
			status = read_control(s, err);
	}
	return status;
}

/* Enables and disables events at the times of --delay. */
static enum tally_status toggle_if_due(struct record_session_session *s, struct tally_error *err)
{
	const struct record_request *q = s->request;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && s->toggles_done < q->toggle_count &&
		clock_ms() - s->started_ms >= q->toggles_ms[s->toggles_done])
		status = record_set_running(q, s->opening.recorder, s->opening.waits, (struct tally_str){0},
			s->toggles_done++ % 2 == 0, err);
	return status;
}

static int timeout_ms(const struct record_session_session *s)
{
	const struct record_request *q = s->request;
	int timeout = record_output_timeout_ms(&s->output);
	int pause = s->opening.waits ? record_waits_pause_ms(s->opening.waits) : -1;
	if (pause >= 0)
		timeout = MIN(timeout, pause);
	if (s->toggles_done < q->toggle_count) {
		int64_t left = s->started_ms + q->toggles_ms[s->toggles_done] - clock_ms();
		if (left < timeout)
			timeout = left < 0 ? 0 : (int)left;
	}
	return record_progress_timeout_ms(&s->progress, timeout);
}

static void note_size(struct record_session_session *s)
{
	uint64_t bytes;
	bool is_full = record_output_is_full(&s->output, &bytes);
	record_progress_show(&s->progress, bytes);
	if (s->is_over || !is_full)
		return;
	s->is_over = true;
	record_announce(s->request, "[ %s record: size limit reached (%llu KB), stopping session ]",
		s->request->argv[0], (unsigned long long)bytes >> 10);
}

static enum tally_status record_session_explain(
	const struct record_session_session *s, enum tally_status status, struct tally_error *err)
{
	return status == TALLY_OK ? TALLY_OK : record_output_failure(&s->output, err);
}

/* Returns whether the target has ended. A command is awaited until it ends, even if its events have ended earlier. */
static bool target_is_over(struct record_session_session *s)
{
	if (!recorder_target_is_over(s->opening.recorder))
		return false;
	/* All events of the target have ended: with its threads, or before them at an exec (exec_stop.h). */
	const struct target *t = &s->opening.target;
	for (size_t i = 0; i < t->thread_count && !s->has_hung_up; i++)
		if (!thread_is_ending(s->request->kernel, t->threads[i]))
			s->summary->cut_off_thread = t->threads[i];
	s->has_hung_up = true;
	return !t->is_command || !s->child_is_started;
}

/* Waits for data in the rings, a signal or a command. Meanwhile it opens the files of new programs: some end before a
 * ring would be read. */
static enum tally_status wait_and_look(struct record_session_session *s, bool *is_ready, struct tally_error *err)
{
	struct recorder *recorder = s->opening.recorder;
	struct record_files *files = s->request->files;
	int64_t left = timeout_ms(s), until = clock_ms() + left;
	enum tally_status status = TALLY_OK;
	do {
		int pause = files ? record_files_pause_ms(files) : (int)left;
		status = recorder_wait(recorder, s->wait_fd, pause < left ? pause : (int)left, is_ready, err);
		if (status != TALLY_OK || !files)
			break;
		recorder_look(recorder);
		left = until - clock_ms();
	} while (!*is_ready && left > 0 && !recorder_has_news(recorder));
	return status;
}

static enum tally_status finish_waits(struct record_session_session *s, struct tally_error *err)
{
	const struct record_sink sink = {to_output, s};
	return record_waits_drain(s->opening.waits, &sink, true, err);
}

/* Records until the command or the target ends, or a signal arrives. */
static enum tally_status record_all(struct record_session_session *s, struct tally_error *err)
{
	uint64_t bytes;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && !s->is_over) {
		bool is_ready = false;
		status = wait_and_look(s, &is_ready, err);
		if (status == TALLY_OK)
			status = toggle_if_due(s, err);
		if (status == TALLY_OK && is_ready)
			status = read_what_waits(s, err);
		s->wants_switch |= s->watch && record_watch_has_come(s->watch);
		s->is_over |= target_is_over(s);
		if (status != TALLY_OK || s->is_over)
			break;
		status = record_session_drain(s, false, &bytes, err);
		if (status == TALLY_OK && s->output.threads)
			status = record_session_explain(s, record_threads_check(s->output.threads, err), err);
		s->wakeups += bytes > 0;
		note_size(s);
		if (status == TALLY_OK && !s->is_over && (s->wants_switch || record_output_wants_switch(&s->output)))
			status = switch_output(s, err);
	}
	progress_line_erase();
	if (s->child_is_started && !s->child_is_over)
		/* The command is ended now, because nothing is recorded of it any more. */
		(void)kill(s->child.pid, SIGTERM);
	if (status == TALLY_OK && s->output.threads)
		status = record_session_explain(s, record_threads_stop(s->output.threads, err), err);
	if (s->opening.waits) { /* Samples and waits end together here, and their remaining data is read later. */
		enum tally_status ended = record_waits_end(s->opening.waits, status == TALLY_OK ? err : NULL);
		status = status == TALLY_OK ? ended : status;
	}
	recorder_disable(s->opening.recorder);
	if (status == TALLY_OK && s->opening.waits)
		status = finish_waits(s, err);
	/* Writes the records that arrived after the worker threads had stopped and before events were disabled. */
	if (status == TALLY_OK && s->output.threads)
		status = record_session_explain(s, record_threads_stop(s->output.threads, err), err);
	do {
		if (status == TALLY_OK)
			status = record_session_drain(s, true, &bytes, err);
	} while (status == TALLY_OK && bytes);
	if (status == TALLY_OK)
		status = end_of_file(s, err);
	return status == TALLY_OK ? record_output_sync(&s->output, err) : status;
}

static void record_session_encode_lost(const struct record_session_session *s, const struct recorder_source *source,
	uint64_t lost, uint16_t misc, struct writer *w)
{
	struct record_layout layout = record_layout_make(&s->request->events->specs[source->event].attr, false);
	struct record_fields fields = {.type = RECORD_LOST_SAMPLES, .lost_samples = {lost}};
	struct sample_id id = {.id = source->id, .cpu = (uint32_t)source->cpu};
	record_encode(w, &fields, misc, &layout, &id);
}

/* Writes losses that are counted per event, not per source: they are attributed to the first open source of the
 * event. */
static void record_session_write_event_lost(
	const struct record_session_session *s, size_t event, uint64_t lost, uint16_t misc, struct writer *w)
{
	size_t count;
	const struct recorder_source *sources = recorder_sources(s->opening.recorder, &count);
	for (size_t i = 0; lost > 0 && i < count; i++)
		if (sources[i].event == event && sources[i].fd >= 0) {
			record_session_encode_lost(s, &sources[i], lost, misc, w);
			return;
		}
}

static void record_session_write_filtered(struct record_session_session *s, struct writer *w)
{
	for (size_t e = 0; e < s->request->events->len; e++) {
		uint64_t dropped = record_filters_dropped(s->opening.filters, e);
		record_session_write_event_lost(s, e, dropped, MISC_LOST_SAMPLES_BPF, w);
		s->summary->filtered_samples += dropped;
	}
}

static void record_session_write_lost_waits(const struct record_session_session *s, struct writer *w)
{
	if (!s->opening.waits)
		return;
	const struct off_cpu_losses losses = record_waits_losses(s->opening.waits);
	record_session_write_event_lost(
		s, record_waits_event(s->request->events), losses.waits + losses.threads + losses.switches, 0, w);
}

/* Writes a record for the losses of each event: the kernel emits LOST records only when a ring has room again. */
static enum tally_status write_lost(struct record_session_session *s, struct tally_error *err)
{
	size_t count;
	const struct recorder_source *sources = recorder_sources(s->opening.recorder, &count);
	struct writer w = {0};
	for (size_t i = 0; i < count; i++) {
		uint64_t lost = recorder_lost(s->opening.recorder, &sources[i]);
		if (lost > 0)
			record_session_encode_lost(s, &sources[i], lost, 0, &w);
		s->summary->lost_samples += lost;
	}
	record_session_write_filtered(s, &w);
	record_session_write_lost_waits(s, &w);
	enum tally_status status = w.failed ? error_nomem(err) : TALLY_OK;
	struct tally_bytes bytes = writer_view(&w);
	if (status == TALLY_OK && bytes.len)
		status = record_output_append(&s->output, &bytes, 1, err);
	writer_deinit(&w);
	return status;
}

static void record_session_end_child(struct record_session_session *s)
{
	struct rusage usage;
	if (!s->has_child)
		return;
	if (!s->child_is_started) {
		spawn_cancel(&s->child);
		return;
	}
	s->summary->has_child_status = spawn_wait(&s->child, &s->summary->child_status, &usage, NULL) == TALLY_OK;
}

static void note_what_is_open(const struct record_session_session *s)
{
	const struct event_list *events = s->request->events;
	size_t count;
	(void)recorder_sources(s->opening.recorder, &count);
	diag_add(s->request->diag, DIAG_NOTE,
		"%zu events on %zu CPUs and %zu threads: %zu open files, rings of %zu KiB", events->len,
		s->opening.target.cpu_count, s->opening.target.thread_count, count,
		recorder_ring_bytes(s->opening.recorder) / 1024);
	for (size_t i = 0; i < events->len; i++) {
		struct text t = {0};
		attr_print(&t, &events->specs[i].attr);
		diag_add(s->request->diag, DIAG_NOTE, "%s: %.*s", events->specs[i].name, (int)t.len,
			t.data ? t.data : "");
		text_deinit(&t);
	}
}

static enum tally_status record_session_take_priority(const struct record_session_session *s, struct tally_error *err)
{
	struct sched_param param = {.sched_priority = s->request->realtime_priority};
	if (param.sched_priority == 0 || sched_setscheduler(0, SCHED_FIFO, &param) == 0)
		return TALLY_OK;
	return error_set_errno(err, errno == EPERM ? TALLY_DENIED : TALLY_INVALID, errno,
		"Could not set realtime priority %d", param.sched_priority);
}

static enum tally_status start_watch(struct record_session_session *s, struct tally_error *err)
{
	const struct record_request *q = s->request;
	if (!q->switch_events || q->switch_events->len == 0)
		return TALLY_OK;
	enum tally_status status = record_watch_create(q->kernel, q->switch_events, q->diag, &s->watch, err);
	return status == TALLY_OK ? record_watch_add(s->watch, s->wait_fd, WAITS_FOR_EVENT, err) : status;
}

static enum tally_status record_session_start(struct record_session_session *s, struct tally_error *err)
{
	enum tally_status status = record_output_init(&s->output, s->request, err);
	if (status == TALLY_OK)
		status = resolve_target(s, err);
	if (status == TALLY_OK)
		status = open_waiting(s, err);
	if (status != TALLY_OK)
		return status;
	status = record_opening_open(&s->opening, err);
	if (status == TALLY_OK && s->request->is_verbose)
		note_what_is_open(s);
	if (status == TALLY_OK)
		status = start_watch(s, err);
	if (status == TALLY_OK && s->request->started)
		s->request->started(s->request->started_context);
	if (status == TALLY_OK)
		status = record_output_open(&s->output, s->opening.recorder, &s->opening.target, err);
	if (status == TALLY_OK)
		status = describe_if_due(s, false, err);
	if (status == TALLY_OK)
		status = learn_synthesized_state(s, err);
	if (status == TALLY_OK)
		status = record_session_take_priority(s, err);
	if (status == TALLY_OK && s->output.threads)
		status = record_threads_start(s->output.threads, err);
	if (status == TALLY_OK && s->opening.waits)
		status = record_waits_start(
			s->opening.waits, s->opening.recorder, s->request->plan.attrs.starts_disabled, err);
	s->started_ms = clock_ms();
	s->progress = record_progress_begin(s->request, s->opening.target.measured_count, !s->output.threads);
	if (status == TALLY_OK && s->request->plan.attrs.starts_disabled)
		record_announce(s->request, "Events disabled");
	else if (status == TALLY_OK)
		status = recorder_enable(s->opening.recorder, err);
	if (status == TALLY_OK && s->opening.waits && !s->request->plan.attrs.starts_disabled)
		status = record_waits_begin(s->opening.waits, err);
	if (status == TALLY_OK && s->has_child) {
		status = spawn_start(&s->child, err);
		s->child_is_started = status == TALLY_OK;
	}
	return status;
}

static void close_waiting(struct record_session_session *s)
{
	record_control_close(&s->control);
	if (s->wait_fd >= 0)
		close(s->wait_fd);
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	s->summary->signals_before = s->old_mask;
	s->summary->has_blocked = s->has_mask;
}

/* Discards pending signals: their only purpose was to end the recording. */
void record_session_unblock(struct record_summary *summary)
{
	const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	const struct timespec now = {0, 0};
	sigset_t mask;
	if (!summary->has_blocked)
		return;
	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		sigaddset(&mask, ends[i]);
	while (sigtimedwait(&mask, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, &summary->signals_before, NULL);
	summary->has_blocked = false;
}

static void record_session_note_walks(struct record_session_session *s)
{
	struct text lines = {0};
	if (s->opening.walks)
		record_walks_print(s->opening.walks, &lines);
	else if (s->opening.waits)
		record_python_print(record_waits_python(s->opening.waits), &lines);
	snprintf(s->summary->walk_losses, sizeof(s->summary->walk_losses), "%.*s", (int)lines.len,
		lines.len ? lines.data : "");
	text_deinit(&lines);
}

enum tally_status record_session_run(
	const struct record_request *request, struct record_summary *summary, struct tally_error *err)
{
	struct record_session_session s = {.request = request,
		.opening = {.request = request},
		.summary = summary,
		.signal_fd = -1,
		.wait_fd = -1,
		.control = {.control_fd = -1, .ack_fd = -1}};
	*summary = (struct record_summary){0};
	enum tally_status status = record_session_start(&s, err);
	bool was_started = status == TALLY_OK;
	s.output.is_recording = was_started;
	if (was_started) {
		status = record_all(&s, err);
		if (status == TALLY_OK)
			status = write_lost(&s, err);
	}
	if (request->standin)
		standin_release(request->standin);
	record_session_end_child(&s);
	if (was_started)
		record_announce(request, "[ %s record: Woken up %llu times to write data ]", request->argv[0],
			(unsigned long long)s.wakeups);
	if (was_started) { /* A recording that ended with an error still gets a complete file. */
		enum tally_status closed = record_output_finish(&s.output, summary, status == TALLY_OK ? err : NULL);
		status = status == TALLY_OK ? closed : status;
	} else {
		record_output_abandon(&s.output);
	}
	record_output_deinit(&s.output);
	if (s.opening.live)
		summary->live = record_live_summary(s.opening.live);
	if (s.opening.waits)
		summary->lost_waits = record_waits_losses(s.opening.waits);
	record_session_note_walks(&s);
	record_watch_destroy(s.watch);
	record_opening_close(&s.opening);
	close_waiting(&s);
	return status;
}
