/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_dumps.h - writes the files of `tally script --per-event-dump`: one per event, named after the recording and
 * the event.
 *
 * Existing files are replaced. Each text is written to its file whenever it is full.
 *
 *	script_dumps_open(&dumps, "perf.data", reader, err);
 *	struct text *out = script_dumps_text(&dumps, event);	// receives its samples
 *	script_dumps_finish(&dumps, &summary, err);		// writes the rest and a summary
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
	struct script_dump *items; /* Indexed by event; NULL without --per-event-dump. */
	size_t count;
};

/* The caller closes the dumps, also after a failure. */
TALLY_MUST_CHECK enum tally_status script_dumps_open(
	struct script_dumps *dumps, const char *input, const struct perfdata_reader *reader, struct tally_error *err);
/* Returns the text for a sample of the event, and counts the sample. */
struct text *script_dumps_text(struct script_dumps *dumps, const struct perfdata_event *event);
TALLY_MUST_CHECK enum tally_status script_dumps_finish(
	struct script_dumps *dumps, struct text *summary, struct tally_error *err);
void script_dumps_close(struct script_dumps *dumps);

#endif
