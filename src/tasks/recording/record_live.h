/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_live.h - implements --call-graph dwarf: it drains the rings of a recorder through live_unwind, so that the
 * file contains call chains instead of stack dumps, and reduces the work if it cannot keep up.
 *
 * The session owns it; the caller owns events, recorder and kernel. If rings fill faster than they are drained, it
 * first reads shorter stack dumps, and then halves the events' frequency (fixed periods do not change), step by step;
 * when rings are empty enough again, it goes back step by step. Not thread-safe.
 *
 *	record_live_create(&config, &live, err);
 *	record_live_pass(live, &state_slice, 1, sink, err);         // the initial state
 *	record_live_drain(live, sink, false, &bytes, err);          // instead of recorder_drain
 */
#ifndef TASKS_RECORDING_RECORD_LIVE_H
#define TASKS_RECORDING_RECORD_LIVE_H

#include "analysis/live/live_unwind.h"
#include "kernel/recording/recorder.h"

#define RECORD_STACK_BYTES_DEFAULT 8192 /* perf has the same default. */
#define RECORD_STACK_BYTES_MAX	   65528

struct record_live;
struct record_live_config {
	const struct event_list *events; /* The events as they were opened. */
	const struct record_attr_options *attrs; /* The attributes as requested. */
	struct recorder *recorder;
	struct binary_store_options store; /* Options for the files to which stacks lead. */
	uint64_t kept_registers;
	size_t flush_bytes; /* Rings are drained when one of them contains this many bytes. */
	bool keeps_rate; /* Never lowers the frequency. */
};

struct record_live_summary {
	struct live_unwind_totals totals;
	uint64_t least_freq; /* The lowest frequency so far, or 0 if it was never lowered. */
	uint64_t lowered_ms; /* Total time with a lowered frequency. */
};

TALLY_MUST_CHECK enum tally_status record_live_create(
	const struct record_live_config *config, struct record_live **live, struct tally_error *err);
/* Adds an event for samples that are passed to record_live_pass: with registers and stack dumps, which are unwound. */
TALLY_MUST_CHECK enum tally_status record_live_add_event(struct record_live *live, const struct perf_attr *attr,
	const uint64_t *ids, size_t id_count, struct tally_error *err);
/* Sets the callback that resolves the frames of interpreters (live_unwind_set_interpreted). */
void record_live_set_interpreted(struct record_live *live, const struct live_interpreted *interpreted);
/* Adds an event with samples that carry the user stacks for the samples of other events, those for which
 * record_attrs_is_walked is true. */
TALLY_MUST_CHECK enum tally_status record_live_add_stacks(struct record_live *live, const struct perf_attr *attr,
	const uint64_t *ids, size_t id_count, struct tally_error *err);
void record_live_destroy(struct record_live *live);
/* Handles records that do not come from rings, and writes the result to the sink. */
TALLY_MUST_CHECK enum tally_status record_live_pass(struct record_live *live, const struct tally_bytes *slices,
	size_t slice_count, const struct record_sink *sink, struct tally_error *err);
/* Handles records without writing anything. Has the signature of a record_sink's take. */
TALLY_MUST_CHECK enum tally_status record_live_learn(
	void *live, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err);
/* Reads the contents of the rings. is_last is set if nothing follows. */
TALLY_MUST_CHECK enum tally_status record_live_drain(struct record_live *live, const struct record_sink *sink,
	bool is_last, uint64_t *bytes, struct tally_error *err);
/* Returns whether samples are held back; older records may then follow, so the round must not be finished. */
bool record_live_is_holding(const struct record_live *live);
/* Returns the default size of a ring in bytes, which depends on the number of CPUs. */
size_t record_live_ring_bytes(void);
/* Returns the size in bytes of the largest stack dumps for rings of this size, chosen so that there is time to drain
 * the rings. */
size_t record_live_stack_bytes(size_t ring_bytes);
struct record_live_summary record_live_summary(struct record_live *live);
/* Appends lines about the unwound stacks, without a newline after the last one. */
void record_live_print(struct text *out, const struct record_live_summary *summary);

#endif
