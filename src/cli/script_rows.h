/*
 * script_rows.h - one sample as lines of text, in the layout of `perf script`.
 *
 * A printer borrows everything it is given. Text that depends only on a frame is made once. One thread.
 */
#ifndef CLI_SCRIPT_ROWS_H
#define CLI_SCRIPT_ROWS_H

#include "analysis/frame_names.h"
#include "analysis/tracepoint_fields.h"
#include "perfdata/reader.h"

enum script_field {
	FIELD_COMM = 1u << 0,
	FIELD_TID = 1u << 1,
	FIELD_PID = 1u << 2,
	FIELD_TIME = 1u << 3,
	FIELD_CPU = 1u << 4,
	FIELD_EVENT = 1u << 5,
	FIELD_TRACE = 1u << 6,
	FIELD_IP = 1u << 7,
	FIELD_SYM = 1u << 8,
	FIELD_DSO = 1u << 9,
	FIELD_ADDR = 1u << 10,
	FIELD_SYMOFF = 1u << 11,
	FIELD_PERIOD = 1u << 12,
};

enum script_time_form { TIME_USEC, TIME_NSEC };

struct script_printer {
	const struct machine *machine;
	struct resolver *resolver;
	struct frame_names *names;
	struct tracepoint_printer *tracepoints; /* NULL: no fields */
	const uint32_t *fields; /* by event index: FIELD_* */
	bool hide_call_graph;
	bool full_kernel_path;
	enum script_time_form time_form;
	bool is_delta, is_relative;
	bool has_previous;
	uint64_t previous_time_ns, first_time_ns;
	size_t event_name_width;
};

/* The fields perf prints for an event when nothing was asked for; those its samples lack are left out. */
uint32_t script_default_fields(const struct perf_attr *attr);
/* Appends the lines of one sample. False: out of memory. */
bool script_print_sample(struct script_printer *printer, struct text *t, const struct perfdata_event *event,
	const struct record *record, const struct sample *sample, uint64_t clock);

#endif
