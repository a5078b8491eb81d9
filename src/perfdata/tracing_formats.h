/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracing_formats.h - iterates over the formats of tracepoints in a recording's tracing data.
 *
 * Everything is a slice of the data, which outlives it. Bad input: the iteration ends at the first damaged format.
 *
 *	if (!tracing_formats_open(&formats, features->tracing_data)) ... not tracing data ...
 *	while (tracing_formats_next(&formats, &text)) ... text is of formats.system ...
 *	kallsyms = tracing_formats_file(&formats); printk_formats = tracing_formats_file(&formats);
 */
#ifndef PERFDATA_TRACING_FORMATS_H
#define PERFDATA_TRACING_FORMATS_H

#include "base/cursor.h"

struct tracing_formats {
	bool swap; /* of numbers in payloads too */
	unsigned long_bytes;
	struct tally_str system; /* of the last format */
	struct cursor at; /* after the last returned format; at first at the first one */
	uint32_t systems, events; /* to come: systems, events of this one */
	bool has_systems; /* the kernel's own formats are behind */
};

bool tracing_formats_open(struct tracing_formats *formats, struct tally_bytes tracing_data);
bool tracing_formats_next(struct tracing_formats *formats, struct tally_bytes *format);
/* After the last format, returns first the names of the kernel's addresses, then the texts of trace_printk. */
struct tally_bytes tracing_formats_file(struct tracing_formats *formats);
/* Reads the id and name at the start of a format. False: it has none. */
bool tracing_format_identify(struct tally_bytes format, uint64_t *id, struct tally_str *name);

#endif
