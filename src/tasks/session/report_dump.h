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
	bool in_file_order; /* Otherwise in time order. */
	bool with_zeros; /* The counts at the end include record types that do not occur. */
	bool has_no_counts; /* Omits the counts at the end, as perf diff does and perf report does not. */
};

/* Returns TALLY_END if the reader of the output has closed it. The text must have a descriptor to write to. */
TALLY_MUST_CHECK enum tally_status report_dump(struct text *out, struct perfdata_reader *reader,
	const struct report_dump_options *options, struct input_health *health, struct tally_error *err);
/* Dumps a recording to standard output before it is analysed; the reader is rewound. path is NULL for perf.data. */
TALLY_MUST_CHECK enum tally_status report_dump_first(
	const struct cli *cli, struct perfdata_reader *reader, const char *path, struct tally_error *err);

#endif
