/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen_work.h - runs long work in its own thread while a screen shows its progress and its partial results.
 *
 * The worker puts complete partial results; the drawing thread takes them, and owns them from then on. The drawing
 * thread receives all signals, except those of the worker's own faults. The struct must not be moved.
 *
 *	screen_work_init(&work, read_all, &mine, err);
 *	screen_work_start(&work);
 *	while (!screen_work_is_done(&work)) {
 *		key = screen_work_key(&work, terminal, 100);
 *		if ((part = screen_work_take(&work)) != NULL) ...
 *	}
 *	screen_work_join(&work);  screen_work_deinit(&work);  // the worker's own results are there now
 */
#ifndef TASKS_TERMINAL_SCREEN_WORK_H
#define TASKS_TERMINAL_SCREEN_WORK_H

#include <pthread.h>

#include "cli/progress_line.h"
#include "tasks/terminal/tui_terminal.h"

#define SCREEN_FIRST_BYTES ((size_t)1 << 20) /* of a recording, that are shown first */
#define SCREEN_PART_STEP   8 /* the next part is so many times as long, and the whole at least that */
#define SCREEN_EVERY_MS	   100 /* how often progress is drawn, and parts are taken */

struct screen_work {
	struct progress progress; /* the worker's to add to */

	/* The rest is screen_work.c's. */
	pthread_t thread;
	bool has_thread;
	int ready_fd; /* readable when the worker has something */
	pthread_mutex_t mutex; /* of these */
	void *newest;
	bool is_done;

	struct progress_clock clock;
	void (*run)(void *data);
	void *data;
};

TALLY_MUST_CHECK enum tally_status screen_work_init(
	struct screen_work *work, void (*run)(void *data), void *data, struct tally_error *err);
/* Where no thread can be had it is all done on return. */
void screen_work_start(struct screen_work *work);
void screen_work_join(struct screen_work *work);
void screen_work_deinit(struct screen_work *work);

/* The worker's. Gives back the part before, if it was not taken. */
TALLY_MUST_CHECK void *screen_work_put(struct screen_work *work, void *part);

/* The others are for the drawing thread. NULL: there is no new part. */
TALLY_MUST_CHECK void *screen_work_take(struct screen_work *work);
bool screen_work_is_done(struct screen_work *work);
/* Waits that long at most, or until there is something to take: TUI_KEY_NONE. */
uint32_t screen_work_key(struct screen_work *work, struct tui_terminal *terminal, int ms);
void screen_work_tell(struct screen_work *work, unsigned columns, struct text *out);
/* A screen with nothing but how far the work is. */
TALLY_MUST_CHECK enum tally_status screen_work_draw(struct screen_work *work, struct tui_terminal *terminal,
	struct grid *grid, const char *title, struct tally_error *err);

#endif
