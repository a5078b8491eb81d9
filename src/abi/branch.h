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
	/* CPU cycles since the previous branch (0: unknown); type and new_type of struct perf_branch_entry. */
	unsigned cycles, type, more_type;
};

/* Returns the number of entries. */
static inline uint32_t sample_branch_count(const struct sample *sample)
{
	return sample->branches.entries.count / SAMPLE_BRANCH_WORDS;
}

/* The kind of a branch for statistics: the number of its type, and bits for its direction and distance. Types below 15
 * are PERF_BR_..., with 0 for unknown; types from 15 on are PERF_BR_NEW_... plus 15. */
#define BRANCH_KINDS	      31 /* Number of types. */
#define BRANCH_KIND_CONDITION 1
#define BRANCH_KIND_EXTENDED  15
#define BRANCH_KIND_TYPE      0x1fu
#define BRANCH_KIND_BACKWARD  0x20u
#define BRANCH_KIND_CROSS_4K  0x40u /* The target is in another page, but within the same 2 MiB. */
#define BRANCH_KIND_CROSS_2M  0x80u

/* Decodes an entry; index is below sample_branch_count. */
struct sample_branch sample_branch_at(const struct sample *sample, size_t index);
/* Appends the type, such as "COND" or "CALL"; nothing if it is unknown. */
void sample_branch_type_print(struct text *t, const struct sample_branch *branch);
/* Returns the kind of a branch; 0 if its type or its source address is unknown. */
unsigned sample_branch_kind(const struct sample_branch *branch);
/* Appends the name of a type number. */
void branch_kind_print(struct text *t, unsigned type);

#endif
