/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_work.h - adds up the work that the kernel does beside programs: handlers of interrupts, softirqs and work
 * items. For each piece, on each CPU: how long it ran, and how long it waited after it was asked for.
 *
 * The caller owns it (kernel_work_init, kernel_work_deinit) and feeds events in order of time. A softirq is asked for and
 * runs on the same CPU; a work item may run on another one. False: out of memory. One thread.
 *
 *	struct work_event event = {.kind = WORK_SOFTIRQ, .step = WORK_ENTERS, .id = 1, .cpu = 0, .time_ns = now};
 *	kernel_work_take(&work, &event, &span);
 *	if (span.row) ...	// it has ended: row->run and span.from_ns say more
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
	uint64_t id; /* the interrupt, the vector, the address of the work item */
	uint64_t function; /* of a work item; 0: not known */
	struct tally_str name; /* of an interrupt; empty: not known */
	uint32_t cpu;
	uint64_t time_ns;
};

struct work_times {
	uint64_t count, total_ns, max_ns;
	uint64_t max_from_ns, max_to_ns; /* when the longest was */
};

struct work_row {
	enum work_kind kind;
	uint32_t cpu;
	uint64_t id, function;
	uint32_t name; /* in names; INTERN_NONE: there is none */
	uint64_t entered_ns, waited_ns; /* while it runs; 0, UINT64_MAX: not known */
	struct work_times run, delay;
	uint64_t first_ns, last_ns; /* the first and the last event of a run; 0: there is none */
	uint64_t unmatched_runs[WORK_STEPS]; /* events without the other end */
	uint64_t unmatched_delays[WORK_STEPS];
};

struct work_span { /* of a piece of work that has ended */
	const struct work_row *row; /* NULL: none has */
	uint64_t from_ns, to_ns;
	uint64_t delay_ns; /* UINT64_MAX: not known */
};

struct kernel_work {
	struct id_table ids, raise_ids;
	struct intern names;
	VEC(struct work_row) rows;
	VEC(uint64_t) raised_ns; /* by raise_ids; 0: not, or it has begun */
	uint64_t events;
	uint64_t unmatched_items; /* times that a work item was asked for and did not run: it has no row */
	uint64_t cut; /* times with lost events within */
};

void kernel_work_init(struct kernel_work *work);
void kernel_work_deinit(struct kernel_work *work);
bool kernel_work_take(struct kernel_work *work, const struct work_event *event, struct work_span *span);
/* Events of this CPU (UINT32_MAX: of any) were lost: what runs or waits there has no known length. */
void kernel_work_lost(struct kernel_work *work, uint32_t cpu);
/* After the last event: counts what has not ended. */
bool kernel_work_finish(struct kernel_work *work);
/* The row of a piece of work on a CPU, made if it is new; NULL: out of memory. */
struct work_row *kernel_work_row(struct kernel_work *work, enum work_kind kind, uint64_t id, uint32_t cpu);
/* "TIMER"; NULL: there is no such vector. */
const char *softirq_name(uint64_t vector);

#endif
