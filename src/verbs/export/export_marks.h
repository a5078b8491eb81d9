/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_marks.h - collects all other information of a recording for views over time: thread names, started programs,
 * forks, exits, losses, and context switches.
 *
 * The caller selects the kinds and deinits. Borrows nothing after export_marks_read.
 *
 *	struct export_marks marks = {.with_switches = true};
 *	export_marks_read(&marks, reader, err);  // the reader stands at its start before and after
 *	view.marks = &marks.items; view.mark_texts = &marks.texts;
 */
#ifndef VERBS_EXPORT_EXPORT_MARKS_H
#define VERBS_EXPORT_EXPORT_MARKS_H

#include "base/vec.h"
#include "perfdata/reader.h"
#include "perfdata/time_spans.h"
#include "view/export/export_view.h"

struct export_marks {
	struct spool items; /* of struct export_mark, by time */
	struct intern texts;
	bool with_switches;
	bool has_counts; /* the recording has those of stat record */
	const struct time_spans *spans; /* marks outside them are left out, but for names; NULL: none are */
};

TALLY_MUST_CHECK enum tally_status export_marks_read(
	struct export_marks *marks, struct perfdata_reader *reader, struct tally_error *err);
void export_marks_deinit(struct export_marks *marks);

#endif
