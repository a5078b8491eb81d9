/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * kernel_types.bpf.h - declares the kernel's structs for our BPF programs, with only the fields that they use. Each
 * access is relocated when the program is loaded (preserve_access_index), so neither the order nor the offsets here
 * matter; libbpf takes them from the running kernel's BTF. For programs compiled by `clang -target bpf` only.
 *
 * Add a field when a program needs it. If a supported kernel lacks it, guard its use by bpf_core_field_exists.
 */
#ifndef BPF_KERNEL_TYPES_BPF_H
#define BPF_KERNEL_TYPES_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct mm_struct {
	unsigned long exec_vm; /* pages of code that are mapped: another number after dlopen and dlclose */
	unsigned long start_code;
	unsigned long start_stack;
} KERNEL_TYPE;

struct pt_regs___kernel { /* its size only; what is behind ___ is not part of the name */
	unsigned long ip;
} KERNEL_TYPE;

struct thread_info {
	unsigned int status; /* of x86 */
} KERNEL_TYPE;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state; /* since Linux 5.14; before it: */
	volatile long state;
	unsigned int in_iowait : 1;
	unsigned int flags;
	int pid; /* of the thread */
	int tgid; /* of the process */
	struct mm_struct *mm; /* NULL: a thread of the kernel */
	void *stack;
	struct task_struct *real_parent;
	__u64 start_time;
	char comm[16];
} KERNEL_TYPE;

typedef struct {
	long counter;
} KERNEL_TYPE atomic_long_t;

struct mutex {
	atomic_long_t owner; /* a task_struct, with flags in the low bits */
} KERNEL_TYPE;

struct rw_semaphore {
	atomic_long_t owner;
} KERNEL_TYPE;

/* A sample, as the kernel has prepared it for its overflow handlers. */
struct perf_tid_entry {
	__u32 pid, tid;
} KERNEL_TYPE;

struct perf_cpu_entry {
	__u32 cpu;
} KERNEL_TYPE;

union perf_sample_weight {
	__u64 full;
} KERNEL_TYPE;

union perf_mem_data_src {
	__u64 val;
} KERNEL_TYPE;

struct perf_sample_data {
	__u64 period;
	__u64 dyn_size; /* from 6.3 on */
	struct perf_tid_entry tid_entry;
	__u64 time, id;
	struct perf_cpu_entry cpu_entry;
	__u64 ip;
	union perf_sample_weight weight;
	union perf_mem_data_src data_src;
	__u64 txn, cgroup, addr, phys_addr, data_page_size, code_page_size;
} KERNEL_TYPE;

struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
} KERNEL_TYPE;

#endif
