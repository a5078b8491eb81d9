/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_match.h - finds functions, files and threads of several profiles that are the same although a compiler, a
 * version or a process put a number into their names (base/name_identity.h).
 *
 * Names that occur in all profiles stay distinct. Functions with names that differ only in such numbers are one
 * function if any of these names is missing in a profile; files and threads are joined only by names that are missing
 * in some profile. It owns copies of all names; the caller calls name_match_deinit.
 *
 *	name_match_init(&match, profiles, 2, err);
 *	struct tally_str same = name_match_get(&match, NAME_MATCH_FUNCTION, STR("hot.llvm.2")); // "hot.llvm.1"
 *	for (size_t i = 0; i < match.sets[0].pair_count; i++) use(match.sets[0].pairs[i].name);
 *	name_match_deinit(&match);
 */
#ifndef PROFILE_NAME_MATCH_H
#define PROFILE_NAME_MATCH_H

#include "profile/profile.h"

enum name_match_kind { NAME_MATCH_FUNCTION, NAME_MATCH_FILE, NAME_MATCH_THREAD, NAME_MATCH_KINDS };

struct name_match_pair { /* IDs of a name and of the one from an earlier profile that it was joined with. */
	uint32_t name, same;
};

struct name_match_set {
	struct intern names;
	size_t count; /* Number of names from the profiles; further names only represent others. */
	/* For each name from the profiles the name that represents it in all of them, usually itself. */
	uint32_t *same;
	struct name_match_pair *pairs;
	size_t pair_count;
};

struct name_match {
	struct name_match_set sets[NAME_MATCH_KINDS];
};

/* Profiles may be NULL, and are not used after the call. */
TALLY_MUST_CHECK enum tally_status name_match_init(
	struct name_match *match, const struct profile *const *profiles, size_t profile_count, struct tally_error *err);
void name_match_deinit(struct name_match *match);
/* Returns the name that represents this one in all profiles. match may be NULL; an unknown name represents itself. */
struct tally_str name_match_get(const struct name_match *match, enum name_match_kind kind, struct tally_str name);

#endif
