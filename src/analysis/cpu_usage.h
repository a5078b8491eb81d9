/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_usage.h - adds up what CPUs did between context switches: the time of each task, without the interrupts and
 * softirqs that ran meanwhile, and theirs.
 *
 * The caller owns it (cpu_usage_init, cpu_usage_deinit) and feeds events in order of time. The time of a CPU counts from
 * its first switch to its last one. CPUs are below LIMIT_CPUS. False: out of memory. One thread.
 *
 *	cpu_usage_switch(&usage, cpu, prev_pid, now);
 *	cpu_usage_interrupt(&usage, cpu, is_softirq, begins, now);
 */
#ifndef ANALYSIS_CPU_USAGE_H
#define ANALYSIS_CPU_USAGE_H

#include "base/id_table.h"
#include "base/vec.h"

struct cpu_use {
	uint64_t total_ns, idle_ns;
	uint64_t interrupt_ns, softirq_ns; /* those within softirqs count as interrupts alone */
	uint64_t switched_ns; /* the last switch; 0: none was yet */
	uint64_t taken_ns; /* by interrupts and softirqs since then */
	uint64_t interrupt_from_ns, softirq_from_ns; /* while one runs; 0: none does */
	uint64_t within_ns; /* of interrupts within the running softirq */
};

struct task_use {
	int32_t tid; /* 0: the idle tasks of all CPUs */
	uint32_t cpu; /* where it ran last */
	uint32_t name; /* whatever the caller sets; UINT32_MAX: nothing */
	uint64_t runtime_ns;
	double share; /* of one CPU: the sum of its shares of the CPUs. Set by cpu_usage_finish */
};

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
/* The task tid (0: idle) leaves the CPU. */
bool cpu_usage_switch(struct cpu_usage *usage, uint32_t cpu, int32_t tid, uint64_t time_ns);
bool cpu_usage_interrupt(struct cpu_usage *usage, uint32_t cpu, bool is_softirq, bool begins, uint64_t time_ns);
/* Events of the CPU (UINT32_MAX: of any) were lost: time until its next switch is not counted. */
void cpu_usage_lost(struct cpu_usage *usage, uint32_t cpu);
/* Adds what was summed up elsewhere. */
bool cpu_usage_add_task(struct cpu_usage *usage, uint32_t cpu, int32_t tid, uint64_t runtime_ns);
struct cpu_use *cpu_usage_cpu(struct cpu_usage *usage, uint32_t cpu);
/* Works out the shares. */
void cpu_usage_finish(struct cpu_usage *usage);

#endif
