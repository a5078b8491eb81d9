/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_live.h - implements --call-graph dwarf: it empties the rings of a recorder through live_unwind, so that the
 * file gets call chains instead of stack dumps, and reduces the work if it cannot keep up.
 *
 * The session owns it; the caller owns events, recorder and kernel. If rings fill faster than they are emptied, it
 * first reads shorter stack dumps, and then halves the events' frequency (fixed periods stay), step by step; when rings
 * are empty enough again, it goes back step by step. One thread.
 *
 *	record_live_create(&config, &live, err);
 *	record_live_pass(live, &state_slice, 1, sink, err);        // what runs already
 *	record_live_drain(live, sink, false, &bytes, err);          // as recorder_drain
 */
#ifndef TASKS_RECORDING_RECORD_LIVE_H
#define TASKS_RECORDING_RECORD_LIVE_H

#include "analysis/live/live_unwind.h"
#include "kernel/recording/recorder.h"

#define RECORD_STACK_BYTES_DEFAULT 8192 /* perf's */
#define RECORD_STACK_BYTES_MAX	   65528

struct record_live;
struct record_live_config {
	const struct event_list *events; /* as they were opened */
	const struct record_attr_options *attrs; /* as requested */
	struct recorder *recorder;
	struct binary_store_options store; /* of the files that stacks lead to */
	uint64_t kept_registers;
	size_t flush_bytes; /* rings are read when one has so many bytes */
	bool keeps_rate; /* never takes fewer samples */
};

struct record_live_summary {
	struct live_unwind_totals totals;
	uint64_t least_freq; /* the lowest frequency so far; 0: it was never lowered */
	uint64_t lowered_ms; /* for so long */
};

TALLY_MUST_CHECK enum tally_status record_live_create(
	const struct record_live_config *config, struct record_live **live, struct tally_error *err);
/* One more event, whose samples record_live_pass gets: with registers and stacks, which are unwound. */
TALLY_MUST_CHECK enum tally_status record_live_add_event(struct record_live *live, const struct perf_attr *attr,
	const uint64_t *ids, size_t id_count, struct tally_error *err);
/* As live_unwind_set_interpreted. */
void record_live_set_interpreted(struct record_live *live, const struct live_interpreted *interpreted);
/* Samples of this event carry the user stacks of those that record_attrs_is_walked names. */
TALLY_MUST_CHECK enum tally_status record_live_add_stacks(struct record_live *live, const struct perf_attr *attr,
	const uint64_t *ids, size_t id_count, struct tally_error *err);
void record_live_destroy(struct record_live *live);
/* Applies records that are not from rings, and writes them unchanged. */
TALLY_MUST_CHECK enum tally_status record_live_pass(struct record_live *live, const struct tally_bytes *slices,
	size_t slice_count, const struct record_sink *sink, struct tally_error *err);
/* The same without writing them: the take function of a record_sink. */
TALLY_MUST_CHECK enum tally_status record_live_learn(
	void *live, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err);
/* Reads the contents of the rings. is_last: nothing comes after it. */
TALLY_MUST_CHECK enum tally_status record_live_drain(struct record_live *live, const struct record_sink *sink,
	bool is_last, uint64_t *bytes, struct tally_error *err);
/* Older records may follow, so the round continues. */
bool record_live_is_holding(const struct record_live *live);
/* The default size of rings. */
size_t record_live_ring_bytes(void);
/* The largest stack dumps for rings of so many bytes, so that there is time to empty them. */
size_t record_live_stack_bytes(size_t ring_bytes);
struct record_live_summary record_live_summary(struct record_live *live);
/* The summary's sentences about stacks, as lines without line ends. */
void record_live_print(struct text *out, const struct record_live_summary *summary);

#endif
