/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart.h - turns events of the scheduler and the CPUs into tracks: who ran where, who waited, was blocked or woke
 * whom, and the idle states and frequencies of CPUs.
 *
 * The caller owns it (timechart_init) and feeds events in order of time; times are measured by sched_history, so sums
 * equal those of `sched timehist`. One thread. Functions return false when memory runs out. Backtraces are IDs of
 * tracks_text.
 *
 *	timechart_wake(&c, &(struct timechart_wake){.tid = 8, .by = 7, .time_ns = now, .text = INTERN_NONE});
 *	timechart_switch(&c, &(struct sched_out){.tid = 7, .cpu = 0, .time_ns = now, .left = SCHED_LEFT_SLEEPING}, 8, text);
 *	timechart_finish(&c);	... c.tracks
 */
#ifndef ANALYSIS_TIMECHART_H
#define ANALYSIS_TIMECHART_H

#include "analysis/sched_history.h"
#include "profile/tracks.h"

#define TIMECHART_BUSY	    UINT32_MAX /* the kernel's value for a CPU that leaves idle */
#define TIMECHART_INTERRUPT (-1) /* who woke */

struct timechart_task { /* by task of the history */
	uint32_t track; /* TRACK_NONE: an idle task, or not seen yet */
	uint32_t left_text, woken_text; /* why it left its CPU, who woke it from where */
	uint32_t woken_by; /* a track, TRACK_NONE: an interrupt or not known */
	uint64_t on_since_ns, on_last_ns; /* by timechart_on and timechart_off: on a CPU; 0: not known */
	uint64_t off_ns; /* end of its last wait */
	uint32_t on_cpu;
};

#define TIMECHART_LOST (-1)

struct timechart_cpu {
	uint32_t track; /* TRACK_NONE: nothing seen there */
	int32_t now; /* who runs, since the history's switched_ns; 0: idle, or nothing was seen; TIMECHART_LOST: not known */
	uint32_t depth; /* of idle; TIMECHART_BUSY: none */
	uint64_t idle_since_ns;
	uint64_t on_last_ns; /* by timechart_on: until when somebody ran there, and */
	int32_t on_tid; /* who */
};

struct timechart {
	struct tracks tracks;
	struct sched_history history;
	VEC(struct timechart_task) tasks;
	VEC(struct timechart_cpu) cpus;
	uint64_t left_out; /* waits that have no time of their own */
	bool is_of_waits; /* the caller's: timechart_on and timechart_off are all that there is */
	bool has_all_waits; /* the caller's: each wait is given by itself, so threads ran between them */
	uint64_t lost_ns; /* when events were lost, the last time; 0: never */
};

struct timechart_wake {
	int32_t tid, by; /* by: a thread, or TIMECHART_INTERRUPT */
	uint64_t time_ns;
	uint32_t text;
};

void timechart_init(struct timechart *c, size_t max_items);
void timechart_deinit(struct timechart *c);
/* The track of the thread that has this number now; pid 0: not known. TRACK_NONE: out of memory, or tid is no thread's. */
uint32_t timechart_track(struct timechart *c, int32_t tid, int32_t pid);
/* Names a thread, if tid is not 0. */
bool timechart_name(struct timechart *c, int32_t tid, uint64_t time_ns, struct tally_str name);
bool timechart_fork(struct timechart *c, int32_t tid, int32_t pid, int32_t parent);
bool timechart_exit(struct timechart *c, int32_t tid);
/* Another thread has this number from now on, if the one that had it has ended. */
bool timechart_goes_on_as(struct timechart *c, int32_t tid, int32_t pid);
/* out.tid leaves its CPU to next. */
bool timechart_switch(struct timechart *c, const struct sched_out *out, int32_t next, uint32_t text);
bool timechart_wake(struct timechart *c, const struct timechart_wake *wake);
/* Where waits were measured instead of switches: the thread was on the CPU from since_ns (and the end of its last wait)
 * until time_ns. A CPU runs one thread at a time: since_ns is no earlier than the last time of another one there. Between two
 * such times it ran if they follow each other, or with has_all_waits if no wait is between them; else that is not known. What is
 * given of a thread that has ended does not count. */
struct timechart_on {
	int32_t tid, pid;
	uint32_t cpu;
	uint64_t since_ns, time_ns;
};
bool timechart_on(struct timechart *c, const struct timechart_on *on);
/* It was off the CPU, and runs on this one afterwards; by: who woke it, 0: not known, or TIMECHART_INTERRUPT. */
struct timechart_off {
	int32_t tid, pid, by;
	uint32_t cpu, text;
	uint64_t start_ns, end_ns;
	enum span_kind kind;
};
bool timechart_off(struct timechart *c, const struct timechart_off *off);
/* Events of a CPU (TIMECHART_ANY_CPU: of any) were lost up to then, so spans from before end there. */
#define TIMECHART_ANY_CPU UINT32_MAX
bool timechart_lost(struct timechart *c, uint32_t cpu, uint64_t time_ns);
/* cpu is below LIMIT_CPUS here and below. */
bool timechart_idle(struct timechart *c, uint32_t cpu, uint64_t time_ns, uint32_t depth);
bool timechart_frequency(struct timechart *c, uint32_t cpu, uint64_t time_ns, uint64_t khz);
/* Spans that are open at the end are cut there, and the tracks are sorted. */
bool timechart_finish(struct timechart *c);

#endif
