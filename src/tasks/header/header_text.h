/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header_text.h - prints the header of a recording as text, for `--header` of report and script.
 *
 * Appends to a text that the caller owns. Local time is that of the process (TZ). The format is that of perf's
 * --header.
 *
 *	header_text(&out, reader, false);
 */
#ifndef TASKS_HEADER_HEADER_TEXT_H
#define TASKS_HEADER_HEADER_TEXT_H

#include "base/text.h"
#include "perfdata/reader.h"

/* full includes topology, caches and memory, of which otherwise only the names are printed. */
void header_text(struct text *out, const struct perfdata_reader *reader, bool full);

/* Returns a name such as "monotonic", or "unknown". */
const char *header_clock_name(uint32_t id);

/* Appends the feature with this number (FEATURE_...) if the recording has it; for a pipe, only if it has been read
 * already. */
void header_text_feature(struct text *out, const struct perfdata_reader *reader, unsigned bit);

#endif
