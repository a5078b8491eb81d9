/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/top/top_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "kernel/events/tracepoint_hold.h"
#include "tasks/recording/record_events.h"
#include "tasks/recording/record_plan.h"
#include "verbs/top/top_explore.h"
#include "verbs/top/top_text.h"

#define LOOK_MS 250 /* how often it is looked at how much has come in */

struct top_run {
	const struct top_run_request *request;
	struct top_settings *settings;
	struct record_plan plan;
	struct event_list events;
	struct tracepoint_hold hold;
	struct diag diag;
	struct record_request recording;
	struct top_session *session;
	struct top_view view;
	bool has_view;
	char user[16]; /* our own, where all CPUs are not to be had */
	int signal_fd;
};

static void top_run_say_notes(struct top_run *run)
{
	cli_print_diag(run->request->cli, &run->diag);
	diag_deinit(&run->diag);
	diag_init(&run->diag);
}

/* ---- opening ---- */

static void top_run_plan(struct top_run *run)
{
	struct record_plan *plan = &run->plan;
	*plan = record_plan_make(&run->settings->record);
	plan->attrs.rate = run->settings->rate;
	plan->attrs.fields.timestamp = plan->attrs.fields.cpu = true;
}

static struct record_request recording_of(struct top_run *run)
{
	const struct record_settings *s = &run->settings->record;
	return (struct record_request){.kernel = run->request->kernel,
		.is_live_view = true,
		.target = s->target,
		.plan = run->plan,
		.events = &run->events,
		.overwrites = s->overwrites,
		.store = symbol_options_of(run->request->cli, &(struct symbol_options){0}, NULL),
		.realtime_priority = s->realtime_priority,
		.map_timeout_ms = s->map_timeout_ms,
		.argv = run->request->argv,
		.diag = &run->diag};
}

static enum tally_status open_session(struct top_run *run, struct tally_error *err)
{
	struct text left_out = {0};
	enum tally_status status =
		tracepoint_hold_open(&run->hold, run->request->kernel, true, &run->events, &left_out, err);
	struct tally_str rest = {left_out.data, left_out.len}, line;

	while (status == TALLY_OK && str_next(&rest, '\n', &line) && line.len)
		diag_add(&run->diag, DIAG_NOTE, "%.*s", (int)line.len, line.data);
	text_deinit(&left_out);
	if (status == TALLY_OK)
		status = record_attrs_apply(&run->events, &run->plan.attrs, err);
	for (size_t i = 0; run->settings->record.overwrites && i < run->events.len; i++)
		run->events.specs[i].attr.flags |= ATTR_FLAG(ATTR_BIT_WRITE_BACKWARD);
	run->recording = recording_of(run);
	if (status == TALLY_OK)
		status = top_session_open(&run->recording, &run->session, err);
	tracepoint_hold_release(&run->hold);
	return status;
}

static int top_run_make_events(struct top_run *run)
{
	event_list_deinit(&run->events);
	return record_events_make(run->request->cli, run->request->command, run->request->kernel,
		&run->settings->record, &run->events, NULL);
}

/* Nobody asked for all CPUs by name: what may be had is better than nothing, as long as it is said. */
static bool may_take_own(const struct top_run *run, enum tally_status status, bool was_asked)
{
	return status == TALLY_DENIED && !was_asked && run->plan.attrs.is_system_wide &&
	       !run->settings->record.target.cpus;
}

static int open_own(struct top_run *run, const struct tally_error *why)
{
	struct target_request *t = &run->settings->record.target;
	struct tally_error err = {0};
	snprintf(run->user, sizeof(run->user), "%u", (unsigned)geteuid());
	t->user = run->user;
	t->system_wide = false;
	top_run_plan(run);
	int code = top_run_make_events(run);
	if (code != 0)
		return code;
	if (open_session(run, &err) != TALLY_OK)
		return cli_fail(run->request->cli, why);
	diag_add(&run->diag, DIAG_NOTE, "%s", why->text);
	diag_add(&run->diag, DIAG_NOTE, "showing your own processes, as with -u %s", run->user);
	return 0;
}

static int open_target(struct top_run *run)
{
	bool was_asked = run->settings->record.target.system_wide;
	struct tally_error err = {0};
	record_target_complete(&run->settings->record.target, false);
	top_run_plan(run);
	int code = top_run_make_events(run);
	if (code != 0)
		return code;
	enum tally_status status = open_session(run, &err);
	if (status == TALLY_OK)
		return 0;
	if (may_take_own(run, status, was_asked))
		return open_own(run, &err);
	top_run_say_notes(run);
	return cli_fail(run->request->cli, &err);
}

