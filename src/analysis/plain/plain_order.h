/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_order.h - sorts the placed samples of a plain profile by function. Part of plain_sum.
 *
 * The spots of each binary are adjacent, and within it the spots of each function, in the order of start addresses. So
 * several workers can go through spots and symbols in the same order, without searching for each symbol.
 *
 *	if (!plain_order_make(&order, &placed, machine)) ...
 *	for each task: at = a place that begins a function; end = plain_order_function_end(&order, area, at); ...
 *	plain_order_deinit(&order);
 */
#ifndef ANALYSIS_PLAIN_PLAIN_ORDER_H
#define ANALYSIS_PLAIN_PLAIN_ORDER_H

#include "analysis/plain/plain_fold.h"
#include "base/key_sort.h"

struct plain_placed {
	struct plain_fold *folds; /* in order of what they read */
	size_t count;
	const struct binary_store *store;
	const uint32_t *store_ids; /* by binary of the machine; RESOLVE_NONE: has no symbols */
	unsigned threads; /* 0: one per CPU */
};

struct plain_area { /* a binary's addresses that were hit */
	uint64_t first, last;
	uint64_t shift; /* added to a key: the address */
	size_t begin, end; /* in the order */
	uint32_t binary; /* RESOLVE_NONE: nothing was mapped there */
	bool is_mixed; /* functions lie inside others, so that spots had to be moved */
};

struct plain_order {
	const struct plain_placed *placed;
	const struct machine *machine;
	size_t *begin; /* by fold, and behind the last one: its first spot among all */
	size_t spot_count; /* of all */
	struct plain_area *areas; /* one behind another in the order; by binary, and one for what lies in none */
	size_t area_count;
	struct sort_key *keys; /* where the spot's function starts, or its address; which spot: fold << 32 | index */
	struct sort_key *room; /* index: the symbol, in areas that are not mixed; behind it two times as much */
};

/* False: out of memory; call plain_order_deinit then, too. */
bool plain_order_make(struct plain_order *order, const struct plain_placed *placed, const struct machine *machine);
void plain_order_deinit(struct plain_order *order);
/* The area of this place in the order. */
size_t plain_order_area(const struct plain_order *order, size_t at);
/* The symbol of the function whose spots begin there; NULL: none is known. */
const struct symbol *plain_order_symbol(const struct plain_order *order, const struct plain_area *area, size_t at);
/* The place after the last spot of the function whose spots begin there. */
size_t plain_order_function_end(const struct plain_order *order, const struct plain_area *area, size_t at);

static inline const struct plain_spot *plain_order_spot(const struct plain_order *order, uint64_t packed)
{
	return &order->placed->folds[packed >> 32].spots[(uint32_t)packed];
}
/* The number of a spot among those of all folds. */
static inline size_t plain_order_number(const struct plain_order *order, uint64_t packed)
{
	return order->begin[packed >> 32] + (uint32_t)packed;
}

#endif
