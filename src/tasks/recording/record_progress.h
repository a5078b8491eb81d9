/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_progress.h - shows the progress of a recording in one line on the terminal, updates it each second, and erases
 * it at the end.
 *
 * Nothing is shown if standard error is not a terminal, if the program is in the background, with -q, and if the
 * recorded command writes to the same terminal, so that its output is not disturbed. Records are counted by their
 * headers as they pass. A value of the session; not thread-safe.
 *
 *	struct record_progress progress = record_progress_begin(request, cpu_count, has_counts);
 *	record_progress_count(&progress, slices, slice_count); ...
 *	record_progress_show(&progress, bytes_written);	// does nothing before it is due
 */
#ifndef TASKS_RECORDING_RECORD_PROGRESS_H
#define TASKS_RECORDING_RECORD_PROGRESS_H

#include "base/text.h"
#include "tasks/recording/record_request.h"

struct record_progress_state {
	double seconds;
	uint64_t samples, lost, bytes;
	size_t cpus;
	bool has_counts; /* samples and lost are valid; otherwise records are not counted. */
};

struct record_progress {
	bool is_on;
	int64_t started_ms, due_ms;
	struct record_progress_state state;
};

struct record_progress record_progress_begin(const struct record_request *request, size_t cpu_count, bool has_counts);
/* A record may continue in the next slice. */
void record_progress_count(struct record_progress *progress, const struct tally_bytes *slices, size_t slice_count);
/* Returns the number of milliseconds until the line is due, or at_most_ms if that is less. */
int record_progress_timeout_ms(const struct record_progress *progress, int at_most_ms);
void record_progress_show(struct record_progress *progress, uint64_t bytes);

/* Appends text such as "recording: 12 s, 48,120 samples, 3.4 MB, 0 lost, 2 CPUs", truncated to width columns. */
void record_progress_text(struct text *t, const struct record_progress_state *state, unsigned width);

#endif
