/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_counts.h - reads the counts of a recording made by stat record for an HTML page: each place (CPU, core,
 * thread) and each interval separately, as stat report shows them.
 *
 * The caller deinitialises the result, also after a failure. The result borrows nothing from the reader, which must be
 * at its start and is rewound afterwards.
 *
 *	export_counts_read(&counts, reader, err);
 *	view.counts = &counts.view;
 */
#ifndef VERBS_EXPORT_EXPORT_COUNTS_H
#define VERBS_EXPORT_EXPORT_COUNTS_H

#include "base/arena.h"
#include "base/vec.h"
#include "perfdata/reader.h"
#include "view/export/export_view.h"

struct export_counts_read {
	struct arena names;
	struct export_count *events;
	VEC(struct export_count_round) rounds;
	VEC(double) values; /* For each round (interval of stat record), one value for each element of events. */
	struct export_counts view;
};

TALLY_MUST_CHECK enum tally_status export_counts_read(
	struct export_counts_read *counts, struct perfdata_reader *reader, struct tally_error *err);
void export_counts_deinit(struct export_counts_read *counts);

#endif
