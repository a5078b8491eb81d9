/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_sdt.h - lists the statically defined probes (SDT) of the programs in the build-ID cache, for `list`.
 */
#ifndef VERBS_LIST_LIST_SDT_H
#define VERBS_LIST_LIST_SDT_H

#include "kernel/events/event_listing.h"

/* Appends the probes with names "sdt_PROVIDER:NAME" that match the glob pattern, ignoring case. Each name is listed
 * once; its description is the paths of its programs. If build_id_dir is NULL, the default cache is read; an unreadable
 * cache counts as empty. The only error is NOMEM. */
TALLY_MUST_CHECK enum tally_status list_sdt_add(
	struct event_listing *listing, const char *build_id_dir, const char *pattern, struct tally_error *err);

#endif
