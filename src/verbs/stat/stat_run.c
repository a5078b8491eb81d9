/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "kernel/counting/reading.h"
#include "kernel/counting/scaling.h"
#include "kernel/counting/scaling_error.h"
#include "kernel/counting/tool_counts.h"
#include "kernel/system/exec_stop.h"
#include "kernel/system/kernel_files.h"
#include "kernel/system/spawn.h"
#include "tasks/recording/record_control.h"
#include "verbs/stat/stat_record.h"
#include "verbs/stat/stat_rung.h"
#include "verbs/stat/stat_shared.h"

#define NS_PER_MS 1000000u
/* Interval at which targets that are not our children are checked for being alive. */
#define ALIVE_CHECK_NS (100u * NS_PER_MS)
#define FADING_SHARE   50 /* Reading targets that may end unnoticed takes at most 1/FADING_SHARE of the time. */

/* Delay of the first check whether the kernel removed the events at an exec. Each later check happens after three times
 * the time elapsed so far. */
#define CUT_OFF_LOOK_NS (20u * NS_PER_MS)
/* Events that the kernel removes at the command's first exec have been enabled for less than this time. */
#define CUT_OFF_MOST_NS (20u * NS_PER_MS)

#define WATCH_NS     (10u * NS_PER_MS) /* Interval between the readings that estimate the errors of scaled counts. */
#define WATCH_CELLS  16 /* For each WATCH_CELLS counters, WATCH_NS is added to the interval. */
#define WATCH_DOUBLE 256 /* Number of readings after which the interval doubles. */
#define WATCH_LEAST  4 /* Number of readings after which watching ends if no count is scaled. */

/* The state of one run. */
struct stat_measure {
	struct stat_session *session;
	struct counter_set *set;
	struct tool_counts *tools;
	struct stat_shared *shared; /* NULL if no event uses shared counters. */
	enum tally_status shared_status; /* The result of the most recent operation on the shared counters. */
	struct count **previous; /* Counts at the end of the previous interval, per event and cell. */
	struct spawn child;
	bool has_child;
	bool has_ended;
	bool has_no_signals; /* Set if signals could not be blocked; the end of the child is then polled. */
	struct rusage usage;
	/* A signalfd that is polled together with the control file; -1 if there is no control file, or it was
	 * closed. */
	int signal_fd;
	bool is_told_to_stop;
	/* One per event. NULL if no count can be scaled or the errors are not requested. */
	struct scaling_error *errors;
	/* The interval between readings, and the time of the next one (UINT64_MAX: none). */
	uint64_t watch_ns, watch_at_ns;
	unsigned watches;
	struct exec_sentinel sentinel; /* Detects that the kernel removed the events at an exec. */
	uint64_t cut_off_look_ns; /* Time of the next check of the sentinel. */
	bool was_looked_at;
	uint64_t fading_at_ns; /* Earliest time of the next reading of targets that may end unnoticed. */
	uint64_t start_ns, last_ns, end_ns;
	uint64_t intervals;
	stat_show_interval show;
	void *context;
	struct tally_error *err;
};

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static void signals_of_interest(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigaddset(signals, SIGCHLD);
}

static enum tally_status comms_read(struct stat_session *s, struct tally_error *err)
{
	size_t len = s->aggregation.len;
	s->comms = calloc(len ? len : 1, sizeof(*s->comms));
	if (!s->comms)
		return error_nomem(err);
	for (size_t i = 0; i < len; i++) {
		char *comm;
		if (kernel_text(s->kernel, &comm, NULL, "/proc/%d/comm", (int)s->aggregation.threads[i]) == TALLY_OK)
			s->comms[i] = comm;
		else
			s->comms[i] = strdup("?");
		if (!s->comms[i])
			return error_nomem(err);
	}
	return TALLY_OK;
}

