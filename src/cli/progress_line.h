/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress_line.h - shows the progress of long work in one line on standard error, after 0.3 s and until it ends. It
 * shows nothing if standard error is not a terminal that can erase lines.
 *
 * Nothing else may be printed between start and stop. A separate thread draws the line; if it cannot be started,
 * nothing is shown.
 *
 *	struct progress_line line;
 *	progress_line_start(&line);   ... work with &line.progress ...   progress_line_stop(&line);
 */
#ifndef CLI_PROGRESS_LINE_H
#define CLI_PROGRESS_LINE_H

#include <pthread.h>

#include "analysis/replay/replay.h"
#include "base/progress.h"
#include "base/text.h"

struct progress_line {
	struct progress progress;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t ending;
	bool is_on, is_ending;
};

void progress_line_start(struct progress_line *line);
void progress_line_stop(struct progress_line *line);

/* While this is set, lines that are started show nothing, because a full-screen view uses the terminal. */
void progress_line_hide(bool is_hidden);

/* Calls replay_profile and shows its progress. */
TALLY_MUST_CHECK enum tally_status progress_line_replay(struct perfdata_reader *reader, struct binary_store *store,
	struct replay_options *options, struct replay_result *result, struct tally_error *err);

/* Draws the line once, for callers with a loop of their own. It replaces the previous line. Nothing is drawn while the
 * program is in the background. The line must be erased before anything else is printed. */
void progress_line_put(struct tally_str line);
void progress_line_erase(void);
/* Returns the terminal's width in columns; 80 if it is unknown. */
unsigned progress_line_width(void);

struct progress_state {
	const char *what; /* The current step, such as "reading samples". */
	uint64_t done, total; /* In bytes; total is 0 if unknown. */
	double seconds; /* Time since the current step began. */
};

struct progress_clock { /* Remembers when the current step began. Must be zero-initialised. */
	unsigned step;
	int64_t begun_ms;
};

/* Reads the current progress. state->what is NULL if no work has begun. */
void progress_look(struct progress_clock *clock, const struct progress *progress, struct progress_state *state);

/* Appends a text such as "reading samples: 43 % of 149.2 MB, 1.2 s left", cut to width bytes. */
void progress_line_text(struct text *t, const struct progress_state *state, unsigned width);

#endif
