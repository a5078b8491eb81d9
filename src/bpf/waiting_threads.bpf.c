/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Visits all threads once, when waits begin to be recorded: it enters each target into the map of off_cpu.bpf.c and,
 * for those off the CPU, the state of their waits, whose switches were not seen. The data that their stacks are unwound
 * from goes to the reader.
 *
 * Threads wake up meanwhile. So a thread is entered first, and off_cpu.bpf.c sees its switches from then on; the data
 * that is read afterwards belongs to one wait only if the thread has not left the CPU again and is not on it.
 */
#include "bpf/waiting_threads.bpf.h"

#include "bpf/kernel_types.bpf.h"
#include "bpf/off_cpu_task.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Constants, set before the program is loaded. */
const volatile bool all_threads; /* False: only threads that are targets. */
const volatile bool wants_preempted, wants_kernel = true, has_cpus;
const volatile __u32 own_tgid;

/* The variables below belong to the current pass. */
__u64 begin_ns;
__u32 generation;
/* True to visit only threads with stacks that were walked when some unwind table was still missing. */
bool only_partial;
__u64 lost_threads; /* Number of threads for which the map had no room. */
__u32 reader; /* Process that reads the records, by its ID in the initial PID namespace. */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u8); /* Flags of enum waiting_target. */
	__uint(max_entries, 16384);
} targets SEC(".maps");

struct waiting_scratch {
	struct waiting_record record;
	struct off_cpu_thread fresh; /* Zeroes, to initialize new entries from. */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct waiting_scratch);
} scratch SEC(".maps");

static __always_inline bool waiting_is_target(const struct task_struct *task)
{
	__u32 tid = task->pid, tgid = task->tgid;
	if (task->flags & PF_KTHREAD || tgid == own_tgid)
		return false;
	if (all_threads)
		return true;
	/* A child of a target may be a target, too. */
	const struct off_cpu_thread *known = bpf_map_lookup_elem(&threads, &tid);
	if (known && known->is_target)
		return true;
	const __u8 *thread = bpf_map_lookup_elem(&targets, &tid);
	if (thread && *thread & WAITING_THREAD)
		return true;
	const __u8 *process = bpf_map_lookup_elem(&targets, &tgid);
	return process && *process & WAITING_PROCESS;
}

static __always_inline bool waiting_is_on_cpu(const struct task_struct *task)
{
	return bpf_core_field_exists(task->on_cpu) ? task->on_cpu != 0 : (void *)task == (void *)bpf_get_current_task();
}

/* Checks the CPU that the thread left. */
static __always_inline bool waiting_is_of_cpus(const struct task_struct *task)
{
	__u32 cpu;
	if (!has_cpus)
		return true;
	cpu = bpf_core_field_exists(task->thread_info.cpu) ? task->thread_info.cpu : task->cpu;
	return bpf_map_lookup_elem(&cpus, &cpu) != NULL;
}

static __always_inline const void *waiting_pt_regs(struct task_struct *task)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (const void *)bpf_task_pt_regs(task);
	return (const char *)task->stack + WALK_THREAD_SIZE - bpf_core_type_size(struct pt_regs___kernel);
}

static __always_inline bool waiting_read_registers(struct task_struct *task, __u64 *to)
{
#if defined(__TARGET_ARCH_x86)
	struct walk_pt_regs from;
	if (bpf_probe_read_kernel(&from, sizeof(from), waiting_pt_regs(task)) || from.cs != 0x33)
		return false;
	to[0] = from.ax;
	to[1] = from.bx;
	to[2] = from.cx;
	to[3] = from.dx;
	to[4] = from.si;
	to[5] = from.di;
	to[6] = from.bp;
	to[7] = from.sp;
	to[8] = from.ip;
	to[9] = from.flags;
	to[10] = from.cs;
	to[11] = from.ss;
	to[16] = from.r8;
	to[17] = from.r9;
	to[18] = from.r10;
	to[19] = from.r11;
	to[20] = from.r12;
	to[21] = from.r13;
	to[22] = from.r14;
	to[23] = from.r15;
	return true;
#else /* Both layouts begin with x0 to x30, sp and pc; pstate follows. */
	struct walk_pt_regs from;
	const char *at = waiting_pt_regs(task);
	if (bpf_probe_read_kernel(&from, sizeof(from), at + WALK_REGS_OFFSET) || from.pstate & 0x1f)
		return false;
	return bpf_probe_read_kernel(to, WAITING_REGISTERS * sizeof(*to), at) == 0;
#endif
}

static __always_inline void waiting_take_kernel(struct task_struct *task, struct waiting_record *record)
{
	long bytes = 0;
	/* Available since Linux 5.9. */
	if (wants_kernel && bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_task_stack))
		bytes = bpf_get_task_stack(task, record->kernel, WAITING_FRAMES * sizeof(__u64), 0);
	record->kernel_count = bytes > 0 ? (__u16)(bytes / sizeof(__u64)) : 0;
}

