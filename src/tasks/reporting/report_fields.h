/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_fields.h - finds fields of a recording's tracepoints that serve as sort keys: "prev_comm",
 * "sched_switch.prev_comm", "sched:sched_switch.*", "trace_fields".
 *
 * The caller owns struct report_fields, which borrows the reader. Fields of several events with the same name are one
 * sort key, which is a column in the tables of the events that have such a field.
 *
 *	report_fields_init(&fields, reader);
 *	uint32_t found = report_fields_find(&fields, STR("next_pid"));	bit mask of indexes in items; 0 if not found
 *	report_fields_deinit(&fields);
 */
#ifndef TASKS_REPORTING_REPORT_FIELDS_H
#define TASKS_REPORTING_REPORT_FIELDS_H

#include "analysis/replay_options.h"
#include "analysis/tracepoint_fields.h"
#include "perfdata/reader.h"
#include "profile/profile.h"

struct report_fields {
	struct perfdata_reader *reader;
	struct tracepoint_printer *printer; /* NULL until the first lookup; owned. */
	struct replay_field items[PROFILE_MAX_FIELDS];
	size_t count;
};

void report_fields_init(struct report_fields *fields, struct perfdata_reader *reader);
void report_fields_deinit(struct report_fields *fields);
/* Ignores fields beyond PROFILE_MAX_FIELDS. */
uint32_t report_fields_find(struct report_fields *fields, struct tally_str text);

#endif
