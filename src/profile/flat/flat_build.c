/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/error.h"
#include "base/thread_pool.h"
#include "profile/flat/flat_chain_keys.h"
#include "profile/flat/flat_rows.h"
#include "profile/flat/flat_table.h"

#define MANY_FRAMES 4096 /* Fewer frames are handled by one worker. */

/* Rows need two independent preparations: of frames and of samples. */
#define PREPARATIONS 2

struct preparation {
	struct flat_table *table;
	struct flat_groups *groups;
	const struct flat_chains *chains;
	bool is_done[PREPARATIONS];
};

static void flat_build_prepare(void *context, size_t index, unsigned worker)
{
	struct preparation *p = context;
	struct flat_table *table = p->table;
	if (index == 0)
		p->is_done[index] = flat_groups_frames(p->groups, table->profile, &table->options) &&
				    (!table->options.with_chains || flat_chain_keys_make(table, p->groups));
	else
		p->is_done[index] = flat_groups_samples(p->groups, table, p->chains);
}

static bool prepare_rows(struct preparation *preparation)
{
	const struct flat_table *table = preparation->table;
	unsigned threads = table->profile->frame_count < MANY_FRAMES ? 1 : table->options.threads;
	thread_pool_for(PREPARATIONS, threads, flat_build_prepare, preparation);
	for (size_t i = 0; i < PREPARATIONS; i++)
		if (!preparation->is_done[i])
			return false;
	return true;
}

enum tally_status flat_table_init(struct flat_table *table, const struct profile *profile,
	const struct flat_options *options, struct tally_error *err)
{
	struct flat_table made = {.profile = profile, .options = *options};
	if (options->member_count == 0 || options->first_event + options->member_count > profile->event_count)
		return error_set(err, TALLY_INVALID, "no event %u in this profile", options->first_event);
	struct flat_groups groups = {0};
	struct flat_chains chains = {0};
	struct preparation preparation = {.table = &made, .groups = &groups, .chains = &chains};
	made.totals = calloc(options->member_count + 1, sizeof(*made.totals));
	bool is_done = made.totals && flat_chains_make(&chains, profile, &made.options) && prepare_rows(&preparation) &&
		       flat_rows_make(&made, &(struct flat_rows_source){&groups, &chains});
	made.chains = chains.frames;
	made.has_cut_chains = chains.is_cut;
	chains.frames = NULL;
	flat_chains_deinit(&chains);
	flat_groups_deinit(&groups);
	if (!is_done) {
		flat_table_deinit(&made);
		return error_nomem(err);
	}
	*table = made;
	return TALLY_OK;
}
