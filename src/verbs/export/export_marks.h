/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_marks.h - collects the events of a recording that are not samples, for timelines: thread names, started
 * programs, forks, exits, losses, and context switches.
 *
 * The caller selects the kinds and deinitialises the result, which borrows nothing from the reader.
 *
 *	struct export_marks marks = {.with_switches = true};
 *	export_marks_read(&marks, reader, err);  // the reader is at its start before and after
 *	view.marks = &marks.items; view.mark_texts = &marks.texts;
 */
#ifndef VERBS_EXPORT_EXPORT_MARKS_H
#define VERBS_EXPORT_EXPORT_MARKS_H

#include "base/vec.h"
#include "perfdata/reader.h"
#include "perfdata/time_spans.h"
#include "view/export/export_view.h"

struct export_marks {
	struct spool items; /* Items of struct export_mark, sorted by time. */
	struct intern texts;
	bool with_switches;
	bool has_counts; /* The recording contains counts of stat record. */
	const struct time_spans *spans; /* Marks outside them are omitted, except thread names; NULL to include all. */
};

TALLY_MUST_CHECK enum tally_status export_marks_read(
	struct export_marks *marks, struct perfdata_reader *reader, struct tally_error *err);
void export_marks_deinit(struct export_marks *marks);

#endif
