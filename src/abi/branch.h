/*
 * branch.h - one entry of a sample's branch stack, its flag word taken apart. A value.
 * Source: linux/perf_event.h, struct perf_branch_entry.
 *
 *	struct sample_branch branch = sample_branch_at(&sample, 0);
 */
#ifndef ABI_BRANCH_H
#define ABI_BRANCH_H

#include "abi/sample.h"

#define SAMPLE_BRANCH_WORDS 3 /* an entry's: from, to, flags */

struct sample_branch {
	uint64_t from, to;
	bool is_mispredicted, is_predicted, in_transaction, is_abort;
	unsigned cycles, type, more_type;
};

static inline uint32_t sample_branch_count(const struct sample *sample)
{
	return sample->branches.entries.count / SAMPLE_BRANCH_WORDS;
}
struct sample_branch sample_branch_at(const struct sample *sample, size_t index);
/* "COND", "CALL", ...; nothing for a branch of unknown type. */
void sample_branch_type_print(struct text *t, const struct sample_branch *branch);

#endif