/* Determines the aggregation and allocates the cells after the events are first opened. */
static enum tally_status stat_run_places_make(
	struct stat_session *s, const struct counter_set *set, struct tally_error *err)
{
	if (s->has_places)
		return TALLY_OK;
	enum aggregation_mode mode =
		s->job->settings.counting.target.per_thread ? AGGREGATE_THREAD : s->job->settings.counting.lines.mode;
	s->aggregation.cache_level = s->job->settings.counting.lines.cache_level;
	enum tally_status status = aggregation_make(s->kernel, set, mode, &s->aggregation, err);
	if (status != TALLY_OK)
		return status;
	s->has_places = true;
	size_t cells;
	if (__builtin_mul_overflow(s->events->len, s->aggregation.len, &cells))
		return error_nomem(err);
	s->cells = calloc(cells ? cells : 1, sizeof(*s->cells));
	s->interval_cells = calloc(cells ? cells : 1, sizeof(*s->interval_cells));
	s->sources = calloc(s->events->len + 1, sizeof(*s->sources));
	if (!s->cells || !s->interval_cells || !s->sources)
		return error_nomem(err);
	for (size_t i = 0; i < s->events->len; i++)
		if (stat_event_is_source(&s->events->specs[i]))
			s->sources[s->source_count++] = (uint32_t)i;
	return mode == AGGREGATE_THREAD ? comms_read(s, err) : TALLY_OK;
}

static enum tally_status support_note(struct stat_session *s, const struct counter_set *set, struct tally_error *err)
{
	if (s->wants_errors && !s->error_squares) {
		s->error_squares = calloc(s->events->len + 1, sizeof(*s->error_squares));
		if (!s->error_squares)
			return error_nomem(err);
	}
	if (!s->supported) {
		s->supported = calloc(s->events->len + 1, sizeof(*s->supported));
		s->reasons = calloc(s->events->len + 1, sizeof(*s->reasons));
		if (!s->supported || !s->reasons)
			return error_nomem(err);
	}
	for (size_t i = 0; i < set->len; i++) {
		const struct counter *counter = &set->counters[i];
		s->supported[i] |= counter_is_supported(counter);
		if (counter->reason && !s->reasons[i]) {
			s->reasons[i] = strdup(counter->reason);
			if (!s->reasons[i])
				return error_nomem(err);
		}
	}
	return TALLY_OK;
}

static enum tally_status tools_open(struct stat_measure *m)
{
	const struct stat_counting *counting = &m->session->job->settings.counting;
	struct tool_counts_options options = {
		.is_command = m->session->target->is_command,
		.is_whole_process = counting->target.pids && !counting->target.per_thread && !counting->no_inherit,
		.replaces_events = m->session->job->rung != NULL,
	};
	return tool_counts_create(m->set, &options, &m->tools, m->err);
}

static enum tally_status counters_open(struct stat_measure *m)
{
	struct stat_session *s = m->session;
	const struct stat_counting *counting = &s->job->settings.counting;
	struct counter_options options = {
		.inherit = !counting->no_inherit,
		.enable_on_exec = s->target->is_command && counting->delay_ms == 0,
		.may_drop_kernel = true,
		.opens_nothing = s->job->rung != NULL,
	};
	const struct stat_shared_place place = {counting->shared_path, counting->bpf_programs};
	enum tally_status status = counter_set_open(s->kernel, s->events, s->target, &options, &m->set, m->err);
	if (status == TALLY_OK)
		status = stat_run_places_make(s, m->set, m->err);
	if (status == TALLY_OK)
		status = tools_open(m);
	if (status == TALLY_OK)
		status = stat_shared_open(m->set, &place, &m->shared, m->err);
	if (status == TALLY_OK)
		status = support_note(s, m->set, m->err);
	if (s->record)
		s->record->origin = s->job->rung ? s->job->rung->origin : NULL;
	if (status == TALLY_OK && s->record)
		status = stat_record_begin(s->record, counting, m->set, m->err);
	if (status != TALLY_OK)
		return status;
	m->previous = calloc(m->set->len + 1, sizeof(*m->previous));
	if (s->wants_errors)
		m->errors = calloc(m->set->len + 1, sizeof(*m->errors));
	if (!m->previous || (s->wants_errors && !m->errors))
		return error_nomem(m->err);
	for (size_t i = 0; i < m->set->len; i++) {
		const struct counter *counter = &m->set->counters[i];
		size_t cells = counter->cpu_count * counter->thread_count;
		m->previous[i] = calloc(cells ? cells : 1, sizeof(struct count));
		if (!m->previous[i])
			return error_nomem(m->err);
	}
	return TALLY_OK;
}

