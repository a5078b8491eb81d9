/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_fold.h - runs pass two of a plain profile: it sums the gathered samples of a part by address in a binary. These
 * sums show which symbols are needed; when the symbols are loaded, plain_sum.h adds up the sums of all parts by
 * function.
 *
 * A fold owns its tables and borrows its part.
 *
 *	plain_fold_init(&fold, &part, &input);   plain_fold_place(&fold);   ... load fold.binaries, use fold.spots ...
 *	plain_fold_deinit(&fold);
 */
#ifndef ANALYSIS_PLAIN_PLAIN_FOLD_H
#define ANALYSIS_PLAIN_PLAIN_FOLD_H

#include "analysis/plain/plain_gather.h"
#include "analysis/sample_pass.h"
#include "analysis/symbolise.h"

struct plain_range { /* Addresses of one context that belong to the same mapping. */
	struct address_range range;
	uint32_t group;
	uint64_t delta; /* Added to a run-time address to get the address in the binary. */
};

#define PLAIN_RANGES 4
struct plain_state { /* The most recent look-ups of a context. */
	struct valid_span span; /* Time in which the look-ups are valid; empty if there are none. */
	uint32_t thread;
	unsigned last, next; /* Indexes in ranges: the last one found, and the next one to be replaced. */
	struct plain_range ranges[PLAIN_RANGES];
};

struct plain_group { /* Samples that differ only in their addresses. */
	uint32_t event, thread;
	uint32_t binary; /* The machine's index; RESOLVE_NONE if nothing was mapped. */
	uint32_t level;
	uint32_t spots; /* Number of its spots. */
	uint64_t first, last; /* Lowest and highest address of its spots. */
};

struct plain_spot { /* The samples of a group at one address; two spots fill a cache line. */
	uint64_t address; /* Address in the binary. */
	uint64_t period, first_order; /* Sum of periods, and order of the earliest sample. */
	uint32_t group;
	uint32_t count; /* Number of samples. */
};

struct plain_fold {
	struct plain_gather_part *part;
	const struct sample_pass_input *input; /* Input of the sample pass that will hold the result. */
	struct id_table threads; /* Threads with keys as in sample_pass.threads. */
	VEC(struct plain_state) states; /* Indexed by context. */
	struct id_table group_ids;
	VEC(struct plain_group) groups;
	struct plain_spot *spots; /* Aligned to cache lines. */
	size_t spot_count, spot_room;
	VEC(uint64_t) first_ips; /* Run-time address of each spot's first sample. */
	/* Hash table of spots: a slot holds the spot's index + 1 in its lowest spot_bits bits and bits of the hash
	 * above; 0 if it is empty. */
	uint32_t *spot_slots;
	unsigned spot_bits; /* Number of bits of a slot's index, and of a spot's index in a slot. */
	struct binary_list binaries; /* Binaries with samples, in order of first use. */
	uint8_t *is_hit; /* 1 for each of the machine's binaries with samples. */
	bool failed; /* Memory ran out. */
};

/* Returns false when out of memory. */
bool plain_fold_init(struct plain_fold *fold, struct plain_gather_part *part, const struct sample_pass_input *input);
/* Folds all samples of the part, freeing them block by block. */
void plain_fold_place(struct plain_fold *fold);
void plain_fold_deinit(struct plain_fold *fold);

#endif
