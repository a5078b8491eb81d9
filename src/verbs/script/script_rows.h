/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_rows.h - prints one sample as lines of text, in the layout of `perf script`.
 *
 * A printer borrows its arguments. Text that depends only on a frame is made once. One thread.
 */
#ifndef VERBS_SCRIPT_SCRIPT_ROWS_H
#define VERBS_SCRIPT_SCRIPT_ROWS_H

#include "analysis/tracepoint_fields.h"
#include "tasks/session/script_values.h"
#include "verbs/script/script_path.h"

enum script_time_form { TIME_USEC, TIME_NSEC };

struct script_printer {
	struct script_places places;
	struct script_path path; /* and what it borrows: set where fields need them */
	struct tracepoint_printer *tracepoints; /* NULL: no fields */
	const uint64_t *fields; /* by event index: FIELD_* */
	const struct cgroup_names *cgroups; /* set where FIELD_CGROUP is */
	bool hide_call_graph;
	bool is_narrow; /* -L: eight letters of a command, a CPU without brackets */
	bool without_frames; /* --max-stack 0: chains have none */
	enum script_time_form time_form;
	bool is_delta, is_relative;
	uint64_t previous_time_ns, first_time_ns; /* of rows so far; 0: none with a time yet */
	size_t event_name_width;
	size_t data_src_width; /* the longest so far: shorter ones are filled up */
	struct script_clock clock;
};

/* Whether the data address of an event is worth a name: as in perf, where it is a page's or where code goes to. */
bool script_has_named_address(const struct perf_attr *attr);
/* The head of a row, for samples and other records: thread, CPU and time. */
struct script_row {
	const struct perfdata_event *event;
	const struct record *record;
	const struct sample *sample; /* for another record: from its trailer */
	uint64_t clock;
	struct tally_str comm; /* no data: the thread's name at that time */
};
void script_print_start(struct script_printer *printer, struct text *t, const struct script_row *row);
/* A user call chain that came later than its samples: the row's callchain. False: out of memory. */
bool script_print_deferred(
	struct script_printer *printer, struct text *t, const struct script_row *row, uint64_t cookie);
/* Appends the lines of one sample. False: out of memory. */
bool script_print_sample(struct script_printer *printer, struct text *t, const struct perfdata_event *event,
	const struct record *record, const struct sample *sample, uint64_t clock);

#endif
