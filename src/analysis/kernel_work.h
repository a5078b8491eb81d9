/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_work.h - adds up the work that the kernel does besides running programs: interrupt handlers, softirqs and work
 * items. For each of them and each CPU it measures how long it ran, and how long it waited after it was raised.
 *
 * The caller owns it (kernel_work_init, kernel_work_deinit) and feeds events in order of time. A softirq is raised and
 * runs on the same CPU; a work item may run on another one. Functions return false when out of memory. One thread.
 *
 *	struct work_event event = {.kind = WORK_SOFTIRQ, .step = WORK_ENTERS, .id = 1, .cpu = 0, .time_ns = now};
 *	kernel_work_take(&work, &event, &span);
 *	if (span.row) ...	// a run has ended; its times are in span, its sums in span.row->run
 */
#ifndef ANALYSIS_KERNEL_WORK_H
#define ANALYSIS_KERNEL_WORK_H

#include "base/id_table.h"
#include "base/intern.h"
#include "base/vec.h"

enum work_kind { WORK_IRQ, WORK_SOFTIRQ, WORK_QUEUE, WORK_KINDS };
enum work_step { WORK_IS_RAISED, WORK_ENTERS, WORK_EXITS, WORK_STEPS };

struct work_event {
	enum work_kind kind;
	enum work_step step;
	uint64_t id; /* Number of the interrupt, vector of the softirq, or address of the work item. */
	uint64_t function; /* Address of a work item's function; 0 if unknown. */
	struct tally_str name; /* Name of an interrupt's handler; empty if unknown. */
	uint32_t cpu;
	uint64_t time_ns;
};

struct work_times {
	uint64_t count, total_ns, max_ns;
	uint64_t max_from_ns, max_to_ns; /* Start and end of the longest one. */
};

/* A handler on one CPU. */
struct work_row {
	enum work_kind kind;
	uint32_t cpu;
	uint64_t id, function;
	uint32_t name; /* Number in kernel_work.names; INTERN_NONE if there is no name. */
	/* Start of the current run (0 if not running), and its delay before that (UINT64_MAX if unknown). */
	uint64_t entered_ns, waited_ns;
	struct work_times run, delay;
	uint64_t first_ns, last_ns; /* Times of the first entry and of the last entry or exit; 0 if there is none. */
	/* Entries without an exit and exits without an entry, by enum work_step. */
	uint64_t unmatched_runs[WORK_STEPS];
	/* Raises without an entry and entries without a raise, by enum work_step. */
	uint64_t unmatched_delays[WORK_STEPS];
};

struct work_span { /* A run that has ended. */
	const struct work_row *row; /* NULL if no run has ended. Valid until the next event. */
	uint64_t from_ns, to_ns;
	uint64_t delay_ns; /* UINT64_MAX if unknown. */
};

struct kernel_work {
	struct id_table ids, raise_ids;
	struct intern names;
	VEC(struct work_row) rows;
	VEC(uint64_t) raised_ns; /* Indexed by raise_ids; 0 if not pending. */
	uint64_t events;
	uint64_t unmatched_items; /* Number of work items that were raised but did not run; they have no row. */
	uint64_t cut; /* Number of runs and delays that were dropped because events were lost within them. */
};

void kernel_work_init(struct kernel_work *work);
void kernel_work_deinit(struct kernel_work *work);
/* Handles an event. span->row is NULL unless the event ends a run. */
bool kernel_work_take(struct kernel_work *work, const struct work_event *event, struct work_span *span);
/* Handles a loss of events on the CPU (UINT32_MAX if it may be any CPU): current runs and delays there have no known
 * length and are dropped. */
void kernel_work_lost(struct kernel_work *work, uint32_t cpu);
/* Counts the runs and delays that have not ended. Call it after the last event. */
bool kernel_work_finish(struct kernel_work *work);
/* Returns the row of a handler on a CPU, which is created if necessary; NULL when out of memory. The pointer is valid
 * until another row is created. */
struct work_row *kernel_work_row(struct kernel_work *work, enum work_kind kind, uint64_t id, uint32_t cpu);
/* Returns the name of a softirq, such as "TIMER", or NULL for an unknown vector. */
const char *softirq_name(uint64_t vector);

#endif
