/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart.h - converts events of the scheduler and the CPUs into tracks: which thread ran on which CPU, which waited,
 * was blocked or woke another one, and the idle states and frequencies of CPUs.
 *
 * The caller owns it (timechart_init) and feeds events in order of time. Times are measured by sched_history, so sums
 * equal those of `sched timehist`. One thread. Functions return false when out of memory. Backtraces are IDs of
 * tracks_text.
 *
 *	timechart_wake(&c, &(struct timechart_wake){.tid = 8, .by = 7, .time_ns = now, .text = INTERN_NONE});
 *	struct sched_out out = {.tid = 7, .cpu = 0, .time_ns = now, .left = SCHED_LEFT_SLEEPING};
 *	timechart_switch(&c, &out, 8, text);
 *	timechart_finish(&c);	... c.tracks
 */
#ifndef ANALYSIS_TIMECHART_H
#define ANALYSIS_TIMECHART_H

#include "analysis/sched_history.h"
#include "profile/tracks.h"

#define TIMECHART_BUSY	    UINT32_MAX /* The kernel's value for a CPU that leaves its idle state. */
#define TIMECHART_INTERRUPT (-1) /* The waker is an interrupt. */

struct timechart_task { /* State of a task of the history. */
	uint32_t track; /* TRACK_NONE for an idle task, or if it was not seen yet. */
	uint32_t left_text, woken_text; /* Backtraces of leaving its CPU, and of its waker. */
	uint32_t woken_by; /* Track of its waker; TRACK_NONE if this is an interrupt or unknown. */
	/* Start and last known time of its run on a CPU, set by timechart_on and timechart_off; 0 if unknown. */
	uint64_t on_since_ns, on_last_ns;
	uint64_t off_ns; /* End of its last wait. */
	uint32_t on_cpu;
};

#define TIMECHART_LOST (-1)

struct timechart_cpu {
	uint32_t track; /* TRACK_NONE if nothing was seen on the CPU. */
	/* Thread that runs since the history's switched_ns; 0 if idle or nothing was seen; TIMECHART_LOST if
	 * unknown. */
	int32_t now;
	uint32_t depth; /* Idle state; TIMECHART_BUSY if not idle. */
	uint64_t idle_since_ns;
	uint64_t on_last_ns; /* Set by timechart_on: the last known time at which on_tid ran there. */
	int32_t on_tid;
};

struct timechart {
	struct tracks tracks;
	struct sched_history history;
	VEC(struct timechart_task) tasks;
	VEC(struct timechart_cpu) cpus;
	uint64_t left_out; /* Number of waits of threads that had already ended, which are left out. */
	bool is_of_waits; /* Set by the caller: there are no switches, only timechart_on and timechart_off. */
	bool has_all_waits; /* Set by the caller: every single wait is reported, so threads ran in between. */
	uint64_t lost_ns; /* Time of the last loss of events; 0 if there was none. */
};

struct timechart_wake {
	int32_t tid, by; /* by is a thread, or TIMECHART_INTERRUPT. */
	uint64_t time_ns;
	uint32_t text; /* Backtrace. */
};

/* max_items is that of tracks_init. */
void timechart_init(struct timechart *c, size_t max_items);
void timechart_deinit(struct timechart *c);
/* Returns the track of the thread that currently has this ID; pid is 0 if unknown. Returns TRACK_NONE when out of
 * memory or if tid is not a thread. */
uint32_t timechart_track(struct timechart *c, int32_t tid, int32_t pid);
/* Names a thread, if tid is not 0. */
bool timechart_name(struct timechart *c, int32_t tid, uint64_t time_ns, struct tally_str name);
bool timechart_fork(struct timechart *c, int32_t tid, int32_t pid, int32_t parent);
bool timechart_exit(struct timechart *c, int32_t tid);
/* Starts a new thread with this ID if the thread that had it has ended. */
bool timechart_goes_on_as(struct timechart *c, int32_t tid, int32_t pid);
/* Switches out->cpu from out->tid to next. */
bool timechart_switch(struct timechart *c, const struct sched_out *out, int32_t next, uint32_t text);
bool timechart_wake(struct timechart *c, const struct timechart_wake *wake);
/* For recordings of waits instead of switches: the thread ran on the CPU from since_ns (or the end of its last wait, if
 * later) until time_ns. A CPU runs one thread at a time, so the run starts no earlier than the last time of another
 * thread there. In the gap between two such runs, the thread is assumed to have run if they directly follow each other,
 * or with has_all_waits if there is no wait in between; otherwise its state is unknown. Runs of a thread that has ended
 * are ignored. */
struct timechart_on {
	int32_t tid, pid;
	uint32_t cpu;
	uint64_t since_ns, time_ns;
};
bool timechart_on(struct timechart *c, const struct timechart_on *on);
/* The thread was off the CPU, and continues on this CPU. by is its waker: 0 if unknown, or TIMECHART_INTERRUPT. */
struct timechart_off {
	int32_t tid, pid, by;
	uint32_t cpu, text;
	uint64_t start_ns, end_ns;
	enum span_kind kind;
};
bool timechart_off(struct timechart *c, const struct timechart_off *off);
/* Handles a loss of events on a CPU (TIMECHART_ANY_CPU if it may be any CPU) before this time. Waits that began
 * earlier, and what ran on the CPU meanwhile, are not known and get no span. */
#define TIMECHART_ANY_CPU UINT32_MAX
bool timechart_lost(struct timechart *c, uint32_t cpu, uint64_t time_ns);
/* In this and the following functions, cpu must be below LIMIT_CPUS. */
bool timechart_idle(struct timechart *c, uint32_t cpu, uint64_t time_ns, uint32_t depth);
bool timechart_frequency(struct timechart *c, uint32_t cpu, uint64_t time_ns, uint64_t khz);
/* Cuts open spans at the end, and sorts the tracks. */
bool timechart_finish(struct timechart *c);

#endif
