/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch.h - decodes entries of the branch stack of a sample. Pure. Source: linux/perf_event.h, struct
 * perf_branch_entry.
 *
 *	struct sample_branch branch = sample_branch_at(&sample, 0);
 */
#ifndef ABI_BRANCH_H
#define ABI_BRANCH_H

#include "abi/sample.h"

#define SAMPLE_BRANCH_WORDS 3 /* Number of words of an entry: from, to, flags. */

struct sample_branch {
	uint64_t from, to;
	bool is_mispredicted, is_predicted, in_transaction, is_abort;
	unsigned cycles, type, more_type;
};

static inline uint32_t sample_branch_count(const struct sample *sample)
{
	return sample->branches.entries.count / SAMPLE_BRANCH_WORDS;
}

/* The kind of a branch for statistics: the number of its type with bits for its direction and distance. */
#define BRANCH_KINDS	      31 /* Number of types; 0 is unknown, from 15 on those of PERF_BR_EXTEND_ABI. */
#define BRANCH_KIND_CONDITION 1
#define BRANCH_KIND_EXTENDED  15
#define BRANCH_KIND_TYPE      0x1fu
#define BRANCH_KIND_BACKWARD  0x20u
#define BRANCH_KIND_CROSS_4K  0x40u /* The target is in another page, but within the same 2 MiB. */
#define BRANCH_KIND_CROSS_2M  0x80u
struct sample_branch sample_branch_at(const struct sample *sample, size_t index);
/* Appends the type, such as "COND" or "CALL"; nothing if it is unknown. */
void sample_branch_type_print(struct text *t, const struct sample_branch *branch);
/* Returns the kind of a branch; 0 if its type is unknown. */
unsigned sample_branch_kind(const struct sample_branch *branch);
/* Appends the name of a type number. */
void branch_kind_print(struct text *t, unsigned type);

#endif