static void measure_enable(struct stat_measure *m)
{
	tool_counts_enable(m->tools, clock_ns());
	counter_set_enable(m->set);
	m->shared_status = stat_shared_enable(m->shared, m->err);
}

static void measure_disable(struct stat_measure *m, uint64_t now)
{
	counter_set_disable(m->set);
	if (m->shared_status == TALLY_OK)
		m->shared_status = stat_shared_disable(m->shared, m->err);
	if (m->has_ended)
		tool_counts_end(m->tools, &m->usage);
	tool_counts_disable(m->tools, now);
}

/* Reads the tool events, the shared counters and the kernel's counters into the set. */
static enum tally_status measure_read(struct stat_measure *m, uint64_t now)
{
	tool_counts_read(m->tools, now);
	if (m->shared_status == TALLY_OK)
		m->shared_status = stat_shared_read(m->shared, m->err);
	return m->shared_status == TALLY_OK ? counter_set_read(m->set, m->err) : m->shared_status;
}

/* Adds the counts since the previous interval or since the start to the cells. */
static enum tally_status cells_add(struct stat_measure *m, struct stat_cell *cells, bool since_previous)
{
	struct stat_session *s = m->session;
	size_t places = s->aggregation.len;
	struct aggregate *results = calloc(places ? places : 1, sizeof(*results));
	if (!results)
		return error_nomem(m->err);
	for (size_t i = 0; i < m->set->len; i++) {
		aggregate_counter(&s->aggregation, &m->set->counters[i], since_previous ? m->previous[i] : NULL,
			s->job->settings.counting.is_scaling, results);
		for (size_t place = 0; place < places; place++) {
			struct stat_cell *cell = &cells[i * places + place];
			running_mean_add(&cell->value, (double)results[place].value);
			running_mean_add(&cell->running_ns, (double)results[place].raw.running_ns);
			running_mean_add(&cell->enabled_ns, (double)results[place].raw.enabled_ns);
			cell->cpu_count = results[place].cpu_count;
		}
	}
	free(results);
	return TALLY_OK;
}

static enum tally_status counts_record(struct stat_measure *m, bool is_final, uint64_t elapsed_ns)
{
	return m->session->record ? stat_record_round(m->session->record, m->set, is_final, elapsed_ns, m->err)
				  : TALLY_OK;
}

static enum tally_status interval_show(struct stat_measure *m, uint64_t now)
{
	struct stat_session *s = m->session;
	enum tally_status status = measure_read(m, now);
	if (status == TALLY_OK)
		status = counts_record(m, false, now - m->start_ns);
	if (status != TALLY_OK)
		return status;
	memset(s->interval_cells, 0, s->events->len * s->aggregation.len * sizeof(*s->interval_cells));
	status = cells_add(m, s->interval_cells, true);
	if (status != TALLY_OK)
		return status;
	struct stat_report report = stat_session_report(s);
	report.cells = s->interval_cells;
	report.runs = 1;
	report.wall_ns = (struct running_mean){0};
	running_mean_add(&report.wall_ns, (double)(now - m->last_ns));
	report.interval_s = (double)(now - m->start_ns) / 1e9;
	m->show(m->context, &report);
	for (size_t i = 0; i < m->set->len; i++) {
		const struct counter *counter = &m->set->counters[i];
		size_t cells = counter->cpu_count * counter->thread_count;
		memcpy(m->previous[i], counter->counts, cells * sizeof(struct count));
	}
	m->last_ns = now;
	m->intervals++;
	return TALLY_OK;
}

/* A zombie that its parent has not reaped counts as ended. */
static bool thread_is_alive(const struct kernel_seam *kernel, pid_t thread)
{
	char *text;
	if (kernel_text(kernel, &text, NULL, "/proc/%d/stat", (int)thread) != TALLY_OK)
		return false;
	/* The process name may contain ')' and spaces, so its end is the last ')'. */
	const char *name_end = strrchr(text, ')');
	bool is_alive = name_end && !strpbrk(name_end, "ZX");
	free(text);
	return is_alive;
}

