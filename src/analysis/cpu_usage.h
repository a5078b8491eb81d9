/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_usage.h - adds up how CPUs spent their time between context switches: in tasks (without the interrupts and
 * softirqs that interrupted them), in interrupts, and in softirqs.
 *
 * The caller owns it (cpu_usage_init, cpu_usage_deinit) and feeds events in order of time. The time of a CPU is counted
 * from its first switch to its last one. CPU numbers must be below LIMIT_CPUS. Functions return false when out of
 * memory. One thread.
 *
 *	cpu_usage_switch(&usage, cpu, prev_tid, now);
 *	cpu_usage_interrupt(&usage, cpu, is_softirq, begins, now);
 */
#ifndef ANALYSIS_CPU_USAGE_H
#define ANALYSIS_CPU_USAGE_H

#include "base/id_table.h"
#include "base/vec.h"

struct cpu_use {
	uint64_t total_ns, idle_ns;
	uint64_t interrupt_ns, softirq_ns; /* An interrupt during a softirq counts only as interrupt time. */
	/* Time of the last switch; 0 if there was none since the start or the last loss of events. */
	uint64_t switched_ns;
	uint64_t taken_ns; /* Time of interrupts and softirqs since the last switch. */
	/* Start of the running interrupt and softirq; 0 if none is running. */
	uint64_t interrupt_from_ns, softirq_from_ns;
	uint64_t within_ns; /* Time of interrupts during the running softirq. */
};

struct task_use {
	int32_t tid; /* 0 stands for the idle tasks of all CPUs. */
	uint32_t cpu; /* CPU that the task last ran on. */
	uint32_t name; /* For the caller's use; initially UINT32_MAX. */
	uint64_t runtime_ns;
	/* Sum of the task's shares of the time of each CPU, so 1 is one full CPU; set by cpu_usage_finish. */
	double share;
};

/* Run time of a task on one CPU; task is an index in cpu_usage.tasks. */
struct task_on_cpu {
	uint32_t task, cpu;
	uint64_t runtime_ns;
};

struct cpu_usage {
	VEC(struct cpu_use) cpus;
	struct id_table task_ids, part_ids;
	VEC(struct task_use) tasks;
	VEC(struct task_on_cpu) parts;
};

void cpu_usage_init(struct cpu_usage *usage);
void cpu_usage_deinit(struct cpu_usage *usage);
/* Ends the time of task tid (0 if idle), which leaves the CPU. */
bool cpu_usage_switch(struct cpu_usage *usage, uint32_t cpu, int32_t tid, uint64_t time_ns);
bool cpu_usage_interrupt(struct cpu_usage *usage, uint32_t cpu, bool is_softirq, bool begins, uint64_t time_ns);
/* Handles a loss of events on the CPU (UINT32_MAX if it may be any CPU): time until its next switch is not counted. */
void cpu_usage_lost(struct cpu_usage *usage, uint32_t cpu);
/* Adds a run time that was summed elsewhere, such as in the kernel. */
bool cpu_usage_add_task(struct cpu_usage *usage, uint32_t cpu, int32_t tid, uint64_t runtime_ns);
/* Returns the times of a CPU, which are created if necessary; NULL when out of memory. The pointer is valid until a
 * higher CPU number is used. */
struct cpu_use *cpu_usage_cpu(struct cpu_usage *usage, uint32_t cpu);
/* Computes the share of each task. */
void cpu_usage_finish(struct cpu_usage *usage);

#endif
