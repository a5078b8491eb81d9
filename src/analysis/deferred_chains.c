/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/deferred_chains.h"

#include "base/error.h"

void deferred_chains_deinit(struct deferred_chains *chains)
{
	map_u64_deinit(&chains->by_cookie);
	vec_free(&chains->chains);
}

enum tally_status deferred_chains_add(
	struct deferred_chains *chains, const struct record *record, bool *is_damaged, struct tally_error *err)
{
	struct record_fields fields;
	*is_damaged = record_decode(record, &fields, NULL) != TALLY_OK;
	if (*is_damaged)
		return TALLY_OK;
	const struct record_callchain_deferred *later = &fields.callchain_deferred;
	struct sample_array chain = {later->ips.data, (uint32_t)later->count};
	if (!map_u64_set(&chains->by_cookie, later->cookie, chains->chains.len) || !vec_push(&chains->chains, chain))
		return error_nomem(err);
	return TALLY_OK;
}

bool deferred_chains_cookie(const struct sample_array *chain, bool swap, uint64_t *cookie)
{
	if (chain->count < DEFERRED_WORDS ||
		sample_u64_at(chain->data, chain->count - DEFERRED_WORDS, swap) != CONTEXT_USER_DEFERRED)
		return false;
	*cookie = sample_u64_at(chain->data, chain->count - 1, swap);
	return true;
}

struct sample_array deferred_chains_find(const struct deferred_chains *chains, uint64_t cookie)
{
	uint64_t index;
	if (!chains || !map_u64_find(&chains->by_cookie, cookie, &index))
		return (struct sample_array){NULL, 0};
	return chains->chains.items[index];
}
