/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen_load.h - reads a recording in a thread of its own while the screen already shows results: first how far the
 * work is, then what is known of the recording's beginning, of more of it, and of all.
 *
 * The worker puts complete parts, and the drawing thread takes them and owns them from then on, so that nothing that is
 * drawn changes meanwhile. The drawing thread receives all signals, except those of the worker's own faults. The struct
 * must not be moved.
 *
 *	struct screen_load_job job = {.data = &mine, .path = path, .bytes = bytes, .read_part = ..., .read_all = ...};
 *	status = screen_load_init(&load, &job, err);
 *	status = screen_load_start(&load, err);		// the terminal is open
 *	status = screen_load_wait(&load, err);		// until there is something to take, all is read, or the user leaves
 *	while (!screen_load_is_over(&load)) {
 *		if ((part = screen_load_take(&load)) != NULL) ...
 *		key = screen_load_key(&load, SCREEN_EVERY_MS);
 *	}
 *	status = screen_load_join(&load, status, err);	// the worker's own results are there now
 *	screen_load_deinit(&load);
 */
#ifndef TASKS_TERMINAL_SCREEN_LOAD_H
#define TASKS_TERMINAL_SCREEN_LOAD_H

#include <pthread.h>

#include "cli/progress_line.h"
#include "tasks/terminal/tui_terminal.h"

#define SCREEN_EVERY_MS 100 /* how often progress is drawn, and parts are taken */

struct screen_load_job { /* borrowed */
	void *data;
	const char *path; /* of the recording: the title while there is nothing else to show */
	size_t bytes; /* of its records, if the beginning of them can be read by itself; 0: it cannot */
	/* The worker's. Puts parts of so many bytes; one that cannot be made is left out. */
	void (*read_part)(void *data, size_t bytes);
	enum tally_status (*read_all)(void *data, struct progress *progress, struct tally_error *err);
	void (*destroy_part)(void *part); /* which nobody took */
};

struct screen_load {
	struct tui_terminal *terminal; /* NULL: not open */
	bool leaves; /* the user did, while there was nothing to show; the caller may set it, too */
	/* The worker's until it is done: how read_all ended. */
	enum tally_status status;
	struct tally_error error;

	/* The rest is screen_load.c's. */
	const struct screen_load_job *job;
	struct progress progress; /* the worker's to add to */
	struct progress_clock clock;
	struct grid grid;
	bool has_waited;
	pthread_t thread;
	bool has_thread;
	int ready_fd; /* readable when the worker has something */
	pthread_mutex_t mutex; /* of these */
	void *newest;
	bool is_done;
};

TALLY_MUST_CHECK enum tally_status screen_load_init(
	struct screen_load *load, const struct screen_load_job *job, struct tally_error *err);
/* Opens the terminal, which is the caller's to close, and begins to read. Where no thread can be had all is read on
 * return. */
TALLY_MUST_CHECK enum tally_status screen_load_start(struct screen_load *load, struct tally_error *err);
/* Ends the program if the user leaves before all is read, because what reads cannot be stopped; with waits only the
 * terminal is closed. */
void screen_load_leave(struct screen_load *load, bool waits);
/* Waits for the worker. Its failure, unless status is one. */
TALLY_MUST_CHECK enum tally_status screen_load_join(
	struct screen_load *load, enum tally_status status, struct tally_error *err);
void screen_load_deinit(struct screen_load *load);

/* The worker's. */
void screen_load_put(struct screen_load *load, void *part);

/* The others are for the drawing thread. NULL: there is no new part. */
TALLY_MUST_CHECK void *screen_load_take(struct screen_load *load);
bool screen_load_is_done(struct screen_load *load);
/* It is done, or the user leaves. */
bool screen_load_is_over(struct screen_load *load);
/* Shows how far the work is until there is something to take, all is read, or the user leaves. */
TALLY_MUST_CHECK enum tally_status screen_load_wait(struct screen_load *load, struct tally_error *err);
/* Waits that long at most, or until there is something to take: TUI_KEY_NONE. */
uint32_t screen_load_key(struct screen_load *load, int ms);
/* How far the work is, in the width of the screen. */
void screen_load_tell(struct screen_load *load, struct text *out);

#endif
