/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_cgroups.h - the cgroups that --for-each-cgroup names: names as they are, and patterns (regular expressions) for those that match
 * from their beginning.
 *
 *	struct name_list names = {0};
 *	if (stat_cgroups_find(kernel, "system.slice,kube.*", &names, err) == TALLY_OK) ...
 *	name_list_deinit(&names);
 */
#ifndef VERBS_STAT_STAT_CGROUPS_H
#define VERBS_STAT_STAT_CGROUPS_H

#include "kernel/system/kernel_files.h"

/* In the order of the words, those of a pattern by name; each once. A pattern that matches none: NOT_FOUND. Names are not looked
 * up. */
TALLY_MUST_CHECK enum tally_status stat_cgroups_find(
	const struct kernel_seam *kernel, const char *text, struct name_list *names, struct tally_error *err);

#endif
