/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cached_arguments.h - chooses arguments of probes that were found by name (cached_probes.h): of an SDT probe with
 * arg1 and arg2, "line=arg2 file=arg1:string" fetches the second as "line", and as "file" the text that the first points
 * at. What is written in the kernel's words (%di, $stack1) is taken over.
 *
 *	status = cached_arguments_choose(&list, definition.arguments, definition.argument_count, err);
 */
#ifndef TASKS_PROBING_CACHED_ARGUMENTS_H
#define TASKS_PROBING_CACHED_ARGUMENTS_H

#include "code/probing/probe_text.h"
#include "tasks/probing/cached_probes.h"

/* Rewrites the lines of the list. Places that lack one of the arguments leave the list and are counted in list->left;
 * NOT_FOUND: all do. Without arguments the probes keep their own. */
TALLY_MUST_CHECK enum tally_status cached_arguments_choose(
	struct cached_probe_list *list, const struct probe_argument *arguments, size_t count, struct tally_error *err);

#endif
