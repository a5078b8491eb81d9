/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * kernel_work_map.h - defines the keys and values of the maps in which src/bpf/kernel_work.bpf.c adds up the work of
 * the kernel (interrupts, softirqs, work items) and the time of tasks.
 *
 * The BPF program includes it, too, so it uses only plain types and includes no other header.
 */
#ifndef ABI_KERNEL_WORK_MAP_H
#define ABI_KERNEL_WORK_MAP_H

#define WORK_MAP_CPUS 4096 /* Maximum number of CPUs for -C. */
#define WORK_MAP_NAME 32 /* Size of the name of an interrupt. */
#define WORK_MAP_COMM 16
#define WORK_MAP_ANY  0xffffffffu /* CPU of raised work items, which any CPU may execute. */

struct work_map_key {
	unsigned int kind, cpu; /* kind is an enum work_kind of analysis/kernel_work.h. */
	unsigned long long id; /* Number of an interrupt, vector of a softirq, or address of a work item. */
};

struct work_map_times { /* max_from_ns and max_to_ns are start and end of the longest interval, which took max_ns. */
	unsigned long long count, total_ns, max_ns, max_from_ns, max_to_ns;
};

struct work_map_sum {
	unsigned long long function; /* Address of the function of a work item. */
	unsigned long long entered_ns; /* Start time while it runs, else 0. */
	unsigned long long first_ns, last_ns; /* Times of the first and the last event. */
	/* Number of entries without an exit, of exits without an entry, and of entries without a time of raising. */
	unsigned long long unmatched_entries, unmatched_exits, unraised;
	struct work_map_times run, delay; /* Times from entry to exit, and from raising to entry. */
	char name[WORK_MAP_NAME]; /* Name of an interrupt. */
};

struct work_map_cpu {
	/* Time of the last context switch; time spent in interrupts and softirqs since then. */
	unsigned long long switched_ns, taken_ns;
	/* Start times of the interrupt and of the softirq that run now, else 0; time that interrupts have taken within
	 * that softirq. */
	unsigned long long interrupt_from_ns, softirq_from_ns, within_ns;
	unsigned long long total_ns, idle_ns, interrupt_ns, softirq_ns;
};

struct work_map_task {
	int tid; /* 0 for the idle task. */
	unsigned int cpu;
};

struct work_map_runtime {
	unsigned long long ns;
	char comm[WORK_MAP_COMM];
};

struct work_map_losses {
	/* Number of raises, of entries or exits, and of runtimes of tasks that were lost because a map was full. */
	unsigned long long without_raise, without_sum, without_task;
};

#endif
