/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/terminal/screen_work.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/helper_thread.h"
#include "view/tui/tui_line.h"

enum tally_status screen_work_init(struct screen_work *w, void (*run)(void *data), void *data, struct tally_error *err)
{
	*w = (struct screen_work){.run = run, .data = data, .ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	if (w->ready_fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "eventfd");
	pthread_mutex_init(&w->mutex, NULL);
	return TALLY_OK;
}

static void screen_work_notify(const struct screen_work *w)
{
	uint64_t one = 1;
	ssize_t written = write(w->ready_fd, &one, sizeof(one));
	(void)written; /* the counter is full: then it is readable */
}

static void *screen_work_run(void *context)
{
	struct screen_work *w = context;
	w->run(w->data);
	pthread_mutex_lock(&w->mutex);
	w->is_done = true;
	pthread_mutex_unlock(&w->mutex);
	screen_work_notify(w);
	return NULL;
}

void screen_work_start(struct screen_work *w)
{
	w->has_thread = helper_thread_create(&w->thread, screen_work_run, w);
	if (!w->has_thread)
		(void)screen_work_run(w);
}

void screen_work_join(struct screen_work *w)
{
	if (w->has_thread)
		pthread_join(w->thread, NULL);
	w->has_thread = false;
}

void screen_work_deinit(struct screen_work *w)
{
	pthread_mutex_destroy(&w->mutex);
	(void)close(w->ready_fd);
}

static void *screen_work_exchange(struct screen_work *w, void *part)
{
	pthread_mutex_lock(&w->mutex);
	void *before = w->newest;
	w->newest = part;
	pthread_mutex_unlock(&w->mutex);
	return before;
}

void *screen_work_put(struct screen_work *w, void *part)
{
	void *before = screen_work_exchange(w, part);
	screen_work_notify(w);
	return before;
}

void *screen_work_take(struct screen_work *w)
{
	return screen_work_exchange(w, NULL);
}

bool screen_work_is_done(struct screen_work *w)
{
	pthread_mutex_lock(&w->mutex);
	bool is_done = w->is_done;
	pthread_mutex_unlock(&w->mutex);
	return is_done;
}

uint32_t screen_work_key(struct screen_work *w, struct tui_terminal *terminal, int ms)
{
	uint64_t count;
	uint32_t key = tui_terminal_key_within(terminal, ms, w->ready_fd);
	ssize_t cleared = read(w->ready_fd, &count, sizeof(count));
	(void)cleared; /* nothing to clear is well, too */
	return key;
}

void screen_work_tell(struct screen_work *w, unsigned columns, struct text *out)
{
	struct progress_state state;
	progress_look(&w->clock, &w->progress, &state);
	if (state.what)
		progress_line_text(out, &state, columns);
	else
		text_str(out, "reading the recording");
}

enum tally_status screen_work_draw(struct screen_work *w, struct tui_terminal *terminal, struct grid *grid,
	const char *title, struct tally_error *err)
{
	struct text progress = {0};
	unsigned rows, columns;
	tui_terminal_size(terminal, &rows, &columns);
	screen_work_tell(w, columns, &progress);
	bool is_drawn = !progress.failed && grid_resize(grid, rows, columns);
	if (is_drawn && grid->rows) {
		grid_clear(grid);
		tui_put_title(grid, str_from(title));
		tui_put_bottom(grid, (struct tally_str){progress.data, progress.len}, STR(" q:quit"));
	}
	text_deinit(&progress);
	if (!is_drawn)
		return error_nomem(err);
	tui_terminal_show(terminal, grid);
	return TALLY_OK;
}
