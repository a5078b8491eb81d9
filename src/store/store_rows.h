/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_rows.h - turns a batch into the rows that every database stores: label sets, binaries, locations with their
 * symbols, stacks, threads and samples, each once, with the ID of its contents (content_id.h).
 *
 * Rows borrow from the batch where they can, and own the rest. Texts are valid UTF-8 without NUL. Rows refer to each
 * other by index. One thread.
 *
 * A location whose binary has a build ID is the same on all machines, and its ID is made of the build ID, address and
 * level. Any other, for example in generated code or in a kernel that is loaded at another address after each boot, is
 * known by its symbols as well, so that equal addresses in different processes stay apart.
 *
 *	store_rows_make(batch, &rows, err);
 *	for (size_t i = 0; i < rows.samples.len; i++) ...
 *	store_rows_deinit(&rows);
 */
#ifndef STORE_STORE_ROWS_H
#define STORE_STORE_ROWS_H

#include "base/vec.h"
#include "fleet/batch.h"

#define STORE_NONE	    UINT32_MAX
#define STORE_STATE_UNKNOWN (-1)

struct store_set {
	uint64_t id; /* 0: the empty set */
	struct fleet_labels labels;
};

struct store_binary {
	uint64_t id;
	struct tally_str name, path, build_id;
	bool is_kernel;
};

struct store_frame { /* of a location: the innermost inlined call first, the function itself last */
	struct tally_str function, file;
	uint32_t line; /* 0: not known */
	uint64_t start, size; /* 0 for inlined calls */
	bool is_start;
};

struct store_location {
	uint64_t id;
	uint32_t binary; /* STORE_NONE: in none */
	uint64_t address;
	uint8_t level; /* enum profile_level */
	size_t first_frame, frame_count;
	bool is_left_out; /* its symbols were left out */
};

struct store_stack {
	uint64_t id;
	size_t first, count; /* in stack_locations */
};

struct store_thread {
	uint64_t id;
	int32_t pid, tid;
	struct tally_str comm, process_comm;
};

/* Of the batch: the samples of one event and of threads with one label set. */
struct store_part {
	uint32_t event, set;
	uint64_t samples, running_ns, waiting_ns;
};

struct store_sample {
	uint32_t part, stack, thread; /* stack STORE_NONE: it has none */
	int state; /* enum profile_state */
	uint64_t count, value;
};

struct store_event {
	struct tally_str name;
	bool is_time, is_waiting;
};

struct store_rows {
	const struct fleet_batch *batch;
	uint64_t sample_count;
	VEC(struct store_set) sets; /* 0: of the batch; set i + 1: set i of threads */
	VEC(struct store_event) events;
	VEC(struct store_binary) binaries;
	VEC(struct store_location) locations;
	VEC(struct store_frame) frames;
	VEC(struct store_stack) stacks;
	VEC(uint32_t) stack_locations; /* the innermost one first */
	VEC(struct store_thread) threads;
	VEC(struct store_part) parts;
	VEC(struct store_sample) samples; /* by part, stack, thread and state; no two are equal in these */
	struct arena arena; /* of texts */
};

/* TALLY_INVALID: the samples' counts or values add up to more than 2^63 - 1, which no database stores. */
TALLY_MUST_CHECK enum tally_status store_rows_make(
	const struct fleet_batch *batch, struct store_rows *rows, struct tally_error *err);
void store_rows_deinit(struct store_rows *rows);
uint64_t store_labels_id(const struct fleet_labels *labels);

#endif
