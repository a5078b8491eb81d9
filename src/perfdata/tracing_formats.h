/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracing_formats.h - iterates over the formats of tracepoints in the tracing data of a recording.
 *
 * All results are slices of the data, which must outlive them. Bad input: the iteration ends at the first damaged
 * format.
 *
 *	if (!tracing_formats_open(&formats, features->tracing_data)) ... not tracing data ...
 *	while (tracing_formats_next(&formats, &text)) ... text belongs to formats.system ...
 *	kallsyms = tracing_formats_file(&formats); printk_formats = tracing_formats_file(&formats);
 */
#ifndef PERFDATA_TRACING_FORMATS_H
#define PERFDATA_TRACING_FORMATS_H

#include "base/cursor.h"

struct tracing_formats {
	bool swap; /* Also applies to numbers in payloads. */
	unsigned long_bytes; /* Size of long in the recorded kernel: 4 or 8. */
	struct tally_str system; /* Subsystem of the last format. */
	struct cursor at; /* Position after the last returned format. */
	uint32_t systems, events; /* Remaining subsystems, and remaining events of the current one. */
	bool has_systems; /* The formats of ftrace itself were passed; those of subsystems follow. */
};

/* Returns false if tracing_data is not tracing data, or its head is damaged. */
bool tracing_formats_open(struct tracing_formats *formats, struct tally_bytes tracing_data);
/* Returns the next format; false after the last one. */
bool tracing_formats_next(struct tracing_formats *formats, struct tally_bytes *format);
/* Called after tracing_formats_next has returned false: the first call returns the copy of /proc/kallsyms, the second
 * one the formats of trace_printk. Empty if the data has none. */
struct tally_bytes tracing_formats_file(struct tracing_formats *formats);
/* Parses ID and name at the start of a format; returns false if there are none. */
bool tracing_format_identify(struct tally_bytes format, uint64_t *id, struct tally_str *name);

#endif
