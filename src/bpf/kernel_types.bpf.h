/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * kernel_types.bpf.h - declares the kernel's structs for our BPF programs, with only the fields that they use. Each
 * access is relocated when the program is loaded (preserve_access_index), so neither the order nor the offsets here
 * matter; libbpf reads them from the running kernel's BTF. For programs compiled by `clang -target bpf` only.
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

struct maple_tree { /* Available since Linux 6.1. */
	void *ma_root;
} KERNEL_TYPE;

struct seqcount {
	unsigned int sequence;
} KERNEL_TYPE;

typedef struct {
	void *vdso;
} KERNEL_TYPE mm_context_t;

struct mm_struct {
	unsigned long exec_vm; /* Number of mapped code pages, which changes with dlopen and dlclose. */
	unsigned long start_code;
	unsigned long start_stack;
	unsigned long arg_start, arg_end; /* The strings of argv, one after the other. */
	struct maple_tree mm_mt; /* Mappings, since Linux 6.1. */
	/*
	 * Changes with each change of mappings, since Linux 6.4. Since 6.13 it has this type, and is odd during a
	 * change.
	 */
	struct seqcount mm_lock_seq;
	mm_context_t context;
} KERNEL_TYPE;

struct mm_struct___before_6_13 {
	int mm_lock_seq;
} KERNEL_TYPE;

/*
 * A node of the tree of mappings. walk_space.bpf.h reads nodes as arrays of words, and checks at load time that their
 * layout is as expected.
 */
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
	long long i_mtime_sec; /* Available since Linux 6.11. */
	unsigned int i_mtime_nsec;
	struct timespec64 __i_mtime; /* Available since Linux 6.7. */
	struct timespec64 i_mtime;
} KERNEL_TYPE;

struct qstr {
	const unsigned char *name;
} KERNEL_TYPE;

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
} KERNEL_TYPE;

struct dentry {
	struct hlist_bl_node d_hash; /* pprev is NULL if the name was removed from its directory. */
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

struct backing_file { /* Available since Linux 6.5: the file that overlayfs maps. */
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

/* Used for the size of struct pt_regs only; libbpf ignores the part of the name after the underscores. */
struct pt_regs___kernel {
	unsigned long ip;
} KERNEL_TYPE;

struct thread_info {
	unsigned int status; /* Present on x86 only. */
	unsigned int cpu; /* CPU on which the thread ran last; on x86 since Linux 5.16. */
} KERNEL_TYPE;

struct upid {
	int nr;
} KERNEL_TYPE;

struct pid {
	unsigned int level;
	/* One element for each nested namespace; the last one contains the ID in the thread's own namespace. */
	struct upid numbers[1];
} KERNEL_TYPE;

struct thread_struct {
	unsigned long fsbase; /* Present on x86-64 only. */
} KERNEL_TYPE;

enum cgroup_subsys_id {
	perf_event_cgrp_id = 7, /* The value differs between kernels and is relocated. */
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
	struct cgroup_subsys_state *subsys[8]; /* Indexed by cgroup_subsys_id, for all hierarchies. */
} KERNEL_TYPE;

struct restart_block { /* Describes how a system call continues after a signal or a stop. */
	long (*fn)(struct restart_block *);
} KERNEL_TYPE;

struct rq { /* Run queue of a CPU. */
	__u64 clock;
} KERNEL_TYPE;

struct cfs_rq { /* Queue of the threads of a cgroup on a CPU. */
	struct rq *rq;
	int throttle_count; /* Number of throttled queues among this one and those of the cgroups above it. */
	__u64 throttled_clock_self; /* Time since which its threads are throttled, or 0; since Linux 6.6. */
	__u64 throttled_clock_self_time; /* Total of the throttled times that have ended; since Linux 6.6. */
} KERNEL_TYPE;

struct sched_entity {
	struct cfs_rq *cfs_rq;
} KERNEL_TYPE;

struct task_group {
	struct cfs_rq **cfs_rq; /* Indexed by CPU. */
} KERNEL_TYPE;

struct task_struct {
	struct css_set *cgroups;
	struct thread_info thread_info;
	unsigned int __state; /* Available since Linux 5.14; older kernels have state. */
	volatile long state;
	unsigned int in_iowait : 1;
	unsigned int frozen : 1; /* Frozen by the freezer of cgroup version 2. */
	struct restart_block restart_block;
	struct sched_entity se;
	struct task_group *sched_task_group;
	_Bool throttled; /* Throttled by the quota of its cgroup; since Linux 6.18. */
	int on_cpu; /* Present on SMP kernels only. */
	unsigned int cpu; /* Present on x86 before Linux 5.16. */
	unsigned long nvcsw, nivcsw; /* Numbers of voluntary and involuntary context switches. */
	unsigned int flags;
	int exit_code; /* Status as wait returns it. */
	int pid; /* Thread ID. */
	int tgid; /* Process ID. */
	__u64 self_exec_id; /* Number of programs that it has executed. */
	struct mm_struct *mm; /* NULL for kernel threads. */
	struct files_struct *files;
	void *stack;
	struct task_struct *real_parent;
	struct pid *thread_pid;
	struct thread_struct thread;
	__u64 start_time;
	char comm[16];
} KERNEL_TYPE;

struct linux_binprm { /* Arguments of a program that is being executed. */
	const char *filename;
	const char *interp; /* Same as filename, or the interpreter of a script. */
} KERNEL_TYPE;

struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL_TYPE;

struct bpf_iter__task { /* Context of a program that visits all threads; task is NULL after the last one. */
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} KERNEL_TYPE;

typedef struct {
	long counter;
} KERNEL_TYPE atomic_long_t;

struct mutex {
	atomic_long_t owner; /* Address of a task_struct, with flags in the low bits. */
} KERNEL_TYPE;

struct rw_semaphore {
	atomic_long_t owner;
} KERNEL_TYPE;

/* The structs below describe a sample as the kernel prepares it for its overflow handlers. */
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
	__u64 sample_flags; /* Fields that the kernel has filled in, as bits of sample_type; since Linux 6.2. */
	__u64 period;
	__u64 dyn_size; /* Available since Linux 6.3. */
	struct perf_tid_entry tid_entry;
	__u64 time, id;
	struct perf_cpu_entry cpu_entry;
	__u64 ip;
	union perf_sample_weight weight;
	union perf_mem_data_src data_src;
	__u64 txn, cgroup, addr, phys_addr, data_page_size, code_page_size;
} KERNEL_TYPE;

struct perf_event {
	struct perf_event *parent; /* The original event if a child inherited this one. */
	__u64 bpf_cookie; /* Available since Linux 5.15. */
} KERNEL_TYPE;

struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
	struct perf_event *event;
} KERNEL_TYPE;

#endif
