/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_unwind.h - turns records from a recorder's rings into records for the file: samples with registers and a stack
 * dump get whole call chains instead; all other records are passed on unchanged.
 *
 * It knows nothing of rings and files: it is fed with single records in time order, beginning with side-band records of
 * the processes that already run, and appends to a writer. It learns from side-band records what processes map, and
 * opens their files when a stack leads there. Chains have the kernel's form: the kernel's part first, then CONTEXT_USER
 * and the frames, innermost first. A caller's address is its return address minus one, which is inside the call, as in
 * chains that perf unwinds; the address that a signal handler returns to and the interrupted address are not callers
 * and stay as they are. Samples may be held back while a file is opened (live_binaries.h), and are then written later
 * than others, so a round must not end meanwhile. One thread. Bad input: a damaged sample is dropped and counted.
 *
 *	live_unwind_create(&config, &live, err);   live_unwind_add_event(live, &attr, ids, id_count, err);
 *	live_unwind_feed(live, &record, &out, err); ...   live_unwind_end_round(live, &out, err); ... live_unwind_finish(live, &out, err);
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
	const struct arch *arch; /* of this machine */
	struct binary_store_options store; /* of the files that stacks lead to */
	uint64_t kept_registers; /* of user space, that samples keep; 0: none */
};

struct live_unwind_totals {
	struct stack_ends ends;
	uint64_t samples; /* all that came */
	uint64_t joined; /* stacks made longer by an earlier copy or by frame pointers */
	uint64_t
		given_up; /* stacks that were not unwound because they would have waited in more memory than there is */
	uint64_t refused; /* files whose call-frame information was not read for the same reason */
	uint64_t shortened; /* stacks that were not read to their end because of live_unwind_shorten */
	uint64_t unmatched; /* stacks of BPF programs whose samples were lost */
	uint64_t unknown; /* stacks of processes whose mappings were not known yet */
	uint64_t damaged;
	uint64_t lost; /* events, as the kernel's records say */
};

/* Of user stacks that BPF programs walked: gives frames of interpreters their addresses. True: the mapping that these
 * are in has not been told of that process yet, and goes into the file before the sample. */
struct live_interpreted {
	bool (*name)(void *context, uint32_t pid, uint64_t *ips, size_t count, struct record_mmap *mapping);
	void *context;
};

TALLY_MUST_CHECK enum tally_status live_unwind_create(
	const struct live_unwind_config *config, struct live_unwind **live, struct tally_error *err);
void live_unwind_destroy(struct live_unwind *live);
/* attr: as the event was opened. Add all events before the first records. */
TALLY_MUST_CHECK enum tally_status live_unwind_add_event(struct live_unwind *live, const struct perf_attr *attr,
	const uint64_t *ids, size_t id_count, struct tally_error *err);
/* The last event that was added gets its user stacks from samples of live_unwind_add_stacks. */
void live_unwind_add_walked(struct live_unwind *live);
/* An event whose samples carry user stacks (abi/walked_stack.h), each right before the sample that it belongs to. The
 * stacks go into the chains of the events that live_unwind_add_walked named; these samples are not written to the
 * file. */
TALLY_MUST_CHECK enum tally_status live_unwind_add_stacks(struct live_unwind *live, const struct perf_attr *attr,
	const uint64_t *ids, size_t id_count, struct tally_error *err);
void live_unwind_set_interpreted(struct live_unwind *live, const struct live_interpreted *interpreted);
/* Record bytes are read before the call returns. NOMEM only. */
TALLY_MUST_CHECK enum tally_status live_unwind_feed(
	struct live_unwind *live, const struct record *record, struct writer *out, struct tally_error *err);
/* Samples are held back. */
bool live_unwind_is_holding(const struct live_unwind *live);
/* Writes the samples that wait for a file to be opened. Call it before the last records are written. */
TALLY_MUST_CHECK enum tally_status live_unwind_finish(
	struct live_unwind *live, struct writer *out, struct tally_error *err);
/* The time of a record of the rings; 0: it has none. */
uint64_t live_unwind_time(const struct live_unwind *live, const struct record *record);
/* Call this when all available records were fed, before their memory is released: continues with samples that were held
 * back, as far as possible, and forgets what has ended. */
TALLY_MUST_CHECK enum tally_status live_unwind_end_round(
	struct live_unwind *live, struct writer *out, struct tally_error *err);
/* Reads at most so many bytes of each stack dump; SIZE_MAX: all. */
/* Limits the memory for waiting stacks, remembered stacks and unwind tables together. What exceeds it is dropped, but
 * never a sample. UINT64_MAX: no limit. */
void live_unwind_limit(struct live_unwind *live, uint64_t bytes);
/* How much of that limit is in use. */
uint64_t live_unwind_memory(const struct live_unwind *live);
void live_unwind_shorten(struct live_unwind *live, size_t stack_bytes);
struct live_unwind_totals live_unwind_totals(const struct live_unwind *live);

#endif
