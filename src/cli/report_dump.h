/*
 * report_dump.h - `report -D`: every record of a recording as text, in order of time, and their counts at the end.
 *
 *	status = report_dump(&out, reader, "perf.data", &health, err);
 */
#ifndef CLI_REPORT_DUMP_H
#define CLI_REPORT_DUMP_H

#include "base/text.h"
#include "perfdata/reader.h"

/* TALLY_END: the reader of the output has gone. The text must have a descriptor to write to. */
TALLY_MUST_CHECK enum tally_status report_dump(struct text *out, struct perfdata_reader *reader, const char *file_name,
	struct input_health *health, struct tally_error *err);

#endif