static bool targets_are_alive(const struct stat_session *s)
{
	for (size_t i = 0; i < s->target->thread_count; i++)
		if (s->target->threads[i] == -1 || thread_is_alive(s->kernel, s->target->threads[i]))
			return true;
	return false;
}

static void commands_take(struct stat_measure *m)
{
	struct record_control *control = m->session->control;
	struct record_control_line line;
	if (!record_control_read(control)) {
		close(m->signal_fd); /* All writers have closed the control file. */
		m->signal_fd = -1;
		return;
	}
	while (record_control_next(control, &line)) {
		if (line.command == COMMAND_ENABLE) {
			measure_enable(m);
			fprintf(stderr, "Events enabled\n");
		} else if (line.command == COMMAND_DISABLE) {
			measure_disable(m, clock_ns());
			fprintf(stderr, "Events disabled\n");
		} else if (line.command == COMMAND_STOP) {
			m->is_told_to_stop = true;
		}
		if (line.command != COMMAND_UNKNOWN)
			record_control_acknowledge(control);
	}
}

/* Handles control commands until a signal is pending or the deadline has passed. The caller detects which. */
static void commands_wait(struct stat_measure *m, uint64_t deadline_ns)
{
	while (m->signal_fd >= 0 && !m->is_told_to_stop) {
		struct pollfd fds[] = {{.fd = m->signal_fd, .events = POLLIN},
			{.fd = m->session->control->control_fd, .events = POLLIN}};
		uint64_t now = clock_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
		struct timespec timeout = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
		if (ppoll(fds, 2, &timeout, NULL) <= 0 || fds[0].revents)
			return;
		commands_take(m);
	}
}

/* Waits for a signal of interest or the deadline. *number is the signal, or 0 at the deadline or if the wait ended
 * early. */
static enum tally_status signal_wait(struct stat_measure *m, uint64_t deadline_ns, siginfo_t *info, int *number)
{
	sigset_t signals;
	signals_of_interest(&signals);
	commands_wait(m, deadline_ns);
	*number = 0;
	if (m->is_told_to_stop)
		return TALLY_OK;
	uint64_t now = clock_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
	struct timespec timeout = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
	int got = sigtimedwait(&signals, info, &timeout);
	if (got > 0)
		*number = got;
	else if (errno == EINTR)
		/* Avoids a busy loop if a seccomp filter makes every sigtimedwait fail with EINTR. */
		(void)poll(NULL, 0, 1);
	else if (errno != EAGAIN)
		return error_set_errno(m->err, TALLY_IO, errno, "cannot wait for the end of what is measured");
	return TALLY_OK;
}

/* The terminal sends signals to the child as well. A signal that a process sent to tally alone is passed on. */
static void signal_take(struct stat_measure *m, int number, const siginfo_t *info)
{
	if (m->has_child && !m->has_ended) {
		if (info->si_code <= 0)
			kill(m->child.pid, number);
		else if (m->session->signal != 0)
			kill(m->child.pid, SIGTERM); /* A second signal means that the child ignored the first. */
	}
	m->session->signal = number;
}

static enum tally_status child_look(struct stat_measure *m)
{
	bool has_ended = false;
	tool_counts_look_last(m->tools);
	enum tally_status status =
		spawn_try_wait(&m->child, &has_ended, &m->session->command_status, &m->usage, m->err);
	if (status == TALLY_OK && has_ended) {
		m->has_ended = true;
		m->session->has_command_status = true;
		if (m->session->signal == 0)
			stat_failures_add(&m->session->failures, m->session->command_status);
	}
	return status;
}

uint64_t stat_next_deadline(uint64_t due_ns, uint64_t interval_ns, uint64_t now_ns)
{
	return now_ns < due_ns ? due_ns : due_ns + interval_ns * ((now_ns - due_ns) / interval_ns + 1);
}

static bool stat_run_is_counted(const struct counter *counter)
{
	return counter->spec->tool == TOOL_NONE && (counter->open_count > 0 || counter->spec->is_shared);
}

