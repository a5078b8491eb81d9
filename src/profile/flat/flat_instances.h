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

/* The parts of a table. All are joined into the first one, and each keeps the positions of its rows there. */
struct flat_keeping {
	struct flat_part *parts;
	size_t count;
	bool *is_kept; /* Indexed by frame: as a caller, it is in a row that needs instances; NULL if no row does. */
};

/* Counts the instances of each row (of the first part), and reserves memory for them; other members of rows do not
 * change. Returns false when out of memory. */
bool flat_instances_place(struct flat_keeping *keeping);
/* Stores the instances after flat_instances_place. */
void flat_instances_keep(struct flat_keeping *keeping);
void flat_instances_deinit(struct flat_keeping *keeping);

#endif
