/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_dump.h - implements `report -D`: prints every record of a recording as text, in time order or file order, and
 * their counts at the end.
 *
 *	const struct report_dump_options options = {.file_name = "perf.data"};
 *	status = report_dump(&out, reader, &options, &health, err);
 */
#ifndef TASKS_SESSION_REPORT_DUMP_H
#define TASKS_SESSION_REPORT_DUMP_H

#include "base/text.h"
#include "cli/cli.h"
#include "perfdata/reader.h"

struct report_dump_options {
	const char *file_name;
	bool in_file_order; /* else in order of time */
	bool with_zeros; /* counts at the end of types of records that do not occur */
	bool has_no_counts; /* of records after them: perf report shows them, perf diff does not */
};

/* TALLY_END: the reader of the output has gone. The text must have a descriptor to write to. */
TALLY_MUST_CHECK enum tally_status report_dump(struct text *out, struct perfdata_reader *reader,
	const struct report_dump_options *options, struct input_health *health, struct tally_error *err);
/* The same of a recording that is analysed behind it, on standard output; the reader is rewound. path NULL: perf.data. */
TALLY_MUST_CHECK enum tally_status report_dump_first(
	const struct cli *cli, struct perfdata_reader *reader, const char *path, struct tally_error *err);

#endif
