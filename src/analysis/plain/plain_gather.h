/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_gather.h - runs pass one of a plain profile: workers read all records once. It keeps the 24 bytes of each
 * sample that such a profile needs; all other records are copied, one after another, for the machine's history.
 *
 * Workers walk the parts of the recording in parallel, each from a position where a record seems to begin. A part that
 * turns out to begin elsewhere is walked again, so the result does not depend on the number of workers. The file is
 * read in pieces, not mapped, since most bytes are needed only once. Only samples beyond the limit of kept ones are
 * read again, so memory does not grow with the recording.
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
	uint32_t context; /* Index in contexts of its part. */
	uint32_t period; /* PLAIN_LARGE_PERIOD stands for the next one of the part's large_periods. */
};
#define PLAIN_LARGE_PERIOD UINT32_MAX

struct plain_block {
	const struct plain_sample *items;
	size_t count;
};

struct plain_context { /* Fields that many samples share. */
	int32_t pid, tid; /* -1 if not recorded. */
	uint32_t event; /* Index of the event. */
	uint32_t cpumode;
};

struct plain_id { /* A sample ID with its event. */
	uint64_t id;
	const struct perfdata_event *event; /* NULL if the slot is empty or the ID is unknown. */
};

#define PLAIN_RECENT 256
#define PLAIN_IDS    64
struct plain_gather_part { /* The records that one worker read. */
	struct run_part range; /* Its range of the run. */
	VEC(struct plain_sample *) blocks; /* Blocks of samples; all but the last one are full. */
	struct plain_sample *next, *block_end; /* Next free sample in the last block, and the end of that block. */
	size_t block_samples; /* Number of samples in a full block. */
	size_t sample_count, most_kept; /* Number of samples in blocks, and its limit. */
	/* Some samples are not kept in blocks; more is the position in the run from which they are read again. */
	bool has_more;
	size_t more;
	uint8_t *window; /* Buffer for pieces of the file that are read again; NULL until needed. */
	size_t block_taken; /* Number of blocks that plain_part_next has returned. */
	VEC(uint64_t) large_periods;
	size_t large_taken; /* Number of large periods that plain_part_next has returned. */
	VEC(struct plain_context) contexts;
	struct id_table context_ids;
	size_t id_offset; /* Offset of the ID in all samples; 0 means that the reader finds the event of each sample. */
	struct plain_id ids[PLAIN_IDS]; /* Cache of the IDs seen last. */
	uint32_t recent[PLAIN_RECENT]; /* Cache of context indexes + 1, by thread. */
	VEC(uint8_t) others; /* Copies of the records that are not samples, one after another. */
	uint64_t samples, sample_bytes, unattributed;
	struct damaged_records damaged;
	bool has_payload; /* A record is followed by a payload, so this part is invalid. */
	bool failed; /* Memory ran out. */
};

struct plain_gather {
	struct plain_gather_part *parts;
	size_t part_count;
	struct record_piece *pieces; /* Position of each part's copied records in others. */
	/* A run of the copied records. Its bytes span the memory from the lowest to the highest copy; only the pieces
	 * are valid. */
	struct record_run others;
};

/* Returns whether a profile can be made this way: it has no stacks, facets or separate addresses, and all samples have
 * times. */
bool plain_path_supports(struct perfdata_reader *reader, const struct replay_options *options);
/* Reads all records. kept_samples is the limit for all parts together; 0 for the default. Fails with TALLY_UNSUPPORTED
 * if payloads follow some records or if there are too many records. */
TALLY_MUST_CHECK enum tally_status plain_gather(struct perfdata_reader *reader, const struct record_run *run,
	size_t kept_samples, struct plain_gather *gather, struct tally_error *err);
void plain_gather_deinit(struct plain_gather *gather);
/* Returns the part's next samples, valid until the next call, with their contexts and large periods; earlier blocks may
 * be freed by then. Returns false if there are no more samples, or if the part failed. */
bool plain_part_next(struct plain_gather_part *part, struct perfdata_reader *reader, const struct record_run *run,
	struct plain_block *block);
/* Frees the copied records after they have been read. */
void plain_gather_free_others(struct plain_gather *gather);

#endif
