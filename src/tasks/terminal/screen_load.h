/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen_load.h - reads a recording in a worker thread while the screen already shows results: first the progress, then
 * results of the beginning of the recording, of larger parts, and finally of all of it.
 *
 * The worker puts complete parts, and the drawing thread takes them and owns them from then on, so that data never
 * changes while it is drawn. The drawing thread receives all signals, except those of the worker's own faults. The
 * struct must not be moved.
 *
 *	struct screen_load_job job = {.data = &mine, .path = path, .bytes = bytes, .read_part = ..., .read_all = ...};
 *	status = screen_load_init(&load, &job, err);
 *	status = screen_load_start(&load, err);		// the terminal is open
 *	status = screen_load_wait(&load, err);		// until there is a part, all is read, or the user quits
 *	while (!screen_load_is_over(&load)) {
 *		if ((part = screen_load_take(&load)) != NULL) ...
 *		key = screen_load_key(&load, SCREEN_EVERY_MS);
 *	}
 *	status = screen_load_join(&load, status, err);	// now the worker's own results are complete
 *	screen_load_deinit(&load);
 */
#ifndef TASKS_TERMINAL_SCREEN_LOAD_H
#define TASKS_TERMINAL_SCREEN_LOAD_H

#include <pthread.h>

#include "cli/progress_line.h"
#include "tasks/terminal/tui_terminal.h"

#define SCREEN_EVERY_MS 100 /* Interval at which progress is drawn, and parts are taken. */

/* All members are borrowed. */
struct screen_load_job {
	void *data;
	const char *path; /* Path of the recording, shown as the title while there is nothing else to show. */
	size_t bytes; /* Size of the records if their beginning can be read separately, otherwise 0. */
	/* Called by the worker. Puts a part for the first bytes of the records, or nothing if it cannot be made. */
	void (*read_part)(void *data, size_t bytes);
	enum tally_status (*read_all)(void *data, struct progress *progress, struct tally_error *err);
	void (*destroy_part)(void *part); /* Frees a part that was not taken. */
};

struct screen_load {
	struct tui_terminal *terminal; /* NULL if not open. */
	bool leaves; /* Set if the user quits while nothing but progress is shown. The caller may set it, too. */
	/* Result of read_all. Only valid when the worker has finished. */
	enum tally_status status;
	struct tally_error error;

	/* The remaining members are private to screen_load.c. */
	const struct screen_load_job *job;
	struct progress progress; /* Updated by the worker. */
	struct progress_clock clock;
	struct grid grid;
	bool has_waited;
	pthread_t thread;
	bool has_thread;
	int ready_fd; /* Readable when the worker has a new part, or has finished. */
	pthread_mutex_t mutex; /* Protects newest and is_done. */
	void *newest;
	bool is_done;
};

TALLY_MUST_CHECK enum tally_status screen_load_init(
	struct screen_load *load, const struct screen_load_job *job, struct tally_error *err);
/* Opens the terminal, which the caller must close, and starts reading. If no thread can be created, reads everything
 * before it returns. */
TALLY_MUST_CHECK enum tally_status screen_load_start(struct screen_load *load, struct tally_error *err);
/* Closes the terminal. Unless waits is set, also ends the program, because reading cannot be interrupted. */
void screen_load_leave(struct screen_load *load, bool waits);
/* Waits for the worker to finish. Returns status if it is an error, otherwise the worker's result. */
TALLY_MUST_CHECK enum tally_status screen_load_join(
	struct screen_load *load, enum tally_status status, struct tally_error *err);
void screen_load_deinit(struct screen_load *load);

/* Called by the worker. */
void screen_load_put(struct screen_load *load, void *part);

/* This function and the following ones are for the drawing thread. Returns the newest part, which the caller then owns,
 * or NULL if there is no new one. */
TALLY_MUST_CHECK void *screen_load_take(struct screen_load *load);
bool screen_load_is_done(struct screen_load *load);
/* Returns whether the worker has finished, or the user quits. */
bool screen_load_is_over(struct screen_load *load);
/* Shows the progress until there is a part to take, everything is read, or the user quits. */
TALLY_MUST_CHECK enum tally_status screen_load_wait(struct screen_load *load, struct tally_error *err);
/* Waits for a key. Returns TUI_KEY_NONE after ms milliseconds, or earlier if there is a part to take. */
uint32_t screen_load_key(struct screen_load *load, int ms);
/* Appends a progress line that fits the width of the screen. */
void screen_load_tell(struct screen_load *load, struct text *out);

#endif
