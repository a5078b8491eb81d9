/*
 * flat_fold.h - pass two of a flat profile: the gathered samples of a part become sums by thread and function, as a
 * sample_pass has them, whose consumers see no difference but that frames of one function are one already.
 *
 * Three steps, since symbols are read only of what was hit: place (samples -> sums by address in an object, by all CPUs),
 * load, sum (by function, by all CPUs). A fold owns its tables and borrows its part; folds of one recording in order give what one fold of all gives.
 *
 *	flat_fold_init(&fold, &part, &pass);            flat_fold_place(&fold);   ... fold.binaries: to be loaded ...
 *	flat_fold_sum(&fold, store, store_ids);         flat_fold_deinit(&fold);  ... pass has the sums ...
 */
#ifndef ANALYSIS_FLAT_FOLD_H
#define ANALYSIS_FLAT_FOLD_H

#include "analysis/flat_gather.h"
#include "analysis/sample_pass.h"
#include "analysis/symbolise.h"

struct flat_range { /* addresses of one context that have one answer */
	struct address_range range;
	uint32_t group;
	uint64_t delta; /* added to an address: the one in the binary */
};

#define FLAT_RANGES 4
struct flat_state { /* of a context: what holds now */
	struct valid_span span; /* empty: nothing does */
	uint32_t thread;
	unsigned last, next; /* of ranges: found last; forgotten next */
	struct flat_range ranges[FLAT_RANGES];
};

struct flat_group { /* samples that differ in their addresses only */
	uint32_t event, thread;
	uint32_t binary; /* the machine's; RESOLVE_NONE: nothing was mapped */
	uint32_t level;
};

struct flat_spot { /* samples of a group at one address */
	uint64_t address; /* in the binary */
	uint32_t group;
	uint64_t first_ip; /* of the first one, as recorded */
	struct sample_sum sum;
};

struct flat_fold {
	struct flat_part *part;
	struct sample_pass *pass; /* initialised; its threads and sums are filled */
	VEC(struct flat_state) states; /* by context */
	struct id_table group_ids;
	VEC(struct flat_group) groups;
	VEC(struct flat_spot) spots;
	uint64_t *spot_slots; /* by hash: spot + 1, and the hash above */
	size_t spot_slot_count;
	struct binary_list binaries; /* that were hit, in order of first use */
	uint8_t *is_hit; /* by binary */
	bool failed; /* out of memory */
};

/* False: out of memory. */
bool flat_fold_init(struct flat_fold *fold, struct flat_part *part, struct sample_pass *pass);
/* Frees the part's samples on the way. */
void flat_fold_place(struct flat_fold *fold);
/* store_ids by binary of the machine, RESOLVE_NONE: has no symbols. */
void flat_fold_sum(struct flat_fold *fold, const struct binary_store *store, const uint32_t *store_ids);
void flat_fold_deinit(struct flat_fold *fold);

#endif
