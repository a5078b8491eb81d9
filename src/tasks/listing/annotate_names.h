/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_names.h - finds the function that a user's name stands for: in full, or without parameters, template
 * arguments or scopes.
 *
 *	annotate_names_see(&names, symbol, count);	of each frame that has samples
 *	annotate_names_choose(&names, "FindEqual", &symbol, err);	"Map<int, long>::FindEqual", if only that has any
 */
#ifndef TASKS_LISTING_ANNOTATE_NAMES_H
#define TASKS_LISTING_ANNOTATE_NAMES_H

#include <tally/status.h>

#include "base/map_u64.h"
#include "base/vec.h"

struct annotate_name {
	const char *symbol; /* borrowed */
	uint64_t samples;
	unsigned distance; /* edit distance from the requested name */
};

struct annotate_names {
	VEC(struct annotate_name) items;
	struct map_u64 by_symbol; /* address of the name, which the frames of a function share */
};

/* Whether the names are equal, with or without parameters. */
bool annotate_names_is(const char *symbol, const char *wanted);
/* The same without template arguments and scopes. */
bool annotate_names_is_part(const char *symbol, const char *wanted);
/* False: out of memory. */
bool annotate_names_see(struct annotate_names *names, const char *symbol, uint64_t samples);
/* chosen: the wanted name itself, or the only name that it is a part of. The message of NOT_FOUND has the nearest
 * names, that of INVALID the possible ones. OK if there are no names at all. The order of the names changes. */
TALLY_MUST_CHECK enum tally_status annotate_names_choose(
	struct annotate_names *names, const char *wanted, const char **chosen, struct tally_error *err);
void annotate_names_deinit(struct annotate_names *names);

#endif
