/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_fold.h - runs pass two of a plain profile: it turns the gathered samples of a part into sums by address in a
 * binary. These sums say which symbols are needed; when they are loaded, plain_sum.h adds up the sums of all parts by
 * function.
 *
 * A fold owns its tables and borrows its part.
 *
 *	plain_fold_init(&fold, &part, &input);   plain_fold_place(&fold);   ... fold.binaries: to be loaded; fold.spots ...
 *	plain_fold_deinit(&fold);
 */
#ifndef ANALYSIS_PLAIN_PLAIN_FOLD_H
#define ANALYSIS_PLAIN_PLAIN_FOLD_H

#include "analysis/plain/plain_gather.h"
#include "analysis/sample_pass.h"
#include "analysis/symbolise.h"

struct plain_range { /* addresses of one context with the same mapping */
	struct address_range range;
	uint32_t group;
	uint64_t delta; /* added to an address: the one in the binary */
};

#define PLAIN_RANGES 4
struct plain_state { /* the current state of a context */
	struct valid_span span; /* empty: nothing does */
	uint32_t thread;
	unsigned last, next; /* of ranges: found last; forgotten next */
	struct plain_range ranges[PLAIN_RANGES];
};

struct plain_group { /* samples that differ in their addresses only */
	uint32_t event, thread;
	uint32_t binary; /* the machine's; RESOLVE_NONE: nothing was mapped */
	uint32_t level;
	uint32_t spots;
	uint64_t first, last; /* addresses of its spots */
};

struct plain_spot { /* samples of a group at one address; two of them fill a line of the cache */
	uint64_t address; /* in the binary */
	uint64_t period, first_order; /* the sum; the earliest */
	uint32_t group;
	uint32_t count; /* of samples */
};

struct plain_fold {
	struct plain_gather_part *part;
	const struct sample_pass_input *input; /* of the pass to be */
	struct id_table threads; /* as a pass has them */
	VEC(struct plain_state) states; /* by context */
	struct id_table group_ids;
	VEC(struct plain_group) groups;
	struct plain_spot *spots; /* from the beginning of a line on */
	size_t spot_count, spot_room;
	VEC(uint64_t) first_ips; /* by spot: its first sample's, as recorded */
	uint32_t *spot_slots; /* by hash: spot + 1, and above it the rest of the hash; 0: none */
	unsigned spot_bits; /* of a slot's number, and of a spot's in it */
	struct binary_list binaries; /* that were hit, in order of first use */
	uint8_t *is_hit; /* by binary */
	bool failed; /* out of memory */
};

/* False: out of memory. */
bool plain_fold_init(struct plain_fold *fold, struct plain_gather_part *part, const struct sample_pass_input *input);
/* Frees the part's samples on the way. */
void plain_fold_place(struct plain_fold *fold);
void plain_fold_deinit(struct plain_fold *fold);

#endif
