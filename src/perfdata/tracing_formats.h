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
	unsigned long_bytes;
	struct tally_str system; /* Subsystem of the last format. */
	struct cursor at; /* Position after the last returned format. */
	uint32_t systems, events; /* Remaining subsystems, and remaining events of the current one. */
	bool has_systems; /* The formats of ftrace itself were passed; those of subsystems follow. */
};

bool tracing_formats_open(struct tracing_formats *formats, struct tally_bytes tracing_data);
bool tracing_formats_next(struct tracing_formats *formats, struct tally_bytes *format);
/* After the last format, returns first the copy of /proc/kallsyms, then the formats of trace_printk. */
struct tally_bytes tracing_formats_file(struct tracing_formats *formats);
/* Parses ID and name at the start of a format; returns false if there are none. */
bool tracing_format_identify(struct tally_bytes format, uint64_t *id, struct tally_str *name);

#endif
