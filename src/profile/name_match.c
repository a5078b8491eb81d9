/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/name_match.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/name_identity.h"
#include "base/vec.h"

struct name_presence {
	uint32_t first, last; /* The first and the last profile with the name. */
	uint32_t count; /* Number of profiles with the name. */
};

struct name_group { /* Names with one identity. */
	struct name_presence presence; /* The profiles with one of the names that may be joined. */
	bool differs; /* Some profile lacks one of the names. */
	uint32_t shown; /* The name that represents those that may be joined; INTERN_NONE: none yet. */
};

struct name_match_builder {
	struct name_match_set *set;
	enum name_match_kind kind;
	uint32_t profile_count;
	VEC(struct name_presence) presence; /* Indexed by name. */
	VEC(uint32_t) group_of; /* Indexed by name. */
	VEC(struct name_group) groups;
	VEC(struct name_match_pair) pairs;
	struct intern identities;
	struct text room;
};

static void presence_add(struct name_presence *presence, uint32_t profile)
{
	if (presence->count && presence->last == profile)
		return;
	if (presence->count++ == 0)
		presence->first = profile;
	presence->last = profile;
}

static bool name_match_add(struct name_match_builder *b, struct tally_str name, uint32_t profile)
{
	uint32_t id;
	if (!intern_add(&b->set->names, name.data, name.len, &id))
		return false;
	if (id == b->presence.len && !vec_push(&b->presence, ((struct name_presence){0})))
		return false;
	presence_add(&b->presence.items[id], profile);
	return true;
}

static size_t name_match_count(enum name_match_kind kind, const struct profile *p)
{
	return kind == NAME_MATCH_FUNCTION ? p->function_count
	       : kind == NAME_MATCH_FILE   ? p->binary_count
					   : p->thread_count;
}

static struct tally_str name_match_nth(enum name_match_kind kind, const struct profile *p, size_t index)
{
	return profile_string(p, kind == NAME_MATCH_FUNCTION ? p->functions[index].name
				 : kind == NAME_MATCH_FILE   ? p->binaries[index].name
							     : p->threads[index].comm);
}

static bool name_match_read(struct name_match_builder *b, const struct profile *p, uint32_t profile)
{
	bool is_done = true;
	for (size_t i = 0; is_done && i < name_match_count(b->kind, p); i++)
		is_done = name_match_add(b, name_match_nth(b->kind, p, i), profile);
	return is_done;
}

/* Returns whether the name may count as equal to others of its group. A file or thread name that all profiles have may
 * not. */
static bool name_match_may_join(const struct name_match_builder *b, uint32_t name)
{
	return b->kind == NAME_MATCH_FUNCTION || b->presence.items[name].count < b->profile_count;
}

/* A name in an earlier profile is preferred; of names in one profile the shortest, because the others have a
 * suffix. */
static bool is_better_shown(const struct name_match_builder *b, uint32_t name, uint32_t shown)
{
	uint32_t first = b->presence.items[name].first, other = b->presence.items[shown].first;
	if (first != other)
		return first < other;
	return intern_get(&b->set->names, name).len < intern_get(&b->set->names, shown).len;
}

static bool name_match_group(struct name_match_builder *b, uint32_t name)
{
	struct tally_str text = intern_get(&b->set->names, name);
	struct tally_str same = b->kind == NAME_MATCH_FUNCTION ? name_identity_function(text, &b->room)
							       : name_identity_file(text, &b->room);
	uint32_t id;
	if (b->room.failed || !intern_add(&b->identities, same.data, same.len, &id))
		return false;
	if (id == b->groups.len && !vec_push(&b->groups, ((struct name_group){.shown = INTERN_NONE})))
		return false;
	b->group_of.items[name] = id;
	struct name_group *group = &b->groups.items[id];
	group->differs |= b->presence.items[name].count < b->profile_count;
	if (name_match_may_join(b, name) && (group->shown == INTERN_NONE || is_better_shown(b, name, group->shown)))
		group->shown = name;
	return true;
}

/* Adds the profile to the presence of each group with a name in it. Called profile by profile, because the names of a
 * group come in any order. */
