/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_spans.h - parses the argument of --time: "START,STOP" in seconds, several separated by blanks; or percentages of
 * the time from the first sample to the last, "10%-20%" and "10%/2" (the second tenth), several separated by commas.
 * Both ends are included in a span.
 *
 * The caller frees struct time_spans, which is not changed after parsing.
 *
 *	time_spans_read("10%/2", reader, &spans, err);
 *	if (time_spans_have(&spans, time_ns)) ...
 */
#ifndef PERFDATA_TIME_SPANS_H
#define PERFDATA_TIME_SPANS_H

#include "base/vec.h"
#include "perfdata/reader.h"

struct time_span {
	uint64_t first_ns, last_ns; /* Times on the clock of the recording. */
};
struct time_spans {
	VEC(struct time_span) items;
};

/* Returns the times of the first and last sample, from the header or else by reading all records; the reader must be at
 * its start and is there again afterwards. Both are 0 if no sample has a time. */
struct time_span time_bounds_read(struct perfdata_reader *reader);
/* Parses text; whole has the times of the first and last sample. Returns TALLY_INVALID if text has none of the forms,
 * or a span ends before it begins. */
TALLY_MUST_CHECK enum tally_status time_spans_parse(
	struct tally_str text, struct time_span whole, struct time_spans *spans, struct tally_error *err);
/* Returns whether text has one of the forms, independent of a recording. */
bool time_spans_are_valid(const char *text);
/* Parses text for a recording, with time_bounds_read if it has percentages. Percentages of a recording without times
 * select everything, as in perf. */
TALLY_MUST_CHECK enum tally_status time_spans_read(
	const char *text, struct perfdata_reader *reader, struct time_spans *spans, struct tally_error *err);
bool time_spans_have(const struct time_spans *spans, uint64_t time_ns);
void time_spans_deinit(struct time_spans *spans);

#endif
