/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_order.h - sorts the folded samples (spots) of a plain profile by function. Used only by plain_sum.
 *
 * The spots of each binary are adjacent, and within it the spots of each function, in the order of start addresses. So
 * several workers can walk spots and symbols in the same order, without searching for each symbol.
 *
 *	if (!plain_order_make(&order, &placed, machine)) ...
 *	for each task: at = an index at which a function begins; end = plain_order_function_end(&order, area, at); ...
 *	plain_order_deinit(&order);
 */
#ifndef ANALYSIS_PLAIN_PLAIN_ORDER_H
#define ANALYSIS_PLAIN_PLAIN_ORDER_H

#include "analysis/plain/plain_fold.h"
#include "base/key_sort.h"

struct plain_placed {
	struct plain_fold *folds; /* In the order of their parts of the recording. */
	size_t count;
	const struct binary_store *store;
	/* Store entry of each of the machine's binaries; RESOLVE_NONE if it cannot have symbols. */
	const uint32_t *store_ids;
	unsigned threads; /* Number of threads; 0 for one per CPU. */
};

struct plain_area { /* The spots of one binary. */
	uint64_t first, last;
	uint64_t shift; /* Added to a sort key to get the address. */
	size_t begin, end; /* Range of indexes in plain_order.keys. */
	uint32_t binary; /* RESOLVE_NONE for spots outside any mapping. */
	bool is_mixed; /* Some functions lie inside others, so their spots had to be moved. */
};

struct plain_order {
	const struct plain_placed *placed;
	const struct machine *machine;
	size_t *begin; /* Number of each fold's first spot among all spots, with one more entry at the end. */
	size_t spot_count; /* Number of spots of all folds. */
	struct plain_area *areas; /* In the order of the machine's binaries, followed by one for spots outside any. */
	size_t area_count;
	/* The key is the start of the spot's function, or the spot's own address if there is no symbol. The index holds
	 * the number of the fold in its upper half and that of the spot in its lower half. */
	struct sort_key *keys;
	/* The first spot_count entries hold in their index the symbol of the function, in areas that are not mixed;
	 * twice as many more entries are scratch space. */
	struct sort_key *room;
};

/* Returns false when out of memory; plain_order_deinit must be called in both cases. */
bool plain_order_make(struct plain_order *order, const struct plain_placed *placed, const struct machine *machine);
void plain_order_deinit(struct plain_order *order);
/* Returns the number of the area that contains this index of the order. */
size_t plain_order_area(const struct plain_order *order, size_t at);
/* Returns the symbol of the function that begins at this index; NULL if unknown. */
const struct symbol *plain_order_symbol(const struct plain_order *order, const struct plain_area *area, size_t at);
/* Returns the index after the last spot of the function that begins at this index. */
size_t plain_order_function_end(const struct plain_order *order, const struct plain_area *area, size_t at);

static inline const struct plain_spot *plain_order_spot(const struct plain_order *order, uint64_t packed)
{
	return &order->placed->folds[packed >> 32].spots[(uint32_t)packed];
}
/* Returns the number of a spot among the spots of all folds. */
static inline size_t plain_order_number(const struct plain_order *order, uint64_t packed)
{
	return order->begin[packed >> 32] + (uint32_t)packed;
}

#endif
