/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_match.h - finds which functions, files and threads of several profiles are the same although a compiler, a
 * version or a process left a number in their names (base/name_identity.h).
 *
 * Names that all profiles have stay apart. A group of functions that differ in such numbers only is one function as
 * soon as one of its names is missing in a profile; files and threads are joined only by names that some profile lacks.
 * Owns copies of all names; the caller deinits.
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

struct name_match_pair { /* ids of names; a name and the one of an earlier profile that it was joined with */
	uint32_t name, same;
};

struct name_match_set {
	struct intern names;
	size_t count; /* names of the profiles; those behind them stand for others */
	uint32_t *same; /* by name of the profiles: what stands for it in all of them, itself as a rule */
	struct name_match_pair *pairs;
	size_t pair_count;
};

struct name_match {
	struct name_match_set sets[NAME_MATCH_KINDS];
};

/* Profiles may be NULL, and are not borrowed. */
TALLY_MUST_CHECK enum tally_status name_match_init(
	struct name_match *match, const struct profile *const *profiles, size_t profile_count, struct tally_error *err);
void name_match_deinit(struct name_match *match);
/* The name that stands for this one in all profiles. match may be NULL; a name that is not known stands for itself. */
struct tally_str name_match_get(const struct name_match *match, enum name_match_kind kind, struct tally_str name);

#endif
