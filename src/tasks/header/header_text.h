/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header_text.h - prints the header of a recording as text, for `--header` of report and script.
 *
 * Appends to a text that the caller owns. Local time is that of the process (TZ). Lay-out: that of perf's --header.
 *
 *	header_text(&out, reader, false);
 */
#ifndef TASKS_HEADER_HEADER_TEXT_H
#define TASKS_HEADER_HEADER_TEXT_H

#include "base/text.h"
#include "perfdata/reader.h"

/* full: includes topology, caches and memory, which are only named otherwise. */
void header_text(struct text *out, const struct perfdata_reader *reader, bool full);

/* "monotonic"; "unknown" for ids that have no name. */
const char *header_clock_name(uint32_t id);

/* Prints one feature, if the recording has it; for a pipe, the part that was read. */
void header_text_feature(struct text *out, const struct perfdata_reader *reader, unsigned bit);

#endif
