/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctf_trace.h - writes a trace in the Common Trace Format 1.8: a directory with its description in TSDL ("metadata")
 * and a stream of binary packets per CPU ("perf_stream_N"). The caller defines the events.
 *
 * The order is: create, an event class for each kind of event, events in order of time, close. ctf_put_* adds the
 * values of fields, in the order of the class. Names come from recordings, and are changed if TSDL does not allow them
 * as identifiers. The caller owns the trace and destroys it; a trace that was not closed is not readable. One thread.
 * Source: Common Trace Format v1.8.3 (diamon.org/ctf/v1.8.3), 4 to 7.
 *
 *	ctf_trace_create("dir", &info, &trace, err);
 *	id = ctf_trace_add_class(trace, name, fields, count);
 *	ctf_event_begin(trace, id, cpu, time_ns, err); ctf_put_u32(trace, 7); ...
 *	ctf_trace_close(trace, err); ctf_trace_destroy(trace);
 */
#ifndef VERBS_CONVERT_CTF_TRACE_H
#define VERBS_CONVERT_CTF_TRACE_H

#include <tally/status.h>

#include "verbs/convert/ctf_types.h"

struct ctf_trace;

/* Makes the directory. INVALID if there is a trace in it, unless replace: then it is removed. */
TALLY_MUST_CHECK enum tally_status ctf_trace_create(const char *path, bool replace, const struct ctf_trace_info *info,
	struct ctf_trace **trace, struct tally_error *err);
void ctf_trace_destroy(struct ctf_trace *trace);
/* Returns the class's number, from 0 on. close reports a lack of memory. */
uint32_t ctf_trace_add_class(
	struct ctf_trace *trace, struct tally_str name, const struct ctf_field *fields, size_t count);
TALLY_MUST_CHECK enum tally_status ctf_event_begin(
	struct ctf_trace *trace, uint32_t class_id, uint32_t cpu, uint64_t time_ns, struct tally_error *err);
void ctf_put_u32(struct ctf_trace *trace, uint32_t value);
void ctf_put_u64(struct ctf_trace *trace, uint64_t value);
/* Up to its first NUL. */
void ctf_put_string(struct ctf_trace *trace, struct tally_str value);
/* Removes the files of a trace that is not complete. */
void ctf_trace_discard(struct ctf_trace *trace);
TALLY_MUST_CHECK enum tally_status ctf_trace_close(struct ctf_trace *trace, struct tally_error *err);

#endif
