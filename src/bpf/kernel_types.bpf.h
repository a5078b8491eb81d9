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

struct maple_tree { /* since Linux 6.1 */
	void *ma_root;
} KERNEL_TYPE;

struct seqcount {
	unsigned int sequence;
} KERNEL_TYPE;

typedef struct {
	void *vdso;
} KERNEL_TYPE mm_context_t;

struct mm_struct {
	unsigned long exec_vm; /* number of mapped code pages, which changes with dlopen and dlclose */
	unsigned long start_code;
	unsigned long start_stack;
	unsigned long arg_start, arg_end; /* the strings of argv, one behind the other */
	struct maple_tree mm_mt; /* since Linux 6.1: its mappings */
	/* Since Linux 6.4: another number after each change of mappings. Odd during a change, since 6.13, where it has
	 * this type. */
	struct seqcount mm_lock_seq;
	mm_context_t context;
} KERNEL_TYPE;

struct mm_struct___before_6_13 {
	int mm_lock_seq;
} KERNEL_TYPE;

/* A node of the tree of mappings. The walk reads nodes as words, and compares their layout with what it expects. */
struct maple_node {
	void *parent;
} KERNEL_TYPE;

struct maple_metadata {
	unsigned char end;
} KERNEL_TYPE;

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
} KERNEL_TYPE;

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
	struct maple_metadata meta;
} KERNEL_TYPE;

struct super_block {
	unsigned int s_dev;
	unsigned long s_magic;
} KERNEL_TYPE;

struct timespec64 {
	long long tv_sec;
	long tv_nsec;
} KERNEL_TYPE;

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	long long i_mtime_sec; /* since Linux 6.11 */
	unsigned int i_mtime_nsec;
	struct timespec64 __i_mtime; /* since Linux 6.7 */
	struct timespec64 i_mtime;
} KERNEL_TYPE;

struct qstr {
	const unsigned char *name;
} KERNEL_TYPE;

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
} KERNEL_TYPE;

struct dentry {
	struct hlist_bl_node d_hash; /* without pprev: its name is in no folder any more */
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
} KERNEL_TYPE;

struct vfsmount {
	struct dentry *mnt_root;
} KERNEL_TYPE;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
} KERNEL_TYPE;

struct path___file {
	struct vfsmount *mnt;
	struct dentry *dentry;
} KERNEL_TYPE;

struct file {
	struct inode *f_inode;
	unsigned int f_mode;
	struct path___file f_path;
} KERNEL_TYPE;

struct backing_file { /* since Linux 6.5: what overlayfs maps */
	struct file file;
	struct path___file user_path;
} KERNEL_TYPE;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} KERNEL_TYPE;

struct files_struct {
	struct fdtable *fdt;
} KERNEL_TYPE;

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
} KERNEL_TYPE;

struct pt_regs___kernel { /* its size only; the part after ___ does not belong to the name */
	unsigned long ip;
} KERNEL_TYPE;

struct thread_info {
	unsigned int status; /* of x86 */
	unsigned int cpu; /* where it ran last; of x86 since Linux 5.16 */
} KERNEL_TYPE;

struct upid {
	int nr;
} KERNEL_TYPE;

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* one for each namespace; the last one is the thread's own */
} KERNEL_TYPE;

struct thread_struct {
	unsigned long fsbase; /* of x86-64 */
} KERNEL_TYPE;

enum cgroup_subsys_id {
	perf_event_cgrp_id = 7, /* another number in another kernel */
};

struct kernfs_node {
	__u64 id;
} KERNEL_TYPE;

struct cgroup {
	struct kernfs_node *kn;
} KERNEL_TYPE;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} KERNEL_TYPE;

struct css_set {
	struct cgroup_subsys_state *subsys[8]; /* by cgroup_subsys_id, in all hierarchies */
} KERNEL_TYPE;

struct restart_block { /* of a system call that goes on after a signal or a stop */
	long (*fn)(struct restart_block *);
} KERNEL_TYPE;

struct rq { /* of a CPU */
	__u64 clock;
} KERNEL_TYPE;

struct cfs_rq { /* the threads of a cgroup on a CPU */
	struct rq *rq;
	int throttle_count; /* of it and of the cgroups above it */
	__u64 throttled_clock_self; /* since when its threads are throttled; 0: they are not; since Linux 6.6 */
	__u64 throttled_clock_self_time; /* how long they were, before that */
} KERNEL_TYPE;

struct sched_entity {
	struct cfs_rq *cfs_rq;
} KERNEL_TYPE;

struct task_group {
	struct cfs_rq **cfs_rq; /* by CPU */
} KERNEL_TYPE;

struct task_struct {
	struct css_set *cgroups;
	struct thread_info thread_info;
	unsigned int __state; /* since Linux 5.14; before it: */
	volatile long state;
	unsigned int in_iowait : 1;
	unsigned int frozen : 1; /* by the freezer of cgroup version 2 */
	struct restart_block restart_block;
	struct sched_entity se;
	struct task_group *sched_task_group;
	_Bool throttled; /* by the quota of its cgroup; since Linux 6.18 */
	int on_cpu; /* of kernels for several CPUs */
	unsigned int cpu; /* of x86 before Linux 5.16 */
	unsigned long nvcsw, nivcsw; /* how often it left the CPU, by itself or not */
	unsigned int flags;
	int exit_code; /* as wait gives it */
	int pid; /* of the thread */
	int tgid; /* of the process */
	__u64 self_exec_id; /* how often it has executed a program */
	struct mm_struct *mm; /* NULL: a thread of the kernel */
	struct files_struct *files;
	void *stack;
	struct task_struct *real_parent;
	struct pid *thread_pid;
	struct thread_struct thread;
	__u64 start_time;
	char comm[16];
} KERNEL_TYPE;

struct linux_binprm { /* of a program that is executed */
	const char *filename;
	const char *interp; /* the same, or what a script names */
} KERNEL_TYPE;

struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL_TYPE;

struct bpf_iter__task { /* what a program gets that visits all threads; task NULL: that was all */
	struct bpf_iter_meta *meta;
	struct task_struct *task;
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
	__u64 sample_flags; /* the fields that the kernel has filled in, as in sample_type; from 6.2 on */
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

struct perf_event {
	struct perf_event *parent; /* of an event that a child inherited */
	__u64 bpf_cookie; /* from 5.15 on */
} KERNEL_TYPE;

struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
	struct perf_event *event;
} KERNEL_TYPE;

#endif
