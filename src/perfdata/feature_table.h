/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feature_table.h - describes each feature section in one row: its number, its name and its reader.
 *
 * Decoding fills a struct perfdata_features; arrays are allocated in the arena of the input, and texts are slices of
 * the section. A malformed section is counted in features->damaged, and nothing else is set for it.
 */
#ifndef PERFDATA_FEATURE_TABLE_H
#define PERFDATA_FEATURE_TABLE_H

#include "base/arena.h"
#include "perfdata/features.h"

struct feature_input {
	struct tally_bytes section;
	bool swap; /* The section has the other byte order than this host. */
	struct arena *arena;
	struct perfdata_features *features;
};

/* Returns the name in perf's list of missing features (--header), such as "HOSTNAME"; NULL if unknown. */
const char *feature_name(unsigned bit);
/* Returns whether the feature is a flag: its section has no contents. */
bool feature_is_flag(unsigned bit);
/* Returns the name of the group that this event leads, as in perf's titles; "anon group" if it has none. */
struct tally_str feature_group_name(const struct perfdata_features *features, uint32_t leader_index);
/* Stores the section in raw[] and decodes known features. Fails only if memory runs out; damage is only counted. */
TALLY_MUST_CHECK enum tally_status feature_decode(
	unsigned bit, const struct feature_input *input, struct tally_error *err);

#endif
