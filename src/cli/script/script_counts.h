/*
 * script_counts.h - script of a recording of stat record: each round's counts, one line per event, thread and CPU, as perf.
 *
 *	if (script_counts_are_recorded(reader)) status = script_counts_print(reader, &out, err);
 */
#ifndef CLI_SCRIPT_SCRIPT_COUNTS_H
#define CLI_SCRIPT_SCRIPT_COUNTS_H

#include "base/text.h"
#include "perfdata/reader.h"

bool script_counts_are_recorded(const struct perfdata_reader *reader);
TALLY_MUST_CHECK enum tally_status script_counts_print(
	struct perfdata_reader *reader, struct text *out, struct tally_error *err);

#endif
