/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cached_arguments.h - selects and renames the arguments of probes that were found by name (cached_probes.h): for an
 * SDT probe with arg1 and arg2, "line=arg2 file=arg1:string" fetches arg2 under the name "line", and as "file" the
 * string that arg1 points to. Arguments in the kernel's syntax (%di, $stack1) are used unchanged.
 *
 *	status = cached_arguments_choose(&list, definition.arguments, definition.argument_count, err);
 */
#ifndef TASKS_PROBING_CACHED_ARGUMENTS_H
#define TASKS_PROBING_CACHED_ARGUMENTS_H

#include "code/probing/probe_text.h"
#include "tasks/probing/cached_probes.h"

/* Rewrites the lines of the probes in the list; if count is 0, the probes keep their own arguments. Probes that lack
 * one of the arguments are removed from the list and counted in list->left. Returns NOT_FOUND if that leaves no
 * probe. */
TALLY_MUST_CHECK enum tally_status cached_arguments_choose(
	struct cached_probe_list *list, const struct probe_argument *arguments, size_t count, struct tally_error *err);

#endif