static struct count cells_sum(const struct counter *counter)
{
	struct count sum = {0};
	for (size_t i = 0; i < counter->cpu_count * counter->thread_count; i++) {
		sum.value += counter->counts[i].value;
		sum.enabled_ns += counter->counts[i].enabled_ns;
		sum.running_ns += counter->counts[i].running_ns;
	}
	return sum;
}

static void watch_start(struct stat_measure *m)
{
	uint64_t cells = 0;
	bool has_pmu = false;
	for (size_t i = 0; m->errors && i < m->set->len; i++) {
		const struct counter *counter = &m->set->counters[i];
		if (!stat_run_is_counted(counter))
			continue;
		cells += counter->cpu_count * counter->thread_count;
		has_pmu |= counter->spec->attr.type != EVENT_SOFTWARE && counter->spec->attr.type != EVENT_TRACEPOINT;
	}
	/* The interval between readings grows with the number of counters. It is 0 if no count can be scaled. */
	m->watch_ns = has_pmu ? WATCH_NS * (1 + cells / WATCH_CELLS) : 0;
	m->watch_at_ns = m->watch_ns ? m->start_ns + m->watch_ns : UINT64_MAX;
}

/* Stops watching once WATCH_LEAST readings have shown that no event is multiplexed. */
static void stat_run_watch(struct stat_measure *m, uint64_t now)
{
	bool is_scaled = false, is_early = true;
	if (++m->watches % WATCH_DOUBLE == 0)
		m->watch_ns *= 2;
	m->watch_at_ns = stat_next_deadline(m->watch_at_ns, m->watch_ns, now);
	if (counter_set_read(m->set, NULL) != TALLY_OK)
		return;
	for (size_t i = 0; i < m->set->len; i++) {
		if (!stat_run_is_counted(&m->set->counters[i]))
			continue;
		struct count sum = cells_sum(&m->set->counters[i]);
		scaling_error_add(&m->errors[i], (double)sum.value, (double)sum.running_ns);
		is_scaled |= count_is_scaled(sum);
		is_early &= m->errors[i].windows < WATCH_LEAST;
	}
	if (!is_scaled && !is_early)
		m->watch_at_ns = UINT64_MAX;
}

static void errors_add(struct stat_measure *m)
{
	for (size_t i = 0; m->errors && i < m->set->len; i++) {
		struct count sum = cells_sum(&m->set->counters[i]);
		double error = scaling_error_relative(
			&m->errors[i], (double)sum.value, (double)sum.enabled_ns, (double)sum.running_ns);
		m->session->error_squares[i] += error * error;
	}
}

static void cut_off_look(struct stat_measure *m, uint64_t now)
{
	m->was_looked_at = true;
	m->session->is_cut_off = exec_sentinel_is_cut_off(&m->sentinel);
	m->cut_off_look_ns = m->session->is_cut_off ? UINT64_MAX : now + 2 * (now - m->start_ns);
}

/* If the command ended before the first check of the sentinel, only the program's file shows whether the kernel
 * removed its events. */
static void cut_off_note(struct stat_measure *m)
{
	struct stat_session *s = m->session;
	struct text reason = {0};
	uint64_t enabled_ns = 0;
	if (!m->has_ended && !s->is_cut_off)
		cut_off_look(m, clock_ns());
	for (size_t i = 0; i < m->set->len; i++) {
		uint64_t ns =
			stat_run_is_counted(&m->set->counters[i]) ? cells_sum(&m->set->counters[i]).enabled_ns : 0;
		enabled_ns = MAX(ns, enabled_ns);
	}
	bool may_be_at_start =
		s->target->is_command && (s->is_cut_off || !m->was_looked_at) && enabled_ns < CUT_OFF_MOST_NS;
	if (may_be_at_start && exec_stop_explain(s->job->command[0], &reason)) {
		s->is_cut_off = s->was_cut_off_at_start = true;
		counter_set_drop_counts(m->set);
	}
	text_deinit(&reason);
}

/* Reads targets that may end unnoticed while they run, less often if a reading takes long. */
static void fading_read(struct stat_measure *m, uint64_t now)
{
	if (!tool_counts_fades(m->tools) || now < m->fading_at_ns)
		return;
	tool_counts_read(m->tools, now);
	m->fading_at_ns = clock_ns() + FADING_SHARE * (clock_ns() - now);
}

