/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_samples.h - collects the samples of a recording by function and address, for annotate.
 *
 * The caller owns struct annotate_samples and frees it with annotate_samples_deinit; symbols and names are borrowed
 * from its data source.
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
	const char *symbol; /* Name of the function, or NULL for all functions. */
	struct progress *progress; /* If NULL, a line on the terminal shows the progress. */
};

struct annotate_sum {
	uint64_t count, period;
};

struct annotate_hit {
	uint64_t address; /* Address in the address space of the store's symbols. */
	uint32_t event;
	struct annotate_sum sum;
};

/* Code that ran without a branch, from the target of one branch in a branch stack to the source of the next one. */
struct annotate_span {
	/* Addresses of the first and the last instruction, in the address space of the store's symbols. */
	uint64_t start, end;
	/* Number of times that the span ran, and that the branch at its end was predicted. */
	uint64_t count, predicted;
	uint64_t cycles, timed; /* Sum of the branches' cycles, and number of branches with a cycle count. */
	uint64_t least_cycles, most_cycles; /* Extremes of a single branch. */
};

/* A function that has samples. */
struct annotate_target {
	uint32_t store_id;
	const struct symbol *symbol;
	const struct frame_name *frame; /* Names of any of the function's frames. */
	VEC(struct annotate_hit) hits; /* Sorted by address, then by event. */
	VEC(struct annotate_span) spans; /* Spans inside the function. */
	struct annotate_sum *sums; /* Indexed by event. */
	uint32_t order; /* Position of the function if functions are sorted by their first samples. */
};

struct annotate_ranked {
	const struct annotate_target *target;
	uint64_t period; /* Sum over count events from index first on. */
	uint32_t first, count;
};

/* Samples of one event at one frame. */
struct annotate_cell {
	uint32_t frame, event;
	struct annotate_sum sum;
};

struct annotate_samples {
	struct data_source source;
	struct map_u64 cell_ids; /* Maps frame << 32 | event to an index in cells. */
	VEC(struct annotate_cell) cells;
	/* Maps (first frame << 32 | last frame) to an index in spans; start and end of these spans are frame
	 * numbers. */
	struct map_u64 span_ids;
	VEC(struct annotate_span) spans;
	struct annotate_sum *events; /* Sums of all samples, by event. */
	/* Sums of the samples in the requested function by event, even if its symbol is unknown. */
	struct annotate_sum *listed;
	size_t event_count;
	struct map_u64 target_ids;
	VEC(struct annotate_target *) targets;
	struct arena arena;
};

TALLY_MUST_CHECK enum tally_status annotate_samples_read(const struct cli *cli, const struct annotate_request *request,
	struct annotate_samples *samples, struct tally_error *err);
/* Reads from an open reader, with an existing store; see data_source_take for their ownership. */
TALLY_MUST_CHECK enum tally_status annotate_samples_take(const struct cli *cli, const struct annotate_request *request,
	struct perfdata_reader *reader, struct binary_store *store, struct annotate_samples *samples,
	struct tally_error *err);
/* Finds the function that the user means by a name (annotate_names.h). chosen lives as long as the samples. */
TALLY_MUST_CHECK enum tally_status annotate_samples_choose(
	struct annotate_samples *samples, const char *wanted, const char **chosen, struct tally_error *err);
/* Returns the targets, ordered by descending period of the first of these events, then of the next one. The result
 * lives as long as the samples. Returns NULL if memory runs out. */
const struct annotate_ranked *annotate_samples_rank(struct annotate_samples *samples, uint32_t first, uint32_t count);
/* Returns the sum of the periods of count events from index first on. */
uint64_t annotate_sum_period(const struct annotate_sum *sums, uint32_t first, uint32_t count);
void annotate_samples_deinit(struct annotate_samples *samples);

#endif
