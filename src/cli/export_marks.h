/*
 * export_marks.h - what a recording tells besides samples, for views of time: names taken, programs started, forks, ends,
 * losses, and the switches of recordings of the scheduler.
 *
 * The caller deinits. Borrows nothing after export_marks_read.
 *
 *	export_marks_read(&marks, reader, err);  // the reader stands at its start before and after
 *	view.marks = marks.items.items; view.mark_count = marks.items.len; view.mark_texts = &marks.texts;
 */
#ifndef CLI_EXPORT_MARKS_H
#define CLI_EXPORT_MARKS_H

#include "base/vec.h"
#include "perfdata/reader.h"
#include "perfdata/time_spans.h"
#include "view/export/export_view.h"

struct export_marks {
	VEC(struct export_mark) items; /* by time */
	struct intern texts;
	bool has_counts; /* the recording has those of stat record */
	const struct time_spans *spans; /* marks outside them are left out, but for names; NULL: none are */
};

TALLY_MUST_CHECK enum tally_status export_marks_read(struct export_marks *marks, struct perfdata_reader *reader,
	const struct time_spans *spans, struct tally_error *err);
void export_marks_deinit(struct export_marks *marks);

#endif