/* Waits until the command ends or the targets have exited, a control command stops the measurement, or the timeout or
 * the last interval has passed. A signal ends the wait only if there is no command. */
static enum tally_status wait_for_end(struct stat_measure *m)
{
	const struct stat_counting *counting = &m->session->job->settings.counting;
	uint64_t interval_ns = counting->interval_ms * NS_PER_MS;
	uint64_t timeout_ns = counting->timeout_ms ? m->start_ns + counting->timeout_ms * NS_PER_MS : UINT64_MAX;
	uint64_t next_ns = interval_ns ? m->start_ns + interval_ns : UINT64_MAX;
	bool watches_targets = !m->has_child && !m->session->target->is_system_wide;
	enum tally_status status = TALLY_OK;
	watch_start(m);
	m->cut_off_look_ns = m->sentinel.fd >= 0 ? m->start_ns + CUT_OFF_LOOK_NS : UINT64_MAX;
	while (status == TALLY_OK && !m->has_ended) {
		siginfo_t info;
		uint64_t looks_ns = MIN(m->watch_at_ns, m->cut_off_look_ns), ends_ns = MIN(next_ns, timeout_ns);
		uint64_t deadline = MIN(looks_ns, ends_ns), alive_ns = clock_ns() + ALIVE_CHECK_NS;
		if (watches_targets || m->has_no_signals || tool_counts_fades(m->tools))
			deadline = MIN(deadline, alive_ns);
		int number;
		status = signal_wait(m, deadline, &info, &number);
		if (status != TALLY_OK)
			break;
		uint64_t now = clock_ns();
		if (number != 0 && number != SIGCHLD) {
			signal_take(m, number, &info);
			if (!m->has_child)
				break;
		} else if (m->has_child) {
			status = child_look(m);
		}
		if (m->is_told_to_stop || now >= timeout_ns ||
			(number == 0 && watches_targets && !targets_are_alive(m->session)))
			break;
		if (now >= m->watch_at_ns)
			stat_run_watch(m, now);
		if (now >= m->cut_off_look_ns && !m->has_ended)
			cut_off_look(m, now);
		fading_read(m, now);
		if (status == TALLY_OK && now >= next_ns && !m->has_ended) {
			status = interval_show(m, now);
			next_ns = stat_next_deadline(next_ns, interval_ns, now);
			if (counting->interval_count && m->intervals >= counting->interval_count)
				break;
		}
	}
	return status;
}

/* Enables the events after the delay of -D; a negative delay never enables them here. */
static enum tally_status delay_wait(struct stat_measure *m)
{
	int64_t delay_ms = m->session->job->settings.counting.delay_ms;
	if (delay_ms == 0)
		return TALLY_OK;
	fprintf(stderr, "Events disabled\n");
	if (delay_ms < 0)
		return TALLY_OK;
	uint64_t deadline = clock_ns() + (uint64_t)delay_ms * NS_PER_MS;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && !m->has_ended && !m->is_told_to_stop && m->session->signal == 0) {
		siginfo_t info;
		int number;
		status = signal_wait(m, deadline, &info, &number);
		if (status != TALLY_OK || clock_ns() >= deadline)
			break;
		if (number != SIGCHLD && number != 0)
			signal_take(m, number, &info);
		else if (m->has_child)
			status = child_look(m);
	}
	measure_enable(m);
	fprintf(stderr, "Events enabled\n");
	return status;
}

/* Terminates a command that is still running after a timeout, the last interval or an error. */
static enum tally_status child_end(struct stat_measure *m)
{
	if (!m->has_child || m->has_ended)
		return TALLY_OK;
	kill(m->child.pid, SIGTERM);
	enum tally_status status = spawn_wait(&m->child, &m->session->command_status, &m->usage, m->err);
	m->has_ended = m->session->was_told_to_end = true;
	uint64_t wanted = m->session->job->settings.counting.interval_count;
	/* Like perf, tally does not report the command's signal after the last interval. */
	bool is_counted_out = wanted && m->intervals >= wanted;
	m->session->has_command_status = status == TALLY_OK && !is_counted_out;
	return status;
}

