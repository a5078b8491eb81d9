/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_instances.h - collects the call chains of each row that is heavy enough for a call graph. Most rows of a large
 * table are not: samples are walked a second time, for those that are.
 *
 * Inside profile/, part of making a table. Workers walk their own part and write to places of their own.
 */
#ifndef PROFILE_FLAT_FLAT_INSTANCES_H
#define PROFILE_FLAT_FLAT_INSTANCES_H

#include "profile/flat/flat_part.h"

struct flat_keeping { /* the parts are joined in the first, and each has its rows' places there */
	struct flat_part *parts;
	size_t count;
	bool *is_kept; /* by frame: as a caller, some row of it needs instances; NULL: nothing is to be kept */
};

/* What the rows, those of the first part, say of their instances, and room for these; the other members of rows are left
 * alone. False: out of memory. */
bool flat_instances_place(struct flat_keeping *keeping);
/* Then the instances themselves. */
void flat_instances_keep(struct flat_keeping *keeping);
void flat_instances_deinit(struct flat_keeping *keeping);

#endif
