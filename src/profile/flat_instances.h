/*
 * flat_instances.h - the chains below each row of a table that is heavy enough for a call graph. Most rows of a large
 * table are not: samples are walked a second time, for those that are.
 *
 * Inside profile/, part of making a table. Workers walk their own part and write to places of their own.
 */
#ifndef PROFILE_FLAT_INSTANCES_H
#define PROFILE_FLAT_INSTANCES_H

#include "profile/flat_part.h"

/* Fills the table's instances and what its rows, those of the first part, say of them. The parts are joined in the first,
 * and each has its rows' places there. False: out of memory. */
bool flat_instances_keep(struct flat_part *parts, size_t count);

#endif
