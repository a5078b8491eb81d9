/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_history.h - follows tasks between context switches: how long each ran, how long it waited and for how much of
 * that it was runnable; adds this up per task, and the idle times per CPU.
 *
 * The caller owns it (sched_history_init) and feeds events in order of time. One thread. Ids of tasks are dense; every
 * CPU has an idle task of its own; a thread ID that a fork reuses is a new task.
 *
 *	sched_history_wake(&h, tid, now);
 *	sched_history_switch(&h, &(struct sched_out){.tid = tid, .cpu = cpu, .time_ns = now, .left = SCHED_LEFT_SLEEPING}, &times);
 *	if (!times.is_outside) sched_history_count(&h, &times);
 */
#ifndef ANALYSIS_SCHED_HISTORY_H
#define ANALYSIS_SCHED_HISTORY_H

#include "base/id_table.h"
#include "base/vec.h"

#define SCHED_ANY_CPU UINT32_MAX

enum sched_left { SCHED_LEFT_SLEEPING, SCHED_LEFT_BLOCKED, SCHED_LEFT_RUNNABLE }; /* how a task left its CPU */

struct sched_spread {
	uint64_t count, total_ns, min_ns, max_ns;
	double mean, squares; /* of the distances to the mean */
};

struct sched_task {
	int32_t tid, pid, parent; /* pid, parent -1: not known */
	bool is_idle, has_exited;
	uint64_t woken_ns, left_ns; /* 0: not since it last ran; never */
	uint64_t migrated_ns; /* to another CPU's queue, ready to run; 0: not since it last ran */
	int32_t prio; /* as it last left a CPU; -1: not known */
	enum sched_left left;
	struct sched_spread run; /* of times on a CPU */
	struct sched_spread idle; /* of times that a CPU was idle behind it */
	uint64_t slept_ns, blocked_ns, preempted_ns, delayed_ns;
	uint64_t migrations;
};

struct sched_out { /* a task leaves its CPU */
	int32_t tid, pid; /* tid 0: the CPU's idle task; pid 0 or less: not known */
	int32_t prio;
	uint32_t cpu; /* below LIMIT_CPUS */
	uint64_t time_ns;
	enum sched_left left;
};

struct sched_times {
	uint32_t task,
		behind; /* behind: the task before this one on its CPU, if this is an idle one; else ID_TABLE_NONE */
	uint64_t time_ns; /* of the switch, in the span */
	uint64_t run_ns, wait_ns, delay_ns; /* wait: since it left a CPU; delay: since it was woken */
	uint64_t pre_migration_ns; /* ready to run, in the queue of a CPU that it did not run on */
	int32_t prio_before; /* of the task, as it left a CPU before; -1: not known */
	enum sched_left left; /* of the wait: how it had begun */
	bool is_outside; /* of the span */
	bool is_cut; /* events of the CPU were lost since the task came onto it: all times are 0, and not counted */
};

struct sched_history_cpu {
	uint64_t switched_ns; /* 0: never, or not since events were lost */
	bool is_cut; /* events were lost since the last switch: who came onto it then, and when, is not known */
	uint32_t idle, last; /* tasks: its own, and the other one since that ran last; ID_TABLE_NONE: none */
};

struct sched_history {
	struct id_table tids;
	VEC(uint32_t) by_tid; /* by id of tids: the task that has the number now */
	VEC(struct sched_task) tasks;
	VEC(struct sched_history_cpu) cpus;
	uint64_t from_ns, to_ns; /* the span that counts; to_ns 0: no end */
	uint64_t first_ns, last_ns; /* switches in it */
	uint64_t seen_ns; /* the last switch of all */
	VEC(uint64_t) losses; /* when events were lost, in order */
	uint64_t cut; /* times on a CPU, and waits, with a loss within: they are taken as 0 */
};

void sched_history_init(struct sched_history *h);
void sched_history_deinit(struct sched_history *h);
/* ID_TABLE_NONE: out of memory. */
uint32_t sched_history_task(struct sched_history *h, int32_t tid);
/* The other functions are false when memory runs out. */
bool sched_history_fork(struct sched_history *h, int32_t tid, int32_t pid, int32_t parent);
/* Notes the process of a task, from a record or sample. */
bool sched_history_process(struct sched_history *h, int32_t tid, int32_t pid);
bool sched_history_exit(struct sched_history *h, int32_t tid);
bool sched_history_wake(struct sched_history *h, int32_t tid, uint64_t time_ns);
/* Moves a task to the queue of another CPU. Its wait until then counts if it was ready to run. */
bool sched_history_migrate(struct sched_history *h, int32_t tid, uint64_t time_ns);
bool sched_history_switch(struct sched_history *h, const struct sched_out *out, struct sched_times *times);
/* Events of a CPU (SCHED_ANY_CPU: of any) were lost up to then, so states from before are unknown after it. */
bool sched_history_lost(struct sched_history *h, uint32_t cpu, uint64_t time_ns);
/* Adds the times to the task's sums. */
void sched_history_count(struct sched_history *h, const struct sched_times *times);
/* Standard error of the mean in percent of it. */
double sched_spread_percent(const struct sched_spread *spread);

#endif
