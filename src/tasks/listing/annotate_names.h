/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_names.h - finds the function that a user means by a name: a full name, or one without parameters, template
 * arguments or scopes.
 *
 *	annotate_names_see(&names, symbol, count);	for each frame that has samples
 *	annotate_names_choose(&names, "FindEqual", &symbol, err);	"Map<int, long>::FindEqual", if unambiguous
 */
#ifndef TASKS_LISTING_ANNOTATE_NAMES_H
#define TASKS_LISTING_ANNOTATE_NAMES_H

#include <tally/status.h>

#include "base/map_u64.h"
#include "base/vec.h"

struct annotate_name {
	const char *symbol; /* Borrowed from the caller. */
	uint64_t samples;
	unsigned distance; /* Edit distance from the requested name. */
};

struct annotate_names {
	VEC(struct annotate_name) items;
	/* Maps the address of a name, which all frames of a function share, to an index in items. */
	struct map_u64 by_symbol;
};

/* Returns whether the names are equal, with or without parameters. */
bool annotate_names_is(const char *symbol, const char *wanted);
/* Returns whether wanted is the symbol without some of its parameters, template arguments and leading scopes. */
bool annotate_names_is_part(const char *symbol, const char *wanted);
/* Adds the name if it is new, and adds samples to its number of samples. Returns false if memory runs out. */
bool annotate_names_see(struct annotate_names *names, const char *symbol, uint64_t samples);
/* Sets chosen to the wanted name itself, or to the only name that it is a part of. The message of NOT_FOUND lists the
 * nearest names, and that of INVALID the candidates. Returns OK if there are no names at all. Changes the order of the
 * names. */
TALLY_MUST_CHECK enum tally_status annotate_names_choose(
	struct annotate_names *names, const char *wanted, const char **chosen, struct tally_error *err);
void annotate_names_deinit(struct annotate_names *names);

#endif
