/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/terminal/screen_load.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/helper_thread.h"
#include "view/tui/tui_line.h"

#define FIRST_BYTES ((size_t)1 << 20) /* Size of the first part of a recording that is shown. */
/* Each part is so many times as large as the previous one, and the whole recording at least so many times as large as
 * the last part. */
#define PART_STEP	     8
#define SCREEN_LOAD_FIRST_MS 40 /* A result that is ready within this time is shown at once, without progress. */

enum tally_status screen_load_init(struct screen_load *load, const struct screen_load_job *job, struct tally_error *err)
{
	*load = (struct screen_load){.job = job, .ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	if (load->ready_fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "eventfd");
	pthread_mutex_init(&load->mutex, NULL);
	return TALLY_OK;
}

/* ---- Worker thread ---- */

static void screen_load_notify(const struct screen_load *load)
{
	uint64_t one = 1;
	ssize_t written = write(load->ready_fd, &one, sizeof(one));
	(void)written; /* A failed write means that the counter is full, and so the descriptor is readable. */
}

static void *screen_load_exchange(struct screen_load *load, void *part)
{
	pthread_mutex_lock(&load->mutex);
	void *before = load->newest;
	load->newest = part;
	pthread_mutex_unlock(&load->mutex);
	return before;
}

void screen_load_put(struct screen_load *load, void *part)
{
	void *before = screen_load_exchange(load, part);
	if (before)
		load->job->destroy_part(before);
	screen_load_notify(load);
}

static void *screen_load_read(void *context)
{
	struct screen_load *load = context;
	const struct screen_load_job *job = load->job;
	for (size_t bytes = FIRST_BYTES; bytes <= job->bytes / PART_STEP; bytes *= PART_STEP)
		job->read_part(job->data, bytes);
	load->status = job->read_all(job->data, &load->progress, &load->error);
	pthread_mutex_lock(&load->mutex);
	load->is_done = true;
	pthread_mutex_unlock(&load->mutex);
	screen_load_notify(load);
	return NULL;
}

/* ---- Drawing thread ---- */

enum tally_status screen_load_start(struct screen_load *load, struct tally_error *err)
{
	enum tally_status status = tui_terminal_open(&load->terminal, err);
	if (status != TALLY_OK)
		return status;
	load->has_thread = helper_thread_create(&load->thread, screen_load_read, load);
	if (!load->has_thread)
		(void)screen_load_read(load);
	return TALLY_OK;
}

void screen_load_leave(struct screen_load *load, bool waits)
{
	tui_terminal_close(load->terminal);
	load->terminal = NULL;
	if (!waits)
		_exit(EXIT_SUCCESS);
}

enum tally_status screen_load_join(struct screen_load *load, enum tally_status status, struct tally_error *err)
{
	if (load->has_thread)
		pthread_join(load->thread, NULL);
	load->has_thread = false;
	if (status != TALLY_OK)
		return status;
	if (load->status != TALLY_OK && err)
		*err = load->error;
	return load->status;
}

void screen_load_deinit(struct screen_load *load)
{
	void *rest = screen_load_take(load);
	if (rest)
		load->job->destroy_part(rest);
	grid_deinit(&load->grid);
	pthread_mutex_destroy(&load->mutex);
	(void)close(load->ready_fd);
}

void *screen_load_take(struct screen_load *load)
{
	return screen_load_exchange(load, NULL);
}

bool screen_load_is_done(struct screen_load *load)
{
	pthread_mutex_lock(&load->mutex);
	bool is_done = load->is_done;
	pthread_mutex_unlock(&load->mutex);
	return is_done;
}

bool screen_load_is_over(struct screen_load *load)
{
	return load->leaves || screen_load_is_done(load);
}

static bool screen_load_has_part(struct screen_load *load)
{
	pthread_mutex_lock(&load->mutex);
	bool has_part = load->newest != NULL;
	pthread_mutex_unlock(&load->mutex);
	return has_part;
}

uint32_t screen_load_key(struct screen_load *load, int ms)
{
	uint64_t count;
	uint32_t key = tui_terminal_key_within(load->terminal, ms, load->ready_fd);
	ssize_t cleared = read(load->ready_fd, &count, sizeof(count));
	(void)cleared; /* It is no error if there is nothing to clear. */
	if (key == TUI_KEY_CTRL('l'))
		tui_terminal_redraw(load->terminal);
	return key;
}

void screen_load_tell(struct screen_load *load, struct text *out)
{
	struct progress_state state;
	unsigned rows, columns;
	tui_terminal_size(load->terminal, &rows, &columns);
	progress_look(&load->clock, &load->progress, &state);
	if (state.what)
		progress_line_text(out, &state, columns);
	else
		text_str(out, "reading the recording");
}

/* Draws a screen that shows only the progress. */
static enum tally_status screen_load_draw(struct screen_load *load, struct tally_error *err)
{
	struct grid *grid = &load->grid;
	struct text progress = {0};
	unsigned rows, columns;
	tui_terminal_size(load->terminal, &rows, &columns);
	screen_load_tell(load, &progress);
	bool is_drawn = !progress.failed && grid_resize(grid, rows, columns);
	if (is_drawn && grid->rows) {
		grid_clear(grid);
		tui_put_title(grid, str_from(load->job->path));
		tui_put_bottom(grid, (struct tally_str){progress.data, progress.len}, STR(" q:quit"));
	}
	text_deinit(&progress);
	if (!is_drawn)
		return error_nomem(err);
	tui_terminal_show(load->terminal, grid);
	return TALLY_OK;
}

/* A new part is only shown when the next frame is due, to avoid flicker. */
enum tally_status screen_load_wait(struct screen_load *load, struct tally_error *err)
{
	int64_t due_ms = clock_ms() + (load->has_waited ? SCREEN_EVERY_MS : SCREEN_LOAD_FIRST_MS);
	enum tally_status status = TALLY_OK;
	load->has_waited = true;
	while (status == TALLY_OK && !screen_load_is_over(load)) {
		int64_t left_ms = due_ms - clock_ms();
		uint32_t key = screen_load_key(load, left_ms > 0 ? (int)left_ms : 0);
		load->leaves = key == 'q' || key == TUI_KEY_CTRL('c') || key == TUI_KEY_CLOSED;
		if (load->leaves || (key == TUI_KEY_NONE && clock_ms() < due_ms))
			continue;
		if (screen_load_has_part(load))
			return TALLY_OK;
		status = screen_load_draw(load, err);
		due_ms = clock_ms() + SCREEN_EVERY_MS;
	}
	return status;
}
