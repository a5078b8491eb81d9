/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch_mix.h - counts the branches of a recording by type, if the CPU recorded types, for the summary below `report
 * -b`.
 *
 * Conditional branches are also classified by direction, and all branches by whether they cross a 4 KB or 2 MB
 * boundary.
 *
 *	branch_mix_add(&mix, sample_branch_kind(&branch), 1);
 *	branch_mix_print(&mix, out);
 */
#ifndef VERBS_REPORT_BRANCH_MIX_H
#define VERBS_REPORT_BRANCH_MIX_H

#include "abi/branch.h"
#include "base/json.h"

struct branch_mix {
	uint64_t total; /* Number of branches of known type. */
	uint64_t forward, backward, cross_4k, cross_2m;
	uint64_t types[BRANCH_KINDS];
};

/* kind is a result of sample_branch_kind. */
void branch_mix_add(struct branch_mix *mix, uint64_t kind, uint64_t count);
/* Both append nothing if no branch has a known type. branch_mix_json appends a member "branch_types". */
void branch_mix_print(const struct branch_mix *mix, struct text *out);
void branch_mix_json(const struct branch_mix *mix, struct json *j);

#endif
