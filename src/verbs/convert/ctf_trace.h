/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctf_trace.h - writes a trace in the Common Trace Format 1.8: a directory with its metadata in TSDL ("metadata") and a
 * stream of binary packets per CPU ("perf_stream_N"). The caller defines the events.
 *
 * The caller creates the trace, adds a class for each kind of event, writes the events in order of time, and closes the
 * trace. ctf_put_* appends the values of an event's fields, in the order of the class. Names that TSDL does not allow
 * as identifiers are changed. The caller owns and destroys the trace; without ctf_trace_close it has no metadata and
 * cannot be read. Not thread-safe. Source: Common Trace Format v1.8.3 (diamon.org/ctf/v1.8.3), sections 4 to 7.
 *
 *	ctf_trace_create("dir", false, &info, &trace, err);
 *	id = ctf_trace_add_class(trace, name, fields, count);
 *	ctf_event_begin(trace, id, cpu, time_ns, err); ctf_put_u32(trace, 7); ...
 *	ctf_trace_close(trace, err); ctf_trace_destroy(trace);
 */
#ifndef VERBS_CONVERT_CTF_TRACE_H
#define VERBS_CONVERT_CTF_TRACE_H

#include <tally/status.h>

#include "verbs/convert/ctf_types.h"

struct ctf_trace;

/* Creates the directory if needed. If it already contains a trace, that trace is removed if replace is set; otherwise
 * INVALID is returned. */
TALLY_MUST_CHECK enum tally_status ctf_trace_create(const char *path, bool replace, const struct ctf_trace_info *info,
	struct ctf_trace **trace, struct tally_error *err);
void ctf_trace_destroy(struct ctf_trace *trace);
/* Adds a class of events and returns its ID; the first is 0. If memory is exhausted, ctf_trace_close returns the
 * error. */
uint32_t ctf_trace_add_class(
	struct ctf_trace *trace, struct tally_str name, const struct ctf_field *fields, size_t count);
TALLY_MUST_CHECK enum tally_status ctf_event_begin(
	struct ctf_trace *trace, uint32_t class_id, uint32_t cpu, uint64_t time_ns, struct tally_error *err);
void ctf_put_u32(struct ctf_trace *trace, uint32_t value);
void ctf_put_u64(struct ctf_trace *trace, uint64_t value);
/* Appends the string up to its first NUL. */
void ctf_put_string(struct ctf_trace *trace, struct tally_str value);
/* Removes the files of an incomplete trace, and its directory if that is empty then. The trace must still be
 * destroyed. */
void ctf_trace_discard(struct ctf_trace *trace);
/* Writes the remaining packets and the metadata. */
TALLY_MUST_CHECK enum tally_status ctf_trace_close(struct ctf_trace *trace, struct tally_error *err);

#endif
