/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_answer.h - makes a batch of the sums of a query: loads their stacks and locations, builds the profile, and
 * finds the labels that all samples have in common.
 *
 *	store_answer_make(&query, &losses, &batch, err);
 */
#ifndef STORE_STORE_ANSWER_H
#define STORE_STORE_ANSWER_H

#include "store/store_sums.h"

struct store_query {
	const struct store *store;
	const struct store_selection *selection;
	struct store_catalog catalog;
	struct store_sums sums;
};

TALLY_MUST_CHECK enum tally_status store_answer_make(const struct store_query *query, const struct fleet_losses *losses,
	struct fleet_batch **batch, struct tally_error *err);

#endif
