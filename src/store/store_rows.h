/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_rows.h - converts a batch to the rows that every database stores: label sets, binaries, locations with their
 * symbols, stacks, threads and samples, each once, with the ID of its contents (content_id.h).
 *
 * Rows borrow from the batch if possible and own the rest. Texts are valid UTF-8 without NUL. Rows refer to each other
 * by index. Used by one thread.
 *
 * A location in a binary with a build ID is the same on all machines, and its ID is made of build ID, address and
 * level. The ID of other locations, for example in generated code or in a kernel that is loaded at another address
 * after each boot, also includes the symbols, so that equal addresses in different processes are different locations.
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
	uint64_t id; /* 0 for the empty set. */
	struct fleet_labels labels;
};

struct store_binary {
	uint64_t id;
	struct tally_str name, path, build_id;
	bool is_kernel;
};

struct store_frame { /* A frame of a location; the innermost inlined call is first, the function itself last. */
	struct tally_str function, file;
	uint32_t line; /* 0 if unknown. */
	uint64_t start, size; /* Address range of the function; 0 for inlined calls. */
	bool is_start; /* Threads begin in the function, so a stack that ends there is complete. */
};

struct store_location {
	uint64_t id;
	uint32_t binary; /* STORE_NONE if in no binary. */
	uint64_t address;
	uint8_t level; /* An enum profile_level. */
	size_t first_frame, frame_count;
	bool is_left_out; /* The sender left out its symbols. */
};

struct store_stack {
	uint64_t id;
	size_t first, count; /* Range of stack_locations. */
};

struct store_thread {
	uint64_t id;
	int32_t pid, tid;
	struct tally_str comm, process_comm;
};

/* A part of the batch: the samples of one event and of threads with one label set. */
struct store_part {
	uint32_t event, set; /* Indices in events and sets. */
	uint64_t samples, running_ns, waiting_ns;
};

struct store_sample {
	uint32_t part, stack, thread; /* Indices; stack is STORE_NONE if there is none. */
	int state; /* An enum profile_state, or STORE_STATE_UNKNOWN. */
	uint64_t count, value;
};

struct store_event {
	struct tally_str name;
	bool is_time, is_waiting; /* The values of samples are nanoseconds; all samples are waits. */
};

struct store_rows {
	const struct fleet_batch *batch;
	uint64_t sample_count; /* Sum of the counts of all samples. */
	VEC(struct store_set) sets; /* Set 0 is that of the batch; set i + 1 is set i of threads. */
	VEC(struct store_event) events;
	VEC(struct store_binary) binaries;
	VEC(struct store_location) locations;
	VEC(struct store_frame) frames;
	VEC(struct store_stack) stacks;
	VEC(uint32_t) stack_locations; /* The innermost location of each stack is first. */
	VEC(struct store_thread) threads;
	VEC(struct store_part) parts;
	VEC(struct store_sample) samples; /* Sorted by part, stack, thread and state, which are distinct. */
	struct arena arena; /* Owns the texts. */
};

/* Makes the rows. Returns TALLY_INVALID if counts or values of the samples add up to more than 2^63 - 1, which
 * databases cannot store. */
TALLY_MUST_CHECK enum tally_status store_rows_make(
	const struct fleet_batch *batch, struct store_rows *rows, struct tally_error *err);
void store_rows_deinit(struct store_rows *rows);
/* Returns the ID of a label set; 0 for the empty one. */
uint64_t store_labels_id(const struct fleet_labels *labels);

#endif