static void name_match_cover(struct name_match_builder *b, const struct profile *p, uint32_t profile)
{
	for (size_t i = 0; i < name_match_count(b->kind, p); i++) {
		struct tally_str name = name_match_nth(b->kind, p, i);
		uint32_t id = intern_find(&b->set->names, name.data, name.len);
		if (id < b->group_of.len && name_match_may_join(b, id))
			presence_add(&b->groups.items[b->group_of.items[id]].presence, profile);
	}
}

static bool name_match_join(struct name_match_builder *b, uint32_t name)
{
	struct name_match_set *set = b->set;
	const struct name_group *group = &b->groups.items[b->group_of.items[name]];
	set->same[name] = name;
	if (b->kind == NAME_MATCH_FILE) {
		/* The PID in a file name does not identify the file, in whichever profile it is. */
		struct tally_str shared = name_identity_shared(intern_get(&set->names, name), &b->room);
		if (b->room.failed)
			return false;
		if (!str_equal(shared, intern_get(&set->names, name)))
			return intern_add(&set->names, shared.data, shared.len, &set->same[name]);
	}
	if (!group->differs || group->presence.count < 2 || !name_match_may_join(b, name))
		return true;
	set->same[name] = group->shown;
	return group->shown == name || vec_push(&b->pairs, ((struct name_match_pair){name, group->shown}));
}

static bool name_match_build(struct name_match_builder *b, const struct profile *const *profiles)
{
	bool is_built = true;
	for (uint32_t i = 0; is_built && i < b->profile_count; i++)
		is_built = !profiles[i] || name_match_read(b, profiles[i], i);
	uint32_t count = (uint32_t)b->presence.len;
	b->set->same = calloc((size_t)count + 1, sizeof(*b->set->same));
	if (!is_built || !b->set->same || !vec_reserve(&b->group_of, (size_t)count + 1))
		return false;
	b->group_of.len = count;
	for (uint32_t i = 0; is_built && i < count; i++)
		is_built = name_match_group(b, i);
	for (uint32_t i = 0; is_built && i < b->profile_count; i++)
		if (profiles[i])
			name_match_cover(b, profiles[i], i);
	for (uint32_t i = 0; is_built && i < count; i++)
		is_built = name_match_join(b, i);
	b->set->count = count;
	return is_built;
}

static bool name_match_make_set(
	struct name_match *match, enum name_match_kind kind, const struct profile *const *profiles, size_t count)
{
	struct name_match_builder b = {.set = &match->sets[kind], .kind = kind, .profile_count = (uint32_t)count};
	intern_init(&b.set->names);
	intern_init(&b.identities);
	bool is_built = name_match_build(&b, profiles);
	b.set->pairs = b.pairs.items;
	b.set->pair_count = b.pairs.len;
	vec_free(&b.presence);
	vec_free(&b.group_of);
	vec_free(&b.groups);
	intern_deinit(&b.identities);
	text_deinit(&b.room);
	return is_built;
}

enum tally_status name_match_init(
	struct name_match *match, const struct profile *const *profiles, size_t profile_count, struct tally_error *err)
{
	struct name_match made = {0};
	bool is_built = true;
	for (int kind = 0; is_built && kind < NAME_MATCH_KINDS; kind++)
		is_built = name_match_make_set(&made, (enum name_match_kind)kind, profiles, profile_count);
	if (!is_built) {
		name_match_deinit(&made);
		return error_nomem(err);
	}
	*match = made;
	return TALLY_OK;
}

void name_match_deinit(struct name_match *match)
{
	for (size_t i = 0; i < NAME_MATCH_KINDS; i++) {
		intern_deinit(&match->sets[i].names);
		free(match->sets[i].same);
		free(match->sets[i].pairs);
	}
	*match = (struct name_match){0};
}

struct tally_str name_match_get(const struct name_match *match, enum name_match_kind kind, struct tally_str name)
{
	if (!match || name.len == 0)
		return name;
	const struct name_match_set *set = &match->sets[kind];
	uint32_t id = intern_find(&set->names, name.data, name.len);
	return id >= set->count ? name : intern_get(&set->names, set->same[id]);
}
