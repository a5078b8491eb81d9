/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * kernel_work_map.h - defines the keys and values of the maps in which src/bpf/kernel_work.bpf.c adds up the kernel's
 * own work and the time of tasks.
 *
 * The BPF program includes it too, so it has plain types only and includes no other header.
 */
#ifndef ABI_KERNEL_WORK_MAP_H
#define ABI_KERNEL_WORK_MAP_H

#define WORK_MAP_CPUS 4096 /* that -C can name */
#define WORK_MAP_NAME 32 /* of an interrupt */
#define WORK_MAP_COMM 16
#define WORK_MAP_ANY  0xffffffffu /* a work item is raised for any CPU */

struct work_map_key {
	unsigned int kind, cpu; /* kind: as enum work_kind of analysis/kernel_work.h */
	unsigned long long id;
};

struct work_map_times {
	unsigned long long count, total_ns, max_ns, max_from_ns, max_to_ns;
};

struct work_map_sum {
	unsigned long long function; /* of a work item */
	unsigned long long entered_ns; /* while it runs; else 0 */
	unsigned long long first_ns, last_ns; /* the first and the last event of a run */
	unsigned long long unmatched_entries, unmatched_exits, unraised;
	struct work_map_times run, delay;
	char name[WORK_MAP_NAME];
};

struct work_map_cpu {
	unsigned long long switched_ns, taken_ns; /* the last switch; by interrupts and softirqs since then */
	unsigned long long interrupt_from_ns, softirq_from_ns, within_ns;
	unsigned long long total_ns, idle_ns, interrupt_ns, softirq_ns;
};

struct work_map_task {
	int tid; /* 0: idle */
	unsigned int cpu;
};

struct work_map_runtime {
	unsigned long long ns;
	char comm[WORK_MAP_COMM];
};

struct work_map_losses {
	unsigned long long without_raise, without_sum, without_task; /* events that found no room */
};

#endif
