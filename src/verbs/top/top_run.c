/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/top/top_run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/interrupts.h"
#include "cli/cli.h"
#include "tasks/sampling/live_opening.h"
#include "verbs/top/top_explore.h"
#include "verbs/top/top_json.h"
#include "verbs/top/top_text.h"

#define TOP_RUN_LOOK_MS 250 /* Maximum interval between checks of how full the profile is. */

struct top_run {
	const struct top_run_request *request;
	struct top_settings *settings;
	struct live_opening opening;
	struct top_view view;
	bool has_view;
	int signal_fd;
};

/* ---- running ---- */

/* Waits until due_ms or the end of the target. Returns false if a signal has arrived. */
static bool wait_until(struct top_run *run, int64_t due_ms, struct tally_error *err, enum tally_status *status)
{
	struct pollfd signals = {.fd = run->signal_fd, .events = POLLIN};
	int64_t left;
	unsigned interrupts = 0;
	*status = TALLY_OK;
	while (*status == TALLY_OK && (left = due_ms - clock_ms()) > 0 && !live_session_is_over(run->opening.session)) {
		int n = poll(&signals, 1, (int)(MIN(left, TOP_RUN_LOOK_MS)));
		if (n > 0)
			return false;
		if (n < 0 && !is_interrupted(&interrupts))
			*status = error_set_errno(err, TALLY_IO, errno, "cannot wait for the next refresh");
		else if (live_session_is_full(run->opening.session))
			*status = live_session_relieve(run->opening.session, err);
	}
	return true;
}

/* Writes the control sequence directly, because struct text escapes control characters. */
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
	bool is_terminal = isatty(STDOUT_FILENO) && !run->settings->is_json, goes_on = true;
	int64_t delay_ms = (int64_t)run->settings->delay_s * 1000, due_ms = clock_ms();
	enum tally_status status = TALLY_OK;
	struct text out = {0};
	text_to_fd(&out, STDOUT_FILENO);
	while (status == TALLY_OK && goes_on) {
		do /* Refreshes that are overdue are skipped. */
			due_ms += delay_ms;
		while (due_ms < clock_ms());
		goes_on = wait_until(run, due_ms, err, &status);
		goes_on &= !live_session_is_over(run->opening.session);
		if (status == TALLY_OK && run->settings->zeroes)
			status = live_session_zero(run->opening.session, err);
		if (status == TALLY_OK)
			status = live_session_refresh(run->opening.session, true, err);
		if (status == TALLY_OK)
			status = top_view_renew(&run->view, err);
		/* Each doubt is printed once, to standard error because the tables are on standard output. */
		for (const char *doubt; (doubt = top_view_doubt(&run->view));)
			cli_sayf("%s: warning: %s\n", run->request->cli->program, doubt);
		if (status == TALLY_OK)
			status = run->settings->is_json ? top_json_print(&run->view, &out, err)
							: top_text_print(&run->view, is_terminal, &out, err);
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
	run->signal_fd = live_opening_take_signals();
	if (run->signal_fd < 0)
		return cli_failf(run->request->cli, "signals cannot be received: %s", strerror(errno));
	enum tally_status status =
		top_view_init(&run->view, run->request->cli, run->settings, run->opening.session, &err);
	run->has_view = true;
	if (status == TALLY_OK && !run->request->is_interactive)
		live_opening_say_notes(&run->opening);
	if (status == TALLY_OK)
		status = run->request->is_interactive
				 ? top_explore(&run->view, &run->opening.diag, run->signal_fd, &err)
				 : run_text(run, &err);
	live_opening_say_notes(&run->opening);
	return status == TALLY_OK ? 0 : cli_fail(run->request->cli, &err);
}

int top_run(const struct top_run_request *request)
{
	struct top_settings *settings = request->settings;
	struct top_run run = {.request = request,
		.settings = settings,
		.opening = {.cli = request->cli,
			.command = request->command,
			.kernel = request->kernel,
			.settings = &settings->record,
			.rate = settings->rate,
			.argv = request->argv,
			.purpose = "showing"},
		.signal_fd = -1};
	int code = live_opening_open(&run.opening);
	if (code == 0)
		code = top_run_opened(&run);
	if (run.has_view)
		top_view_deinit(&run.view);
	if (run.signal_fd >= 0)
		close(run.signal_fd);
	live_opening_close(&run.opening);
	return code;
}
