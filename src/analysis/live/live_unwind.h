/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_unwind.h - prepares records from a recorder's rings for the file: samples with registers and a stack dump get
 * complete call chains instead; all other records are passed on unchanged.
 *
 * It does not depend on rings and files: it is fed with single records in time order, beginning with side-band records
 * of the processes that already run, and appends to a writer. Side-band records tell it the mappings of processes, and
 * it opens a mapped file when a stack leads there. Chains have the kernel's form: the kernel's part first, then
 * CONTEXT_USER and the frames, innermost first. A caller's address is its return address minus one, which is inside the
 * call, as in chains that perf unwinds; the address that a signal handler returns to and the interrupted address are
 * not callers and stay as they are. Samples may be held back while a file is opened (live_binaries.h), and are then
 * written later than others, so a round must not end meanwhile. One thread. Bad input: a damaged sample is dropped and
 * counted.
 *
 *	live_unwind_create(&config, &live, err);   live_unwind_add_event(live, &attr, ids, id_count, err);
 *	live_unwind_feed(live, &record, &out, err); ...   live_unwind_end_round(live, &out, err); ...
 *	live_unwind_finish(live, &out, err);
 */
#ifndef ANALYSIS_LIVE_LIVE_UNWIND_H
#define ANALYSIS_LIVE_LIVE_UNWIND_H

#include "abi/attr.h"
#include "abi/record.h"
#include "abi/record_fields.h"
#include "analysis/stack_ends.h"
#include "base/writer.h"
#include "code/binary_store.h"

struct live_unwind;
struct live_unwind_config {
	const struct arch *arch; /* Architecture of this machine. */
	struct binary_store_options store; /* Options for opening the files that stacks lead to. */
	uint64_t kept_registers; /* Bit mask of the user registers that samples keep; 0 for none. */
};

struct live_unwind_totals {
	struct stack_ends ends;
	uint64_t samples; /* All samples that were fed. */
	uint64_t joined; /* Stacks that were extended by an earlier stack dump or by frame pointers. */
	/* Stacks that were not unwound, because waiting for a file would have exceeded the memory limit. */
	uint64_t given_up;
	uint64_t refused; /* Files without an unwind table because of the memory limit. */
	uint64_t shortened; /* Stacks of which only a part was read because of live_unwind_shorten. */
	uint64_t unmatched; /* Stacks that BPF programs recorded for samples that were lost. */
	uint64_t unknown; /* Stacks of processes that the BPF program did not know yet. */
	uint64_t damaged;
	uint64_t lost; /* Lost events, as reported by the kernel's LOST records. */
};

/* Resolves interpreter frames in user stacks that BPF programs walked, by assigning addresses to them. Returns true if
 * the mapping that contains these addresses was not yet reported for that process; it is then written to the file
 * before the sample. */
struct live_interpreted {
	bool (*name)(void *context, uint32_t pid, uint64_t *ips, size_t count, struct record_mmap *mapping);
	void *context;
};

TALLY_MUST_CHECK enum tally_status live_unwind_create(
	const struct live_unwind_config *config, struct live_unwind **live, struct tally_error *err);
void live_unwind_destroy(struct live_unwind *live);
/* Adds an event with the attr that it was opened with. Add all events before feeding records. */
TALLY_MUST_CHECK enum tally_status live_unwind_add_event(struct live_unwind *live, const struct perf_attr *attr,
	const uint64_t *ids, size_t id_count, struct tally_error *err);
/* Marks the last added event as one whose samples get their user stacks from an event of live_unwind_add_stacks. */
void live_unwind_add_walked(struct live_unwind *live);
/* Adds an event of which each sample carries the user stack (abi/walked_stack.h) of the sample that directly follows
 * it. The stacks are put into the chains of the events marked by live_unwind_add_walked; these samples themselves are
 * not written to the file. */
TALLY_MUST_CHECK enum tally_status live_unwind_add_stacks(struct live_unwind *live, const struct perf_attr *attr,
	const uint64_t *ids, size_t id_count, struct tally_error *err);
/* Sets the callback that names interpreter frames; *interpreted is copied. */
void live_unwind_set_interpreted(struct live_unwind *live, const struct live_interpreted *interpreted);
/* Handles a record; its bytes are not used after the call. Fails only with TALLY_NOMEM. */
TALLY_MUST_CHECK enum tally_status live_unwind_feed(
	struct live_unwind *live, const struct record *record, struct writer *out, struct tally_error *err);
/* Returns whether samples are held back. */
bool live_unwind_is_holding(const struct live_unwind *live);
/* Writes the samples that wait for a file to be opened. Call it before the last records are written. */
TALLY_MUST_CHECK enum tally_status live_unwind_finish(
	struct live_unwind *live, struct writer *out, struct tally_error *err);
/* Returns the time of a record of the rings, or 0 if it has none. */
uint64_t live_unwind_time(const struct live_unwind *live, const struct record *record);
/* Writes as many of the held-back samples as possible, and forgets threads and processes that have ended. Call it when
 * all available records were fed, before their memory is released. */
TALLY_MUST_CHECK enum tally_status live_unwind_end_round(
	struct live_unwind *live, struct writer *out, struct tally_error *err);
/* Limits the memory for waiting stacks, remembered stacks and unwind tables together. What exceeds it is dropped, but
 * never a sample. UINT64_MAX means no limit. */
void live_unwind_limit(struct live_unwind *live, uint64_t bytes);
/* Returns the memory in use that counts towards the limit, in bytes. */
uint64_t live_unwind_memory(const struct live_unwind *live);
/* Limits how many bytes of each stack dump are read; SIZE_MAX means no limit. */
void live_unwind_shorten(struct live_unwind *live, size_t stack_bytes);
struct live_unwind_totals live_unwind_totals(const struct live_unwind *live);

#endif
