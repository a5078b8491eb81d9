/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracing_builder.h - makes the tracing data of a recording: event formats, kernel symbols, and formats of
 * trace_printk.
 *
 * Source: trace-cmd.dat(5) version 6, from the magic to the saved formats; HEADER_TRACING_DATA of perf is the same.
 *
 *	struct tracing_source source = {.swap = false, .system = "sched", .formats = {format}};
 *	struct writer w = {0};
 *	tracing_build(&w, &source);		// bytes in w.data, w.len
 */
#ifndef SUPPORT_TRACING_BUILDER_H
#define SUPPORT_TRACING_BUILDER_H

#include "base/writer.h"

struct tracing_source {
	bool swap;
	const char *ftrace[2]; /* NULL after the last one. */
	const char *system;
	const char *formats[4]; /* Formats of the events of the system; NULL after the last one. */
	const char *kallsyms, *printk_formats; /* NULL for an empty section. */
};

void tracing_build(struct writer *w, const struct tracing_source *source);
/* Writes the text of a format file of the kernel: the given fields in text form ("\tfield:int
 * a;\toffset:8;\tsize:4;\tsigned:1;\n"...) after the common fields, which end at byte 8. */
void tracing_format(char *to, size_t size, const char *name, unsigned id, const char *fields, const char *print);

#endif
