/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracing_data.h - writes the formats of the recorded tracepoints as the TRACING_DATA section of perf.data.
 *
 * Layout: magic, version, byte order, word size, page size; header_page and header_event; ftrace formats (none); per
 * subsystem the formats of its events; kallsyms (empty); printk formats; command names (empty, because comm records
 * have them). Source: Linux, tools/perf/Documentation/perf.data-file-format.txt; what perf 6.1 writes.
 */
#ifndef KERNEL_RECORDING_TRACING_DATA_H
#define KERNEL_RECORDING_TRACING_DATA_H

#include "base/writer.h"
#include "kernel/events/event_parser.h"

/* Appends the section, or nothing if no event is a tracepoint. */
TALLY_MUST_CHECK enum tally_status tracing_data_write(
	const struct kernel_seam *kernel, const struct event_list *events, struct writer *w, struct tally_error *err);

#endif
