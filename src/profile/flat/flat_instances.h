/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_instances.h - collects the call chains of each row that is heavy enough for a call graph. Most rows of a large
 * table are not, so the samples are read a second time, for the heavy rows only.
 *
 * Private to profile/. Each worker reads its own part and writes to separate memory.
 */
#ifndef PROFILE_FLAT_FLAT_INSTANCES_H
#define PROFILE_FLAT_FLAT_INSTANCES_H

#include "profile/flat/flat_part.h"

struct flat_keeping { /* all parts are joined into the first, and each keeps the places of its rows there */
	struct flat_part *parts;
	size_t count;
	bool *is_kept; /* by frame: as a caller, some row of it needs instances; NULL: nothing is to be kept */
};

/* Counts the instances of each row (a row of the first part), and allocates room for them; other members of rows stay
 * as they are. False: out of memory. */
bool flat_instances_place(struct flat_keeping *keeping);
/* Then the instances themselves. */
void flat_instances_keep(struct flat_keeping *keeping);
void flat_instances_deinit(struct flat_keeping *keeping);

#endif
