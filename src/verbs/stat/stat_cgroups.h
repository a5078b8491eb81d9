/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_cgroups.h - finds the cgroups that --for-each-cgroup selects, by names and by patterns (regular expressions)
 * that must match from the beginning.
 *
 *	struct name_list names = {0};
 *	if (stat_cgroups_find(kernel, "system.slice,kube.*", &names, err) == TALLY_OK) ...
 *	name_list_deinit(&names);
 */
#ifndef VERBS_STAT_STAT_CGROUPS_H
#define VERBS_STAT_STAT_CGROUPS_H

#include "kernel/system/kernel_files.h"

/* Appends each cgroup once, in the order of the words of text; matches of a pattern are sorted by name. Returns
 * NOT_FOUND if a pattern matches no cgroup. Words that are not patterns are names, which are not checked for
 * existence. */
TALLY_MUST_CHECK enum tally_status stat_cgroups_find(
	const struct kernel_seam *kernel, const char *text, struct name_list *names, struct tally_error *err);

#endif