/* Adds the counts of this run to the list of per-run values. */
static enum tally_status run_values_add(struct stat_measure *m, uint64_t elapsed)
{
	struct stat_session *s = m->session;
	memset(s->interval_cells, 0, s->events->len * s->aggregation.len * sizeof(*s->interval_cells));
	enum tally_status status = cells_add(m, s->interval_cells, false);
	if (status != TALLY_OK)
		return status;
	struct stat_report report = stat_session_report(s);
	report.cells = s->interval_cells;
	report.wall_ns.mean = (double)elapsed;
	report.user_ns.mean = (double)timeval_ns(m->usage.ru_utime);
	report.system_ns.mean = (double)timeval_ns(m->usage.ru_stime);
	return stat_values_add(s->values, &report, m->err);
}

static enum tally_status totals_add(struct stat_measure *m)
{
	struct stat_session *s = m->session;
	uint64_t elapsed = m->end_ns - m->start_ns;
	double run_ns = (double)elapsed;
	if (s->run_len == s->run_cap && !vec_grow(&s->run_ns, &s->run_cap, sizeof(*s->run_ns), s->run_len + 1))
		return error_nomem(m->err);
	s->run_ns[s->run_len++] = run_ns;
	running_mean_add(&s->wall_ns, run_ns);
	running_mean_add(&s->user_ns, (double)timeval_ns(m->usage.ru_utime));
	running_mean_add(&s->system_ns, (double)timeval_ns(m->usage.ru_stime));
	enum tally_status status = cells_add(m, s->cells, false);
	bool is_data = !s->leaves_failures_out || stat_failures_is_success(s->command_status);
	return status == TALLY_OK && s->values && is_data ? run_values_add(m, elapsed) : status;
}

static enum tally_status stat_run_measure(struct stat_measure *m)
{
	struct stat_session *s = m->session;
	enum tally_status status = counters_open(m);
	if (status != TALLY_OK)
		return status;
	if (!s->target->is_command && !s->target->is_system_wide && !targets_are_alive(s))
		return error_set(m->err, TALLY_NOT_FOUND,
			"process or thread %d has ended already (it may still wait for its parent): nothing to count",
			(int)s->target->threads[0]);
	if (s->target->threads[0] > 0 && !s->job->rung)
		exec_sentinel_open(&m->sentinel, s->kernel, s->target->threads[0]);
	bool starts_now = s->job->settings.counting.delay_ms == 0 && !s->target->is_command;
	if (starts_now)
		counter_set_enable(m->set);
	m->start_ns = m->last_ns = clock_ns();
	if (s->job->settings.counting.delay_ms == 0)
		tool_counts_enable(m->tools, m->start_ns);
	if (s->job->settings.counting.delay_ms == 0)
		status = m->shared_status = stat_shared_enable(m->shared, m->err);
	if (status == TALLY_OK && m->has_child)
		status = spawn_start(&m->child, m->err);
	if (status == TALLY_OK)
		status = delay_wait(m);
	if (s->job->settings.counting.delay_ms > 0)
		m->start_ns = m->last_ns = clock_ns();
	if (status == TALLY_OK)
		status = wait_for_end(m);
	if (status != TALLY_OK)
		return status;
	m->end_ns = clock_ns();
	measure_disable(m, m->end_ns);
	if (s->job->settings.counting.interval_ms &&
		(!s->job->settings.counting.interval_count || m->intervals < s->job->settings.counting.interval_count))
		status = interval_show(m, m->end_ns);
	else
		status = measure_read(m, m->end_ns);
	errors_add(m);
	if (status == TALLY_OK && !s->job->rung)
		cut_off_note(m);
	if (status == TALLY_OK)
		status = child_end(m);
	if (status == TALLY_OK && !s->job->settings.counting.interval_ms)
		status = counts_record(m, true, m->end_ns - m->start_ns);
	return status == TALLY_OK ? totals_add(m) : status;
}