static __always_inline struct off_cpu_thread *waiting_entry(const struct task_struct *task, struct waiting_scratch *s)
{
	__u32 tid = task->pid;
	struct off_cpu_thread *t = bpf_map_lookup_elem(&threads, &tid);
	if (!t) {
		bpf_map_update_elem(&threads, &tid, &s->fresh, BPF_NOEXIST);
		t = bpf_map_lookup_elem(&threads, &tid);
	}
	if (!t) {
		lost_threads++;
		return NULL;
	}
	t->tgid = task->tgid;
	t->is_target = true;
	return t;
}

/* Stores the thread's wait in its entry of the map; false if it does not wait, or no longer. */
static __always_inline bool waiting_enter(
	struct task_struct *task, struct off_cpu_thread *t, struct waiting_record *record, __u8 state)
{
	struct off_cpu_regs regs = {.syscall = -1};
	(void)off_cpu_regs(task, &regs);
	record->has_registers = waiting_read_registers(task, record->registers);
	waiting_take_kernel(task, record);
	if (waiting_is_on_cpu(task) || off_cpu_switches(task) != record->switches)
		return false;
	t->flags = OFF_CPU_BEGAN_BEFORE;
	t->state = state;
	t->syscall = regs.syscall;
	t->quota_queue = 0;
	t->is_throttled = 0;
	if (t->woken_ns < begin_ns) /* The wakeup happened before this pass. */
		t->woken_ns = 0;
	t->generation = generation;
	t->before_switches = record->switches;
	t->before_stack = record->stack;
	t->off_ns = begin_ns;
	/* off_cpu.bpf.c compares the number of switches again when the wait ends. */
	if (!waiting_is_on_cpu(task) && off_cpu_switches(task) == record->switches)
		return true;
	t->before_stack = 0;
	return false;
}

/* Reads the data from which an unfinished wait is unwound; false if it has ended. */
static __always_inline bool waiting_read_again(
	struct task_struct *task, struct off_cpu_thread *t, struct waiting_record *record)
{
	record->has_registers = waiting_read_registers(task, record->registers);
	waiting_take_kernel(task, record);
	if (t->partial != OFF_CPU_IS_PARTIAL || waiting_is_on_cpu(task) || off_cpu_switches(task) != record->switches)
		return false;
	t->before_switches = record->switches;
	t->before_stack = record->stack;
	t->partial = OFF_CPU_IS_READ_AGAIN;
	return true;
}

SEC("iter/task")
int waiting_visit(struct bpf_iter__task *context)
{
	struct seq_file *seq = context->meta->seq;
	struct task_struct *task = context->task;
	__u32 zero = 0;
	struct waiting_scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	reader = (__u32)(bpf_get_current_pid_tgid() >> 32);
	if (!task || !s || !waiting_is_target(task))
		return 0;
	__u32 tid = task->pid;
	struct off_cpu_thread *t = only_partial ? bpf_map_lookup_elem(&threads, &tid) : waiting_entry(task, s);
	/* The kernel visits a thread again if its buffer had no room for the record. */
	if (!t || (only_partial && (!t->off_ns || t->generation != generation || t->partial == OFF_CPU_IS_WHOLE)))
		return 0;
	struct waiting_record *record = &s->record;
	record->switches = off_cpu_switches(task);
	__u64 raw = off_cpu_raw_state(task);
	__u8 state = off_cpu_state_of(task, false, raw);
	bool is_counted = state != OFF_CPU_RUNNABLE || wants_preempted;
	if (waiting_is_on_cpu(task) || raw & TASK_DEAD || !is_counted || !waiting_is_of_cpus(task))
		return 0;
	record->tid = task->pid;
	record->tgid = task->tgid;
	record->stack = off_cpu_mix(off_cpu_mix(record->tid, record->switches), begin_ns) | 1;
	bool is_again = t->flags & OFF_CPU_BEGAN_BEFORE && t->before_stack == record->stack;
	if (!only_partial && t->off_ns && t->generation == generation && !is_again)
		return 0; /* The thread has left the CPU again, and off_cpu.bpf.c has recorded that. */
	if (only_partial) {
		bool is_seen = t->partial == OFF_CPU_IS_READ_AGAIN;
		if (is_seen && t->before_stack != record->stack)
			return 0;
		if (is_seen)
			t->partial = OFF_CPU_IS_PARTIAL;
		if (!waiting_read_again(task, t, record))
			return 0;
	} else if (!waiting_enter(task, t, record, state)) {
		return 0;
	}
	__u64 bytes = WAITING_RECORD_BYTES + (record->kernel_count & WAITING_FRAMES) * sizeof(__u64);
	bpf_seq_write(seq, record, (__u32)bytes);
	return 0;
}
