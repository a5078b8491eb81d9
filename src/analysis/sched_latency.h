/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_latency.h - measures how long runnable tasks waited for a CPU, from wake-up or preemption to the switch that
 * ran them, and how long they ran by the kernel's own count.
 *
 * The caller owns it (sched_latency_init) and feeds events in order of time. One thread. If a switch does not come from
 * the task that the CPU last switched to, events are missing; such switches are counted, not corrected.
 *
 *	sched_latency_wake(&l, tid, now);
 *	sched_latency_switch(&l, &(struct sched_switch){.prev = idle, .next = tid, .time_ns = now, .cpu = cpu});
 *	... l.tasks.items[i].wait_ns / l.tasks.items[i].waits ...
 */
#ifndef ANALYSIS_SCHED_LATENCY_H
#define ANALYSIS_SCHED_LATENCY_H

#include "base/id_table.h"
#include "base/vec.h"

enum sched_phase { SCHED_ASLEEP, SCHED_READY, SCHED_ON_CPU };

struct sched_latency_task {
	int32_t tid;
	enum sched_phase phase;
	/* Times when it last left a CPU, and when it last became runnable. */
	uint64_t left_ns, ready_ns;
	/* Run time by the kernel's count, and number and sum of the delays. */
	uint64_t runtime_ns, waits, wait_ns;
	/* The longest delay, and its start and end. */
	uint64_t max_ns, max_from_ns, max_to_ns;
};

struct sched_switch {
	int32_t prev, next;
	bool prev_is_runnable; /* prev was preempted. */
	uint64_t time_ns;
	uint32_t cpu; /* Must be below LIMIT_CPUS. */
	bool is_counted; /* Count the delay; otherwise the event only changes the tasks' states. */
};

#define SCHED_LATENCY_ANY_CPU UINT32_MAX

#define SCHED_LATENCY_LOG     48 /* Buckets: below 1 us, then by powers of two. */
#define SCHED_LATENCY_LINEAR  22 /* Buckets of SCHED_LATENCY_STEP_US; the last one contains all longer delays. */
#define SCHED_LATENCY_STEP_US 100

struct sched_latency {
	struct id_table tids;
	VEC(struct sched_latency_task) tasks; /* Indexed by tids; thread ID 0 stands for the idle tasks of all CPUs. */
	VEC(int32_t) running; /* Thread on each CPU; -1 if unknown. */
	uint64_t wakes; /* Wake-ups of sleeping tasks. */
	uint64_t wrong_switches; /* Switches from another task than the one that the CPU last switched to. */
	uint64_t lost_ns, seen_ns; /* Times of the last loss of events and of the last switch; 0 if there was none. */
	uint64_t cut; /* Number of delays that were not counted because events were lost within them. */
	/* Number of delays by length. */
	uint64_t log_waits[SCHED_LATENCY_LOG], linear_waits[SCHED_LATENCY_LINEAR];
};

void sched_latency_init(struct sched_latency *l);
void sched_latency_deinit(struct sched_latency *l);
/* The functions return false when out of memory. */
bool sched_latency_switch(struct sched_latency *l, const struct sched_switch *s);
bool sched_latency_wake(struct sched_latency *l, int32_t tid, uint64_t time_ns);
/* Handles a loss of events on a CPU (SCHED_LATENCY_ANY_CPU if it may be any CPU) before this time: earlier delays have
 * no known end. */
void sched_latency_lost(struct sched_latency *l, uint32_t cpu, uint64_t time_ns);
/* Adds the run time that the kernel counted for a task. */
bool sched_latency_run(struct sched_latency *l, int32_t tid, uint64_t time_ns, uint64_t ran_ns);

#endif
