/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_order.h - what was placed of a flat profile in the order of its functions. Part of flat_sum.
 *
 * The spots of each binary lie side by side, and in it those of each function, by where it starts; so symbols are met
 * one after another, by several workers, and none is looked up at random.
 *
 *	if (!flat_order_make(&order, &placed, machine)) ...
 *	for each task: at = a place that begins a function; end = flat_order_function_end(&order, area, at); ...
 *	flat_order_deinit(&order);
 */
#ifndef ANALYSIS_FLAT_FLAT_ORDER_H
#define ANALYSIS_FLAT_FLAT_ORDER_H

#include "analysis/flat/flat_fold.h"
#include "base/key_sort.h"

struct flat_placed {
	struct flat_fold *folds; /* in order of what they read */
	size_t count;
	const struct binary_store *store;
	const uint32_t *store_ids; /* by binary of the machine; RESOLVE_NONE: has no symbols */
	unsigned threads; /* 0: one per CPU */
};

struct flat_area { /* a binary's addresses that were hit */
	uint64_t first, last;
	uint64_t shift; /* added to a key: the address */
	size_t begin, end; /* in the order */
	uint32_t binary; /* RESOLVE_NONE: nothing was mapped there */
	bool is_mixed; /* functions lie in others, so that spots had to be moved */
};

struct flat_order {
	const struct flat_placed *placed;
	const struct machine *machine;
	size_t *begin; /* by fold, and behind the last one: its first spot among all */
	size_t spot_count; /* of all */
	struct flat_area *areas; /* one behind another in the order; by binary, and one for what lies in none */
	size_t area_count;
	struct sort_key *keys; /* where the spot's function starts, or its address; which spot: fold << 32 | index */
	struct sort_key *room; /* index: the symbol, in areas that are not mixed; behind it two times as much */
};

/* False: out of memory; to be deinited all the same. */
bool flat_order_make(struct flat_order *order, const struct flat_placed *placed, const struct machine *machine);
void flat_order_deinit(struct flat_order *order);
/* The area that this place of the order lies in. */
size_t flat_order_area(const struct flat_order *order, size_t at);
/* The symbol of the function whose spots begin there; NULL: none is known. */
const struct symbol *flat_order_symbol(const struct flat_order *order, const struct flat_area *area, size_t at);
/* Where the function ends whose spots begin there. */
size_t flat_order_function_end(const struct flat_order *order, const struct flat_area *area, size_t at);

static inline const struct flat_spot *flat_order_spot(const struct flat_order *order, uint64_t packed)
{
	return &order->placed->folds[packed >> 32].spots[(uint32_t)packed];
}
/* Among those of all folds. */
static inline size_t flat_order_number(const struct flat_order *order, uint64_t packed)
{
	return order->begin[packed >> 32] + (uint32_t)packed;
}

#endif
