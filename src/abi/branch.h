/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch.h - decodes the flags of one entry of a sample's branch stack. A value. Source: linux/perf_event.h, struct
 * perf_branch_entry.
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

/* The kind of a branch for statistics, in one word: the number of its type, and its direction. */
#define BRANCH_KINDS	      31 /* types: 0 is not known; from BRANCH_KIND_EXTENDED on, those of PERF_BR_EXTEND_ABI */
#define BRANCH_KIND_CONDITION 1
#define BRANCH_KIND_EXTENDED  15
#define BRANCH_KIND_TYPE      0x1fu
#define BRANCH_KIND_BACKWARD  0x20u
#define BRANCH_KIND_CROSS_4K  0x40u /* to another page, but within 2 MiB */
#define BRANCH_KIND_CROSS_2M  0x80u
struct sample_branch sample_branch_at(const struct sample *sample, size_t index);
/* "COND", "CALL", ...; nothing for a branch of unknown type. */
void sample_branch_type_print(struct text *t, const struct sample_branch *branch);
/* 0: its type is not known. */
unsigned sample_branch_kind(const struct sample_branch *branch);
/* The name of a type as above. */
void branch_kind_print(struct text *t, unsigned type);

#endif
