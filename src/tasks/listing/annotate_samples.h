/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_samples.h - collects the samples of a recording by function and address, for annotate.
 *
 * The caller owns it and deinits it; symbols and names borrow from its data source.
 *
 *	annotate_samples_read(cli, &request, &samples, err);
 *	for (size_t i = 0; i < samples.targets.len; i++) ... samples.targets.items[i] ...
 *	annotate_samples_deinit(&samples);
 */
#ifndef TASKS_LISTING_ANNOTATE_SAMPLES_H
#define TASKS_LISTING_ANNOTATE_SAMPLES_H

#include "tasks/session/data_source.h"

struct annotate_request {
	struct data_input input;
	const char *symbol; /* NULL: all */
	struct progress *progress; /* NULL: a line on the terminal shows progress */
};

struct annotate_sum {
	uint64_t count, period;
};

struct annotate_hit {
	uint64_t address; /* as the store's symbols have it */
	uint32_t event;
	struct annotate_sum sum;
};

/* Code that ran from where one branch led to where the next one left, as branch stacks tell. */
struct annotate_span {
	uint64_t start, end; /* as the store's symbols have it; of the first and the last instruction */
	uint64_t count, predicted; /* of the branch at the end */
	uint64_t cycles, timed; /* the sum of cycles, and the number of branches in it */
	uint64_t least_cycles, most_cycles; /* of one of them */
};

struct annotate_target { /* a function that has samples */
	uint32_t store_id;
	const struct symbol *symbol;
	const struct frame_name *frame; /* any of its frames: names */
	VEC(struct annotate_hit) hits; /* by address, event */
	VEC(struct annotate_span) spans; /* inside the function */
	struct annotate_sum *sums; /* by event */
	uint32_t order; /* of its first sample */
};

struct annotate_ranked {
	const struct annotate_target *target;
	uint64_t period; /* of these events */
	uint32_t first, count;
};

struct annotate_cell {
	uint32_t frame, event;
	struct annotate_sum sum;
};

struct annotate_samples {
	struct data_source source;
	struct map_u64 cell_ids; /* frame << 32 | event -> index of cells */
	VEC(struct annotate_cell) cells;
	struct map_u64
		span_ids; /* frame of the start << 32 | of the end -> index of spans, whose addresses are these frames */
	VEC(struct annotate_span) spans;
	struct annotate_sum *events; /* all samples, by event */
	struct annotate_sum *listed; /* the same for the requested function, even if no function is known */
	size_t event_count;
	struct map_u64 target_ids;
	VEC(struct annotate_target *) targets;
	struct arena arena;
};

TALLY_MUST_CHECK enum tally_status annotate_samples_read(const struct cli *cli, const struct annotate_request *request,
	struct annotate_samples *samples, struct tally_error *err);
/* The same of a reader that was opened already, and a store: see data_source_take. */
TALLY_MUST_CHECK enum tally_status annotate_samples_take(const struct cli *cli, const struct annotate_request *request,
	struct perfdata_reader *reader, struct binary_store *store, struct annotate_samples *samples,
	struct tally_error *err);
/* The function that is meant by a name as people write it (annotate_names.h); chosen lives as long as the samples. */
TALLY_MUST_CHECK enum tally_status annotate_samples_choose(
	struct annotate_samples *samples, const char *wanted, const char **chosen, struct tally_error *err);
/* The targets, by period of the first of these events, then of the next; the most first; as long as the samples. NULL: out of memory. */
const struct annotate_ranked *annotate_samples_rank(struct annotate_samples *samples, uint32_t first, uint32_t count);
uint64_t annotate_sum_period(const struct annotate_sum *sums, uint32_t first, uint32_t count);
void annotate_samples_deinit(struct annotate_samples *samples);

#endif
