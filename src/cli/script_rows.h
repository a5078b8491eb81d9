/*
 * script_rows.h - one sample as lines of text, in the layout of `perf script`.
 *
 * A printer borrows everything it is given. Text that depends only on a frame is made once. One thread.
 */
#ifndef CLI_SCRIPT_ROWS_H
#define CLI_SCRIPT_ROWS_H

#include "analysis/frame_names.h"
#include "analysis/tracepoint_fields.h"
#include "cli/script_fields.h"
#include "cli/script_values.h"

enum script_time_form { TIME_USEC, TIME_NSEC };

struct script_printer {
	const struct machine *machine;
	struct resolver *resolver;
	struct frame_names *names;
	struct tracepoint_printer *tracepoints; /* NULL: no fields */
	const uint64_t *fields; /* by event index: FIELD_* */
	const struct arch *arch; /* NULL: unknown */
	const struct script_cgroups *cgroups; /* set where FIELD_CGROUP is */
	bool is_big_endian; /* the machine that recorded */
	bool hide_call_graph;
	bool full_kernel_path, full_source_path;
	bool no_inline;
	enum script_time_form time_form;
	bool is_delta, is_relative;
	bool has_previous;
	uint64_t previous_time_ns, first_time_ns;
	size_t event_name_width;
	size_t data_src_width; /* the longest so far: shorter ones are filled up */
	struct script_clock clock;
};

/* Appends the lines of one sample. False: out of memory. */
bool script_print_sample(struct script_printer *printer, struct text *t, const struct perfdata_event *event,
	const struct record *record, const struct sample *sample, uint64_t clock);

struct script_place { /* an address, named */
	const struct frame_name *name;
	uint64_t ip;
	uint64_t offset; /* in its file; the address where there is none */
	bool has_offset;
};

/* False: out of memory. */
bool script_place_find(struct script_printer *printer, const struct resolve_where *where, unsigned cpumode, uint64_t ip,
	struct script_place *place);
/* "(path)", "(path+0x12)" with FIELD_DSOFF. */
void script_print_dso(
	const struct script_printer *printer, struct text *t, const struct script_place *place, uint64_t fields);
/* The mode of an address that comes without one. */
unsigned script_cpumode_of(const struct script_printer *printer, uint64_t ip);

#endif