enum tally_status stat_run(
	struct stat_session *session, stat_show_interval show, void *context, struct tally_error *err)
{
	struct stat_measure m = {.session = session,
		.show = show,
		.context = context,
		.err = err,
		.signal_fd = -1,
		.sentinel = {.fd = -1}};
	sigset_t signals, before;
	enum tally_status status = TALLY_OK;
	signal(SIGCHLD, SIG_DFL);
	if (session->job->command) {
		status = spawn_create(session->job->command, &m.child, err);
		if (status != TALLY_OK)
			return status;
		m.has_child = true;
		if (session->target->is_command)
			session->target->threads[0] = m.child.pid;
	}
	signals_of_interest(&signals);
	m.has_no_signals = sigprocmask(SIG_BLOCK, &signals, &before) != 0;
	if (session->control)
		m.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	status = stat_run_measure(&m);
	if (status != TALLY_OK && m.has_child && !m.has_ended) {
		if (m.child.pid > 0 && m.child.go_fd < 0)
			kill(m.child.pid, SIGTERM);
		spawn_cancel(&m.child);
	}
	for (size_t i = 0; m.previous && i < m.set->len; i++)
		free(m.previous[i]);
	free(m.previous);
	free(m.errors);
	exec_sentinel_close(&m.sentinel);
	tool_counts_destroy(m.tools);
	session->shared_losses += stat_shared_losses(m.shared);
	stat_shared_close(m.shared);
	counter_set_close(m.set);
	if (m.signal_fd >= 0)
		close(m.signal_fd);
	const struct timespec now = {0, 0};
	/* Discards pending signals: restoring the mask would deliver them, and the run has ended. */
	while (sigtimedwait(&signals, NULL, &now) > 0)
		;
	if (!m.has_no_signals)
		sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

struct stat_report stat_session_report(const struct stat_session *s)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	bool is_on_any_cpu = s->target->cpu_count == 1 && s->target->cpus[0] == -1;
	return (struct stat_report){
		.events = s->events,
		.supported = s->supported,
		.reasons = s->reasons,
		.is_of_tasks = is_on_any_cpu && !s->target->is_system_wide,
		.cpu_limit = (unsigned)(cpus > 0 ? cpus : 0),
		.sources = s->sources,
		.source_count = s->source_count,
		.aggregation = &s->aggregation,
		.comms = s->comms,
		.cells = s->cells,
		.wall_ns = s->wall_ns,
		.user_ns = s->user_ns,
		.system_ns = s->system_ns,
		.has_usage = s->target->is_command,
		.runs = (unsigned)s->run_len,
		.merges_pmus = !s->job->settings.view.no_merge,
		.metrics = s->metrics,
		.origin = s->job->rung ? s->job->rung->origin : NULL,
		.has_thresholds = !s->job->settings.view.no_metric_threshold,
		.shows_core_threads = s->job->settings.view.shows_core_threads,
		.failures = &s->failures,
		.warnings = &s->warnings,
		.environment = s->environment,
		.benchmark = s->benchmark,
		.interval_s = -1,
	};
}

int stat_session_leave(const struct stat_session *session)
{
	/* Like perf, tally ends by the signal that ended the measurement, so that its parent sees the signal. */
	if (session->signal != 0) {
		signal(session->signal, SIG_DFL);
		raise(session->signal);
	}
	int status = session->command_status;
	if (!session->has_command_status)
		return session->gate_code;
	if (session->failures.failed && stat_failures_is_success(status))
		/* With -r, a failed run determines the exit code even if the last run succeeded. */
		status = session->failures.last_status;
	if (session->was_told_to_end && WIFSIGNALED(status))
		return 0;
	return spawn_exit_code(status);
}

void stat_session_deinit(struct stat_session *s)
{
	for (size_t i = 0; s->comms && i < s->aggregation.len; i++)
		free(s->comms[i]);
	for (size_t i = 0; s->reasons && i < s->events->len; i++)
		free(s->reasons[i]);
	free(s->comms);
	free(s->reasons);
	free(s->error_squares);
	free(s->supported);
	free(s->sources);
	free(s->cells);
	free(s->interval_cells);
	free(s->run_ns);
	diag_deinit(&s->warnings);
	aggregation_deinit(&s->aggregation);
}
