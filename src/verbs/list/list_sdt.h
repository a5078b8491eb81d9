/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_sdt.h - lists the statically defined probes (SDT) of the programs in the cache of build IDs, for `list`.
 */
#ifndef VERBS_LIST_LIST_SDT_H
#define VERBS_LIST_LIST_SDT_H

#include "kernel/events/event_listing.h"

/* Appends "sdt_PROVIDER:NAME" of all that match (* ? [set], any case), each name once; its description names the
 * programs. build_id_dir NULL: the usual cache; one that cannot be read has none. NOMEM only. */
TALLY_MUST_CHECK enum tally_status list_sdt_add(
	struct event_listing *listing, const char *build_id_dir, const char *pattern, struct tally_error *err);

#endif