/* ---- running ---- */

static bool top_run_take_signals(struct top_run *run)
{
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) != 0)
		return false;
	run->signal_fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	return run->signal_fd >= 0;
}

/* False: a signal ended it. */
static bool wait_until(struct top_run *run, int64_t due_ms, struct tally_error *err, enum tally_status *status)
{
	struct pollfd signals = {.fd = run->signal_fd, .events = POLLIN};
	int64_t left;
	*status = TALLY_OK;
	while (*status == TALLY_OK && (left = due_ms - clock_ms()) > 0 && !top_session_is_over(run->session)) {
		int n = poll(&signals, 1, (int)(MIN(left, LOOK_MS)));
		if (n > 0)
			return false;
		if (n < 0 && errno != EINTR)
			*status = error_set_errno(err, TALLY_IO, errno, "cannot wait for the next refresh");
		else if (top_session_is_full(run->session))
			*status = top_session_relieve(run->session, err);
	}
	return true;
}

/* Beside the tables: on standard error, each once. */
static void say_doubts(struct top_run *run)
{
	for (const char *doubt; (doubt = top_view_doubt(&run->view));)
		fprintf(stderr, "%s: warning: %s\n", run->request->cli->program, doubt);
}

/* It is written by itself: in the text no such sequence is let through. */
static bool clear_screen(struct text *out)
{
	static const char clear[] = "\033[H\033[2J";
	ssize_t written = write(STDOUT_FILENO, clear, sizeof(clear) - 1);
	if (written < 0)
		out->write_errno = errno;
	return written >= 0;
}

static enum tally_status run_text(struct top_run *run, struct tally_error *err)
{
	bool is_terminal = isatty(STDOUT_FILENO), goes_on = true;
	int64_t delay_ms = (int64_t)run->settings->delay_s * 1000, due_ms = clock_ms();
	enum tally_status status = TALLY_OK;
	struct text out = {0};
	text_to_fd(&out, STDOUT_FILENO);
	while (status == TALLY_OK && goes_on) {
		do /* what was missed stays so */
			due_ms += delay_ms;
		while (due_ms < clock_ms());
		goes_on = wait_until(run, due_ms, err, &status);
		goes_on &= !top_session_is_over(run->session);
		if (status == TALLY_OK && run->settings->zeroes)
			status = top_session_zero(run->session, err);
		if (status == TALLY_OK)
			status = top_session_refresh(run->session, true, err);
		if (status == TALLY_OK)
			status = top_view_renew(&run->view, err);
		say_doubts(run);
		if (status == TALLY_OK)
			status = top_text_print(&run->view, is_terminal, &out, err);
		if (status == TALLY_OK && ((is_terminal && !clear_screen(&out)) || !text_flush(&out))) {
			goes_on = false;
			if (out.write_errno != EPIPE)
				status = error_set_errno(err, TALLY_IO, out.write_errno, "writing standard output");
		}
	}
	text_deinit(&out);
	return status;
}

static int top_run_opened(struct top_run *run)
{
	struct tally_error err = {0};
	if (!top_run_take_signals(run))
		return cli_failf(run->request->cli, "signals cannot be received: %s", strerror(errno));
	enum tally_status status = top_view_init(&run->view, run->request->cli, run->settings, run->session, &err);
	run->has_view = true;
	if (status == TALLY_OK && !run->request->is_interactive)
		top_run_say_notes(run);
	if (status == TALLY_OK)
		status = run->request->is_interactive ? top_explore(&run->view, &run->diag, run->signal_fd, &err)
						      : run_text(run, &err);
	top_run_say_notes(run);
	return status == TALLY_OK ? 0 : cli_fail(run->request->cli, &err);
}

int top_run(const struct top_run_request *request)
{
	struct top_run run = {.request = request, .settings = request->settings, .signal_fd = -1};
	diag_init(&run.diag);
	int code = open_target(&run);
	if (code == 0)
		code = top_run_opened(&run);
	if (run.has_view)
		top_view_deinit(&run.view);
	top_session_close(run.session);
	if (run.signal_fd >= 0)
		close(run.signal_fd);
	event_list_deinit(&run.events);
	diag_deinit(&run.diag);
	return code;
}
