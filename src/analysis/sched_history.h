/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_history.h - tracks tasks between context switches: how long each ran, how long it waited and for how much of
 * that time it was runnable; adds these times up per task, and the idle times per CPU.
 *
 * The caller owns it (sched_history_init) and feeds events in order of time. One thread. IDs of tasks are dense; every
 * CPU has an idle task of its own; a thread ID that a fork reuses is a new task.
 *
 *	sched_history_wake(&h, tid, now);
 *	struct sched_out out = {.tid = tid, .cpu = cpu, .time_ns = now, .left = SCHED_LEFT_SLEEPING};
 *	sched_history_switch(&h, &out, &times);
 *	if (!times.is_outside) sched_history_count(&h, &times);
 */
#ifndef ANALYSIS_SCHED_HISTORY_H
#define ANALYSIS_SCHED_HISTORY_H

#include "base/id_table.h"
#include "base/vec.h"

#define SCHED_ANY_CPU UINT32_MAX

enum sched_left { SCHED_LEFT_SLEEPING, SCHED_LEFT_BLOCKED, SCHED_LEFT_RUNNABLE }; /* How a task left its CPU. */

/* Statistics of durations. */
struct sched_spread {
	uint64_t count, total_ns, min_ns, max_ns;
	double mean, squares; /* squares is the sum of squared distances to the mean. */
};

struct sched_task {
	int32_t tid, pid, parent; /* pid and parent are -1 if unknown. */
	bool is_idle, has_exited;
	/* Time of the wake-up (0 if none since it last ran), and time when it last left a CPU (0 if never). */
	uint64_t woken_ns, left_ns;
	/* Time when it was moved to another CPU's queue while ready to run; 0 if not since it last ran. */
	uint64_t migrated_ns;
	int32_t prio; /* Priority when it last left a CPU; -1 if unknown. */
	enum sched_left left;
	struct sched_spread run; /* Times on a CPU. */
	struct sched_spread idle; /* Times during which a CPU was idle after this task. */
	/* Sums of waits by how they began (enum sched_left), and of the delays from a wake-up to running. */
	uint64_t slept_ns, blocked_ns, preempted_ns, delayed_ns;
	uint64_t migrations;
};

struct sched_out { /* A task that leaves its CPU. */
	int32_t tid, pid; /* tid 0 stands for the CPU's idle task; pid is 0 or less if unknown. */
	int32_t prio;
	uint32_t cpu; /* Must be below LIMIT_CPUS. */
	uint64_t time_ns;
	enum sched_left left;
};

/* The task that left its CPU at a switch, and its times since it left a CPU before. */
struct sched_times {
	/* behind is the task that ran before an idle task on its CPU; ID_TABLE_NONE if unknown, or if task is not an
	 * idle one. */
	uint32_t task, behind;
	uint64_t time_ns; /* Time of the switch, limited to the span. */
	uint64_t run_ns, wait_ns, delay_ns; /* wait_ns: since it left a CPU; delay_ns: since it was woken. */
	uint64_t pre_migration_ns; /* Time for which it was ready to run in the queue of another CPU. */
	int32_t prio_before; /* Priority when it previously left a CPU; -1 if unknown. */
	enum sched_left left; /* How the wait began. */
	bool is_outside; /* The switch is outside the span. */
	bool is_cut; /* Events of the CPU were lost since the task was switched to: all times are 0 and not counted. */
};

struct sched_history_cpu {
	/* Time of the last switch; 0 if there was none since the start or the last loss of events. */
	uint64_t switched_ns;
	/* Events were lost since the last switch: which task was switched to then, and when, is not known. */
	bool is_cut;
	/* Its idle task, and the task that ran since the idle task last ran; ID_TABLE_NONE if there is none. */
	uint32_t idle, last;
};

struct sched_history {
	struct id_table tids;
	VEC(uint32_t) by_tid; /* Indexed by tids: the task that currently has the thread ID. */
	VEC(struct sched_task) tasks;
	VEC(struct sched_history_cpu) cpus;
	uint64_t from_ns, to_ns; /* The span that is counted, set by the caller; to_ns is 0 for no end. */
	uint64_t first_ns, last_ns; /* First and last switch in the span. */
	uint64_t seen_ns; /* Last switch of all. */
	VEC(uint64_t) losses; /* Times when events were lost, in order. */
	uint64_t cut; /* Number of times on a CPU and of waits with a loss of events within, which are taken as 0. */
};

void sched_history_init(struct sched_history *h);
void sched_history_deinit(struct sched_history *h);
/* Returns the task with this thread ID, or ID_TABLE_NONE when out of memory. */
uint32_t sched_history_task(struct sched_history *h, int32_t tid);
/* The other functions return false when out of memory. */
bool sched_history_fork(struct sched_history *h, int32_t tid, int32_t pid, int32_t parent);
/* Sets the process of a task, which records and samples contain. */
bool sched_history_process(struct sched_history *h, int32_t tid, int32_t pid);
bool sched_history_exit(struct sched_history *h, int32_t tid);
bool sched_history_wake(struct sched_history *h, int32_t tid, uint64_t time_ns);
/* Moves a task to the queue of another CPU. If it was ready to run, its wait until then becomes its next
 * pre_migration_ns. */
bool sched_history_migrate(struct sched_history *h, int32_t tid, uint64_t time_ns);
/* Handles a switch from a task; *times are those since its last switch. */
bool sched_history_switch(struct sched_history *h, const struct sched_out *out, struct sched_times *times);
/* Handles a loss of events on a CPU (SCHED_ANY_CPU if it may be any CPU) before this time; earlier states are unknown
 * from then on. */
bool sched_history_lost(struct sched_history *h, uint32_t cpu, uint64_t time_ns);
/* Adds the times to the task's sums. */
void sched_history_count(struct sched_history *h, const struct sched_times *times);
/* Returns the standard error of the mean in percent of the mean. */
double sched_spread_percent(const struct sched_spread *spread);

#endif
