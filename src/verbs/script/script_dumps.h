/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_dumps.h - writes the files of `tally script --per-event-dump`: one per event, named after the recording and
 * the event.
 *
 * Files are created at the beginning and replace existing ones. The texts write to them when they are full.
 *
 *	script_dumps_open(&dumps, "perf.data", reader, err);
 *	struct text *out = script_dumps_text(&dumps, event);	// its samples
 *	script_dumps_finish(&dumps, &summary, err);		// writes the rest, says what was written
 *	script_dumps_close(&dumps);
 */
#ifndef VERBS_SCRIPT_SCRIPT_DUMPS_H
#define VERBS_SCRIPT_SCRIPT_DUMPS_H

#include "base/text.h"
#include "cli/output_file.h"
#include "perfdata/reader.h"

struct script_dump {
	struct text text;
	char *path;
	struct output_file file;
	uint64_t samples;
};

struct script_dumps {
	struct script_dump *items; /* by event index; NULL: not asked for */
	size_t count;
};

/* Close also after failure. */
TALLY_MUST_CHECK enum tally_status script_dumps_open(
	struct script_dumps *dumps, const char *input, const struct perfdata_reader *reader, struct tally_error *err);
/* Counts a sample of that event. */
struct text *script_dumps_text(struct script_dumps *dumps, const struct perfdata_event *event);
TALLY_MUST_CHECK enum tally_status script_dumps_finish(
	struct script_dumps *dumps, struct text *summary, struct tally_error *err);
void script_dumps_close(struct script_dumps *dumps);

#endif
