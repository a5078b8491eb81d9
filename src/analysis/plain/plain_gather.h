/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_gather.h - runs pass one of a plain profile: all CPUs together walk all records once. Of each sample it keeps
 * the 24 bytes that such a profile needs; all other records are copied, one after another, for the machine's history.
 *
 * Workers walk the parts of the recording in parallel, each from where a record seems to begin. A part that turns out
 * to begin elsewhere is walked again, so the result does not depend on the number of workers. The file is read piece by
 * piece, not mapped, since most bytes are needed once. Only samples beyond the limit of kept ones are read again, so
 * memory does not grow with the recording.
 *
 *	plain_gather(reader, &run, 0, &gather, err);   ... sideband_read_loading(reader, &gather.others, ...) ...
 *	for each of gather.parts in order: while (plain_part_next(&part, reader, &run, &block)) ... block.items ...
 *	plain_gather_deinit(&gather);
 */
#ifndef ANALYSIS_PLAIN_PLAIN_GATHER_H
#define ANALYSIS_PLAIN_PLAIN_GATHER_H

#include "analysis/record_run.h"
#include "analysis/replay_options.h"
#include "analysis/run_parts.h"
#include "base/id_table.h"
#include "base/vec.h"

struct plain_sample {
	uint64_t ip, time_ns;
	uint32_t context; /* of its part */
	uint32_t period; /* PLAIN_LARGE_PERIOD: the next one of the part's list */
};
#define PLAIN_LARGE_PERIOD UINT32_MAX

struct plain_block {
	const struct plain_sample *items;
	size_t count;
};

struct plain_context { /* the fields that many samples share */
	int32_t pid, tid; /* -1: not recorded */
	uint32_t event; /* index */
	uint32_t cpumode;
};

struct plain_id { /* of an event */
	uint64_t id;
	const struct perfdata_event *event; /* NULL: nothing is known */
};

#define PLAIN_RECENT 256
#define PLAIN_IDS    64
struct plain_gather_part { /* what one worker read */
	struct run_part range; /* of the run */
	VEC(struct plain_sample *) blocks; /* all but the last one are full */
	struct plain_sample *next, *block_end; /* in the last block */
	size_t block_samples; /* of a full one */
	size_t sample_count, most_kept; /* samples in blocks */
	bool has_more; /* samples that are not kept; more: position of the next one */
	size_t more;
	uint8_t *window; /* room for a piece of the file that is read again; NULL before the first one */
	size_t block_taken; /* blocks that plain_part_next has given */
	VEC(uint64_t) large_periods;
	size_t large_taken; /* large periods that plain_part_next has returned */
	VEC(struct plain_context) contexts;
	struct id_table context_ids;
	size_t id_offset; /* in samples; 0: the reader is asked for each sample's event */
	struct plain_id ids[PLAIN_IDS]; /* seen last */
	uint32_t recent[PLAIN_RECENT]; /* contexts + 1, by thread */
	VEC(uint8_t) others; /* records that are no samples, one after another */
	uint64_t samples, sample_bytes, unattributed;
	struct damaged_records damaged;
	bool has_payload; /* data follows some record: this part is not valid */
	bool failed; /* out of memory */
};

struct plain_gather {
	struct plain_gather_part *parts;
	size_t part_count;
	struct record_piece *pieces; /* of others, by part */
	struct record_run others; /* as the run, but for its samples: from the lowest of the parts' copies on */
};

/* Whether a profile of this kind can be made this way: no stacks, no facets, nothing by address, and all samples have
 * times. */
bool plain_path_supports(struct perfdata_reader *reader, const struct replay_options *options);
/* kept_samples: the limit for all parts together; 0: the default. TALLY_UNSUPPORTED: some records are followed by data,
 * or there are too many records. */
TALLY_MUST_CHECK enum tally_status plain_gather(struct perfdata_reader *reader, const struct record_run *run,
	size_t kept_samples, struct plain_gather *gather, struct tally_error *err);
void plain_gather_deinit(struct plain_gather *gather);
/* Gives the part's next samples, valid until the next call, with their contexts and large periods; those of earlier
 * blocks are not needed any more. False: there are no more samples, or the part has failed. */
bool plain_part_next(struct plain_gather_part *part, struct perfdata_reader *reader, const struct record_run *run,
	struct plain_block *block);
/* Frees the copied records after they have been read. */
void plain_gather_free_others(struct plain_gather *gather);

#endif
