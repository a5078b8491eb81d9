/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_rows.h - prints one sample as lines of text, in the layout of `perf script`.
 *
 * A printer borrows its arguments. Text that depends only on a frame is cached. Not thread-safe.
 */
#ifndef VERBS_SCRIPT_SCRIPT_ROWS_H
#define VERBS_SCRIPT_SCRIPT_ROWS_H

#include "analysis/tracepoint_fields.h"
#include "tasks/session/script_values.h"
#include "verbs/script/script_path.h"

enum script_time_form { TIME_USEC, TIME_NSEC };

struct script_printer {
	struct script_places places;
	struct script_path path; /* Its members are set if the fields need them. */
	struct tracepoint_printer *tracepoints; /* NULL if the recording has no tracepoint formats. */
	const uint64_t *fields; /* FIELD_* bits, indexed by event. */
	const struct cgroup_names *cgroups; /* Set if FIELD_CGROUP is used. */
	bool hide_call_graph;
	bool is_narrow; /* -L: prints 8 characters of the thread name, and the CPU without brackets. */
	bool without_frames; /* --max-stack 0: call chains have no frames. */
	enum script_time_form time_form;
	bool is_delta, is_relative;
	/* Times of the previous and the first row; 0 if no row has been printed. */
	uint64_t previous_time_ns, first_time_ns;
	size_t event_name_width;
	size_t data_src_width; /* The largest width so far, to which shorter values are padded. */
	struct script_clock clock;
};

/* Returns whether the data address of samples is resolved to a symbol: as in perf, for page faults and for branch
 * traces. */
bool script_has_named_address(const struct perf_attr *attr);
/* The data of a row's head, for samples and other records: thread, CPU and time. */
struct script_row {
	const struct perfdata_event *event;
	const struct record *record;
	/* For a record that is not a sample, a sample that is made from its trailer (sample_id). */
	const struct sample *sample;
	uint64_t clock; /* The time of the record, as determined by sample_clock.h. */
	struct tally_str comm; /* If its data is NULL, the thread's name at that time is printed. */
};
/* Prints the head of a row: the thread, CPU and time, as far as the fields contain them. */
void script_print_start(struct script_printer *printer, struct text *t, const struct script_row *row);
/* Prints a deferred user call chain, which is in row->sample->callchain; cookie links it to its samples. Returns false
 * if out of memory. */
bool script_print_deferred(
	struct script_printer *printer, struct text *t, const struct script_row *row, uint64_t cookie);
/* Appends the lines of one sample. Returns false if out of memory. */
bool script_print_sample(struct script_printer *printer, struct text *t, const struct perfdata_event *event,
	const struct record *record, const struct sample *sample, uint64_t clock);

#endif
