/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_progress.h"

#include <string.h>
#include <unistd.h>

#include "abi/record.h"
#include "abi/record_slices.h"
#include "base/clock.h"
#include "cli/progress_line.h"
#include "tasks/recording/record_output.h"

#define RECORD_PROGRESS_FIRST_MS 300
#define EVERY_MS		 1000
#define LOST_AT			 16 /* Offset of the count in PERF_RECORD_LOST, after the header and the ID. */
#define LOST_SAMPLES		 8 /* Offset of the count in PERF_RECORD_LOST_SAMPLES. */

struct record_progress record_progress_begin(const struct record_request *request, size_t cpu_count, bool has_counts)
{
	int64_t now = clock_ms();
	/* The progress line would mix with the output of a command that writes to the same terminal. */
	return (struct record_progress){.is_on = request->announce && isatty(STDERR_FILENO) == 1 &&
						 (!request->command || isatty(STDOUT_FILENO) != 1),
		.started_ms = now,
		.due_ms = now + RECORD_PROGRESS_FIRST_MS,
		.state = {.cpus = cpu_count, .has_counts = has_counts}};
}

void record_progress_count(struct record_progress *progress, const struct tally_bytes *slices, size_t slice_count)
{
	const struct record_slices from = {slices, slice_count};
	struct record_slice_header header;
	uint64_t lost;
	for (size_t at = 0; progress->is_on && record_slices_header(&from, at, &header); at += header.size) {
		if (header.type == RECORD_SAMPLE)
			progress->state.samples++;
		bool is_lost = header.type == RECORD_LOST;
		if ((is_lost || header.type == RECORD_LOST_SAMPLES) &&
			record_slices_copy(&from, at + (is_lost ? LOST_AT : LOST_SAMPLES), &lost, sizeof(lost)))
			progress->state.lost += lost;
	}
}

int record_progress_timeout_ms(const struct record_progress *progress, int at_most_ms)
{
	int64_t left = progress->due_ms - clock_ms();
	if (!progress->is_on || left > at_most_ms)
		return at_most_ms;
	return left < 0 ? 0 : (int)left;
}

void record_progress_show(struct record_progress *progress, uint64_t bytes)
{
	int64_t now = clock_ms();
	struct text t = {0};
	if (!progress->is_on || now < progress->due_ms)
		return;
	progress->due_ms = now + EVERY_MS;
	progress->state.bytes = bytes;
	progress->state.seconds = (double)(now - progress->started_ms) / 1000;
	/* The last column stays free, so that no terminal wraps the line. */
	record_progress_text(&t, &progress->state, progress_line_width() - 1);
	progress_line_put((struct tally_str){t.data, t.failed ? 0 : t.len});
	text_deinit(&t);
}

void record_progress_text(struct text *t, const struct record_progress_state *s, unsigned width)
{
	size_t start = t->len;
	text_str(t, "recording: ");
	text_fixed(t, s->seconds, s->seconds < 10 ? 1 : 0);
	text_str(t, " s, ");
	if (s->has_counts) {
		text_u64_grouped(t, s->samples, ",");
		text_str(t, s->samples == 1 ? " sample, " : " samples, ");
	}
	text_fixed(t, (double)s->bytes / 1e6, 1);
	text_str(t, " MB");
	if (s->has_counts) {
		text_str(t, ", ");
		text_u64_grouped(t, s->lost, ",");
		text_str(t, " lost");
	}
	text_printf(t, ", %zu CPU%s", s->cpus, s->cpus == 1 ? "" : "s");
	if (!t->failed && t->len - start > width)
		t->len = start + width;
}
