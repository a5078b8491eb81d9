/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feature_table.h - describes each feature section in one row: its number, its name and its reader.
 *
 * Decoding fills one struct perfdata_features; arrays are allocated in the given arena, and texts are slices of the
 * section. A malformed section is counted in features->damaged, and its fields stay as they were.
 */
#ifndef PERFDATA_FEATURE_TABLE_H
#define PERFDATA_FEATURE_TABLE_H

#include "base/arena.h"
#include "perfdata/features.h"

struct feature_input {
	struct tally_bytes section;
	bool swap;
	struct arena *arena;
	struct perfdata_features *features;
};

/* The name in perf's list of missing features (--header), such as "HOSTNAME"; NULL if unknown. */
const char *feature_name(unsigned bit);
/* Whether the feature is a flag, whose section has no contents. */
bool feature_is_flag(unsigned bit);
/* The name in perf's titles of the group that this event leads: "anon group" if it has no name of its own. */
struct tally_str feature_group_name(const struct perfdata_features *features, uint32_t leader_index);
/* Keeps raw[] and decodes the known parts. Returns NOMEM or OK: damage is only counted. */
TALLY_MUST_CHECK enum tally_status feature_decode(
	unsigned bit, const struct feature_input *input, struct tally_error *err);

#endif
