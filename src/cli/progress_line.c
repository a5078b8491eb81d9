/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress_line.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/helper_thread.h"
#include "cli/output_terminal.h"

#define FIRST_MS   300
#define EVERY_MS   100
#define WIDTH_ELSE 80
#define CLEAR_LINE "\r\033[K"

/* Estimates from a shorter time fluctuate too much. */
#define ESTIMATE_FROM_SECONDS 0.2

static void progress_line_add_bytes(struct text *t, uint64_t bytes)
{
	text_fixed(t, (double)bytes / 1e6, 1);
	text_str(t, " MB");
}

void progress_line_text(struct text *t, const struct progress_state *s, unsigned width)
{
	size_t start = t->len;
	text_str(t, s->what);
	if (s->total > 0) {
		uint64_t done = MIN(s->done, s->total);
		double share = (double)done / (double)s->total;
		text_str(t, ": ");
		text_u64(t, (uint64_t)(100 * share));
		text_str(t, " % of ");
		progress_line_add_bytes(t, s->total);
		if (s->seconds >= ESTIMATE_FROM_SECONDS && done > 0) {
			text_str(t, ", ");
			text_fixed(t, s->seconds * (1 - share) / share, 1);
			text_str(t, " s left");
		}
	} else if (s->done > 0) {
		text_str(t, ": ");
		progress_line_add_bytes(t, s->done);
	}
	if (!t->failed && t->len - start > width)
		t->len = start + width;
}

unsigned progress_line_width(void)
{
	struct winsize size;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : WIDTH_ELSE;
}

static atomic_bool is_drawn; /* Set while the terminal shows the line. */

void progress_line_put(struct tally_str line)
{
	struct text t = {0};
	pid_t foreground = tcgetpgrp(STDERR_FILENO);
	if (foreground > 0 && foreground != getpgrp())
		return; /* Another process group is in the foreground. */
	text_str(&t, CLEAR_LINE);
	text_bytes(&t, line.data, line.len);
	/* A write error is ignored, because the line is only useful now. */
	if (!t.failed && write(STDERR_FILENO, t.data, t.len) > 0)
		atomic_store(&is_drawn, line.len > 0);
	text_deinit(&t);
}

void progress_line_erase(void)
{
	if (atomic_load(&is_drawn))
		progress_line_put((struct tally_str){0});
}

/* Returns true if the thread has been requested to end. */
static bool wait_ms(struct progress_line *line, long ms)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&line->mutex);
	while (!line->is_ending && pthread_cond_timedwait(&line->ending, &line->mutex, &until) != ETIMEDOUT)
		;
	bool is_ending = line->is_ending;
	pthread_mutex_unlock(&line->mutex);
	return is_ending;
}

void progress_look(struct progress_clock *clock, const struct progress *progress, struct progress_state *state)
{
	unsigned step = atomic_load(&progress->step);
	if (step != clock->step || clock->begun_ms == 0)
		clock->begun_ms = clock_ms();
	clock->step = step;
	*state = (struct progress_state){.what = atomic_load(&progress->what),
		.done = atomic_load(&progress->done),
		.total = atomic_load(&progress->total),
		.seconds = (double)(clock_ms() - clock->begun_ms) / 1000};
}

static void *progress_line_show(void *context)
{
	struct progress_line *line = context;
	struct text t = {0};
	struct progress_clock clock = {0};
	struct progress_state state;
	progress_look(&clock, &line->progress, &state);
	for (long wait = FIRST_MS; !wait_ms(line, wait); wait = EVERY_MS) {
		progress_look(&clock, &line->progress, &state);
		if (!state.what)
			continue;
		text_clear(&t);
		/* The last column stays empty, because some terminals wrap after it. */
		progress_line_text(&t, &state, progress_line_width() - 1);
		progress_line_put((struct tally_str){t.data, t.failed ? 0 : t.len});
	}
	progress_line_erase();
	text_deinit(&t);
	return NULL;
}

static bool is_screen_on; /* Global, because a process has one terminal. Set while a full-screen interface is active. */

void progress_line_hide(bool is_hidden)
{
	is_screen_on = is_hidden;
}

void progress_line_start(struct progress_line *line)
{
	*line = (struct progress_line){.is_on = false};
	if (is_screen_on || isatty(STDERR_FILENO) != 1 || !terminal_has_controls())
		return;
	pthread_condattr_t clock;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_mutex_init(&line->mutex, NULL);
	pthread_cond_init(&line->ending, &clock);
	pthread_condattr_destroy(&clock);
	line->is_on = helper_thread_create(&line->thread, progress_line_show, line);
}

void progress_line_stop(struct progress_line *line)
{
	if (!line->is_on)
		return;
	pthread_mutex_lock(&line->mutex);
	line->is_ending = true;
	pthread_cond_signal(&line->ending);
	pthread_mutex_unlock(&line->mutex);
	pthread_join(line->thread, NULL);
	pthread_cond_destroy(&line->ending);
	pthread_mutex_destroy(&line->mutex);
	line->is_on = false;
}

enum tally_status progress_line_replay(struct perfdata_reader *reader, struct binary_store *store,
	struct replay_options *options, struct replay_result *result, struct tally_error *err)
{
	struct progress_line line;
	progress_line_start(&line);
	options->progress = &line.progress;
	enum tally_status status = replay_profile(reader, store, options, result, err);
	progress_line_stop(&line);
	options->progress = NULL;
	return status;
}
