/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Traces and counts system calls: each with its arguments, the memory that these point to, its result and its duration,
 * in samples of perf events; or only sums in a map.
 *
 * A program may make millions of calls a second, so the cost of each matters most: each thread has an entry with the
 * state of its call between entry and exit, unwanted calls end after one lookup in the plan, and memory is copied only
 * for calls whose plan contains copies.
 */
#include "bpf/syscall_trace.bpf.h"

#include "bpf/syscall_copy.bpf.h"
#include "bpf/syscall_regs.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Constants, set before the program is loaded: the verifier removes the code that they disable. */
const volatile struct {
	bool all_threads, records, entries, copies, only_failed, error_counts, of_user, has_cpus, has_excluded, lives;
	__u32 user, cgroups;
	__u32 sums; /* A value of enum syscall_sum_by. */
	__u64 least_ns;
} wanted;

bool is_on;
struct syscall_trace_counts counts;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192); /* User space sets this size and the next before loading. */
	__type(key, __u32);
	__type(value, struct syscall_thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, struct syscall_copies);
} copies SEC(".maps");

struct { /* Zeroes, to initialize new entries from. */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct syscall_copies);
} fresh SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SYSCALL_PLANS);
	__type(key, __u32);
	__type(value, struct syscall_plan);
} plans SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, SYSCALL_TRACE_CPUS);
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} output SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct syscall_sum_key);
	__type(value, struct syscall_sum);
} sums SEC(".maps");

struct { /* IDs of processes that are not traced. */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u8);
} excluded SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SYSCALL_TRACE_CPUS);
	__type(key, __u32);
	__type(value, __u8);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, SYSCALL_TRACE_CGROUPS);
} cgroups SEC(".maps");

/* ---- selecting calls ---- */

static __always_inline struct syscall_thread *syscall_thread_of(__u64 pid_tgid)
{
	__u32 tid = (__u32)pid_tgid, tgid = pid_tgid >> 32;
	struct syscall_thread *thread = bpf_map_lookup_elem(&threads, &tid), first = {};
	if (thread || !wanted.all_threads)
		return thread;
	first.pid = tgid;
	first.is_excluded = wanted.has_excluded && bpf_map_lookup_elem(&excluded, &tgid);
	if (bpf_map_update_elem(&threads, &tid, &first, BPF_ANY))
		__sync_fetch_and_add(&counts.threads, 1);
	return bpf_map_lookup_elem(&threads, &tid);
}

static __always_inline bool syscall_is_in_cgroups(void)
{
	for (__u32 i = 0; i < SYSCALL_TRACE_CGROUPS && i < wanted.cgroups; i++)
		if (bpf_current_task_under_cgroup(&cgroups, i) == 1)
			return true;
	return wanted.cgroups == 0;
}

static __always_inline bool syscall_is_in_scope(const struct syscall_thread *thread)
{
	if (thread->is_excluded || (wanted.of_user && (__u32)bpf_get_current_uid_gid() != wanted.user))
		return false;
	return syscall_is_in_cgroups();
}

static __always_inline bool syscall_is_wanted(const struct syscall_thread *thread, const struct syscall_plan *plan)
{
	return !(thread->waits && !(plan->flags & SYSCALL_PLAN_NEW_IMAGE)) && syscall_is_in_scope(thread);
}

static __always_inline bool syscall_is_on_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u8 *is_listed = wanted.has_cpus ? bpf_map_lookup_elem(&cpus, &cpu) : NULL;
	return !wanted.has_cpus || (is_listed && *is_listed);
}

/* ---- records ---- */

static __always_inline struct syscall_copies *syscall_copies_of(__u32 tid)
{
	__u32 zero = 0;
	struct syscall_copies *c = bpf_map_lookup_elem(&copies, &tid);
	if (c)
		return c;
	c = bpf_map_lookup_elem(&fresh, &zero);
	if (!c || bpf_map_update_elem(&copies, &tid, c, BPF_ANY)) {
		__sync_fetch_and_add(&counts.threads, 1);
		return NULL;
	}
	return bpf_map_lookup_elem(&copies, &tid);
}

static __always_inline void syscall_fill_record(
	struct syscall_record *r, const struct syscall_thread *thread, __u32 kind, __u32 flags)
{
	r->version = SYSCALL_RECORD_VERSION;
	r->kind = (__u8)kind;
	r->flags = (__u8)(flags | (thread->is_compat ? SYSCALL_FLAG_COMPAT : 0));
	r->number = thread->number;
	r->captured = 0;
	r->unused = 0;
	for (__u32 i = 0; i < SYSCALL_ARGS; i++)
		r->args[i] = thread->args[i];
	bpf_get_current_comm(r->name, sizeof(r->name));
}

/* A full ring itself counts the records that it loses, so only other failures are counted here. */
static __always_inline void syscall_output(void *ctx, void *record, __u64 bytes)
{
	long failed = bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, record, bytes);
	if (failed && failed != -SYSCALL_ENOSPC)
		__sync_fetch_and_add(&counts.records, 1);
}

static __always_inline void syscall_output_copies(void *ctx, struct syscall_copies *c, __u32 kind)
{
	__u32 used = c->used;
	if (used > SYSCALL_CAPTURES + SYSCALL_PART)
		used = SYSCALL_CAPTURES + SYSCALL_PART;
	c->record.kind = (__u8)kind;
	c->record.captured = used;
	syscall_output(ctx, &c->record, sizeof(c->record) + used);
}

static __always_inline void syscall_output_plain(
	void *ctx, const struct syscall_thread *thread, __u32 kind, __u32 flags, __s64 result, __u64 duration)
{
	struct syscall_record record;
	syscall_fill_record(&record, thread, kind, flags);
	record.result = result;
	record.duration_ns = duration;
	syscall_output(ctx, &record, sizeof(record));
}

/* ---- sums ---- */

static __always_inline struct syscall_sum *syscall_sum_of(const struct syscall_sum_key *key)
{
	struct syscall_sum *sum = bpf_map_lookup_elem(&sums, key), first = {.min_ns = ~0ULL};
	if (sum)
		return sum;
	bpf_map_update_elem(&sums, key, &first, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sums, key);
}

/* Adds value squared, in 128 bits: the square of five seconds in nanoseconds exceeds 64 bits. */
static __always_inline void syscall_add_square(struct syscall_sum *sum, __u64 value)
{
	__u64 low = (__u32)value, high = value >> 32, cross = low * high;
	__u64 square = low * low, carry = square + (cross << 33) < square;
	square += cross << 33;
	sum->squares_low += square;
	carry += sum->squares_low < square;
	sum->squares_high += high * high + (cross >> 31) + carry;
}

static __always_inline void syscall_add_time(struct syscall_sum *sum, __u64 duration)
{
	sum->total_ns += duration;
	/* An entry that another CPU created has a minimum of 0, so the first call sets it. */
	if (duration < sum->min_ns || sum->count - sum->untimed == 1)
		sum->min_ns = duration;
	if (duration > sum->max_ns)
		sum->max_ns = duration;
	syscall_add_square(sum, duration);
}

static __always_inline void syscall_add(
	const struct syscall_thread *thread, __s64 result, bool is_timed, __u64 duration)
{
	struct syscall_sum_key key = {.number = thread->number, .is_compat = thread->is_compat};
	if (wanted.sums == SYSCALL_SUM_THREAD)
		key.owner = (__u32)bpf_get_current_pid_tgid();
	else if (wanted.sums == SYSCALL_SUM_CGROUP)
		key.owner = bpf_get_current_cgroup_id();
	struct syscall_sum *sum = syscall_sum_of(&key);
	if (!sum) {
		__sync_fetch_and_add(&counts.sums, 1);
		return;
	}
	sum->count++;
	if (is_timed)
		syscall_add_time(sum, duration);
	else
		sum->untimed++;
	if (result >= 0 || result < -SYSCALL_MOST_ERRORS)
		return;
	sum->errors++;
	if (!wanted.error_counts)
		return;
	key.error = (__u16)-result;
	sum = syscall_sum_of(&key);
	if (sum)
		sum->count++;
	else
		__sync_fetch_and_add(&counts.sums, 1);
}

/* ---- entry ---- */

static __always_inline void syscall_enter_copies(
	void *ctx, struct syscall_thread *thread, const struct syscall_plan *plan, __u32 tid)
{
	struct syscall_copies *c = syscall_copies_of(tid);
	if (!c)
		return;
	thread->has_copies = true;
	c->used = 0;
	c->late = 0;
	syscall_fill_record(&c->record, thread, SYSCALL_RECORD_ENTRY, 0);
	c->record.result = 0;
	c->record.duration_ns = 0;
	if (plan->flags & SYSCALL_PLAN_COPIES)
		syscall_copy_args(c, plan, SYSCALL_WHEN_ENTRY, false);
	if (wanted.entries && !thread->waits)
		syscall_output_copies(ctx, c, SYSCALL_RECORD_ENTRY);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(syscall_enters, SYSCALL_REGS *regs, long id)
{
	if (!is_on)
		return 0;
	bool is_compat = syscall_is_compat(regs);
	__u32 number = syscall_plain_number(id), index = syscall_index(number, is_compat);
	struct syscall_plan *plan = bpf_map_lookup_elem(&plans, &index);
	if (!plan || !(plan->flags & SYSCALL_PLAN_WANTED))
		return 0;
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct syscall_thread *thread = syscall_thread_of(pid_tgid);
	if (!thread || !syscall_is_wanted(thread, plan))
		return 0;
	thread->index = index;
	thread->number = number;
	thread->is_compat = is_compat;
	thread->has_copies = false;
	if (wanted.records)
		syscall_args_of(regs, is_compat, thread->args);
	thread->begin_ns = bpf_ktime_get_ns();
	if (!wanted.records)
		return 0;
	if (plan->flags & SYSCALL_PLAN_NO_RETURN) {
		thread->begin_ns = 0;
		if (!wanted.only_failed && wanted.least_ns == 0 && syscall_is_on_cpu())
			syscall_output_plain(ctx, thread, SYSCALL_RECORD_NO_RETURN, 0, 0, 0);
		return 0;
	}
	if (wanted.copies && plan->flags & (SYSCALL_PLAN_COPIES | SYSCALL_PLAN_COPIES_OUT))
		syscall_enter_copies(ctx, thread, plan, (__u32)pid_tgid);
	else if (wanted.entries && !thread->waits)
		syscall_output_plain(ctx, thread, SYSCALL_RECORD_ENTRY, 0, 0, 0);
	return 0;
}

/* ---- exit ---- */

/* Returns the copies of a call that ends. If its beginning was not seen, all of them are made now. */
static __always_inline struct syscall_copies *syscall_exit_copies(
	struct syscall_thread *thread, const struct syscall_plan *plan, __u32 tid, __u32 flags, bool failed)
{
	struct syscall_copies *c;
	if (!(flags & SYSCALL_FLAG_NO_ENTRY)) {
		c = thread->has_copies ? bpf_map_lookup_elem(&copies, &tid) : NULL;
		if (c && plan->flags & SYSCALL_PLAN_NEW_IMAGE && !failed)
			c->late = 0;
		return c;
	}
	if (!(flags & SYSCALL_FLAG_LATE_ARGS) || !(plan->flags & (SYSCALL_PLAN_COPIES | SYSCALL_PLAN_COPIES_OUT)))
		return NULL;
	c = syscall_copies_of(tid);
	if (!c)
		return NULL;
	c->used = 0;
	c->late = (1 << SYSCALL_ARGS) - 1;
	syscall_fill_record(&c->record, thread, 0, flags);
	return c;
}

struct syscall_end {
	__s64 result;
	__u64 duration;
	__u32 flags;
	bool with_mapped; /* See syscall_copy_args. */
};

static __always_inline void syscall_exit_record(void *ctx, struct syscall_thread *thread,
	const struct syscall_plan *plan, __u32 tid, const struct syscall_end *end)
{
	__s64 result = end->result;
	__u64 duration = end->duration;
	__u32 flags = end->flags;
	bool failed = result < 0 && result >= -SYSCALL_MOST_ERRORS;
	__u32 kind = wanted.entries ? SYSCALL_RECORD_EXIT : SYSCALL_RECORD_CALL;
	if ((wanted.only_failed && !failed) || (wanted.least_ns && flags & SYSCALL_FLAG_NO_ENTRY) ||
		duration < wanted.least_ns)
		return;
	struct syscall_copies *c = wanted.copies ? syscall_exit_copies(thread, plan, tid, flags, failed) : NULL;
	if (!c) {
		syscall_output_plain(ctx, thread, kind, flags, result, duration);
		return;
	}
	c->record.result = result;
	c->record.duration_ns = duration;
	if (failed ? c->late != 0 : c->late != 0 || plan->flags & SYSCALL_PLAN_COPIES_OUT)
		syscall_copy_args(c, plan, failed ? 0 : SYSCALL_WHEN_EXIT, end->with_mapped);
	syscall_output_copies(ctx, c, kind);
}

/*
 * Begins a call of which a thread has seen only the end: it began before the trace or in the parent, or a seccomp
 * filter or a tracer answered it, in which case the kernel reports no beginning. False if it is no call: the return
 * from a signal handler has no number. The registers still contain the arguments, unless a new program was executed.
 */
static __always_inline bool syscall_begins_unseen(
	struct syscall_thread *thread, const SYSCALL_REGS *regs, __s64 result, __u32 *flags)
{
	__s64 number = syscall_number_of(regs);
	*flags = SYSCALL_FLAG_NO_ENTRY | (thread->is_seen ? SYSCALL_FLAG_IN_TRACE : 0);
	thread->is_compat = syscall_is_compat(regs);
	thread->number = syscall_plain_number(number);
	thread->index = syscall_index(thread->number, thread->is_compat);
	thread->has_copies = false;
	return (__s32)number >= 0;
}

static __always_inline int syscall_exit(void *ctx, SYSCALL_REGS *regs, long result, bool with_mapped)
{
	if (!is_on)
		return 0;
	__u64 pid_tgid = bpf_get_current_pid_tgid(), begin = 0;
	__u32 flags = 0;
	struct syscall_thread *thread = syscall_thread_of(pid_tgid);
	if (!thread || thread->is_excluded)
		return 0;
	begin = thread->begin_ns;
	thread->begin_ns = 0;
	if (thread->waits) /* Calls count from the next exec on: this is another call, or an exec that failed. */
		return 0;
	if (!begin && !syscall_begins_unseen(thread, regs, result, &flags))
		return 0;
	thread->is_seen = true;
	__u32 index = thread->index;
	struct syscall_plan *plan = bpf_map_lookup_elem(&plans, &index);
	if (!plan || !(plan->flags & SYSCALL_PLAN_WANTED) || !syscall_is_on_cpu() ||
		(!begin && !syscall_is_wanted(thread, plan)))
		return 0;
	__u64 duration = begin ? bpf_ktime_get_ns() - begin : 0;
	bool is_in_child = plan->flags & SYSCALL_PLAN_FORKS && result == 0;
	if (wanted.sums != SYSCALL_SUM_NONE && !is_in_child)
		syscall_add(thread, result, begin, duration);
	if (!wanted.records)
		return 0;
	if (is_in_child)
		flags |= SYSCALL_FLAG_IN_TRACE;
	if (!begin && !(plan->flags & SYSCALL_PLAN_NEW_IMAGE && result == 0)) {
		syscall_args_of(regs, thread->is_compat, thread->args);
		flags |= SYSCALL_FLAG_LATE_ARGS;
	} else if (!begin) {
		__builtin_memset(thread->args, 0, sizeof(thread->args));
	}
	const struct syscall_end end = {result, duration, flags, with_mapped};
	syscall_exit_record(ctx, thread, plan, (__u32)pid_tgid, &end);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(syscall_exits, SYSCALL_REGS *regs, long result)
{
	return syscall_exit(ctx, regs, result, true);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(syscall_exits_before_5_17, SYSCALL_REGS *regs, long result)
{
	return syscall_exit(ctx, regs, result, false);
}

/* ---- threads ---- */

struct syscall_signal {
	struct syscall_record record;
	struct syscall_part part;
	__u8 info[SYSCALL_SIGINFO];
};

static __always_inline bool syscall_tells_life(const struct syscall_thread *thread)
{
	return is_on && wanted.lives && thread && !thread->waits && syscall_is_in_scope(thread) && syscall_is_on_cpu();
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(syscall_signal_arrives, int number, const void *info)
{
	/* Without siginfo (0 or 1) the signal ends the other threads of a process; their exits are reported anyway. */
	if (!is_on || (__u64)info <= 1)
		return 0;
	struct syscall_signal out = {};
	struct syscall_thread *thread = syscall_thread_of(bpf_get_current_pid_tgid());
	if (!syscall_tells_life(thread))
		return 0;
	syscall_fill_record(&out.record, thread, SYSCALL_RECORD_SIGNAL, 0);
	out.record.number = (__u32)number;
	out.record.captured = sizeof(out.part) + sizeof(out.info);
	out.part.bytes = sizeof(out.info);
	if (bpf_probe_read_kernel(out.info, sizeof(out.info), info))
		out.record.captured = 0;
	syscall_output(ctx, &out, sizeof(out));
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(syscall_forks, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_tid = parent->pid, child_tid = child->pid;
	struct syscall_thread first = {.pid = child->tgid}, *known = bpf_map_lookup_elem(&threads, &parent_tid);
	if (!known)
		return 0;
	first.waits = known->waits;
	if (bpf_map_update_elem(&threads, &child_tid, &first, BPF_ANY))
		__sync_fetch_and_add(&counts.children, 1);
	return 0;
}

/* A thread that executes a program gets the thread ID of its process. */
static __always_inline struct syscall_thread *syscall_thread_moves(__u32 old_tid, __u32 tid)
{
	struct syscall_thread *old = bpf_map_lookup_elem(&threads, &old_tid);
	if (!old || old_tid == tid)
		return old;
	bpf_map_update_elem(&threads, &tid, old, BPF_ANY);
	struct syscall_copies *c = wanted.copies ? bpf_map_lookup_elem(&copies, &old_tid) : NULL;
	if (c)
		bpf_map_update_elem(&copies, &tid, c, BPF_ANY);
	bpf_map_delete_elem(&threads, &old_tid);
	bpf_map_delete_elem(&copies, &old_tid);
	return bpf_map_lookup_elem(&threads, &tid);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(syscall_executes, struct task_struct *task, int old_pid, struct linux_binprm *binprm)
{
	__u32 tid = task->pid;
	struct syscall_thread *thread = syscall_thread_moves(old_pid, tid);
	if (!thread)
		return 0;
	thread->waits = false;
	if (!wanted.copies || !thread->begin_ns || !thread->has_copies)
		return 0;
	__u32 index = thread->index;
	struct syscall_plan *plan = bpf_map_lookup_elem(&plans, &index);
	struct syscall_copies *c = bpf_map_lookup_elem(&copies, &tid);
	if (plan && c && c->late)
		syscall_copy_exec(c, plan, binprm);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(syscall_thread_exits, struct task_struct *task)
{
	__u32 tid = task->pid;
	struct syscall_thread *thread = bpf_map_lookup_elem(&threads, &tid);
	if (!thread)
		return 0;
	if (is_on && wanted.records && !wanted.only_failed && thread->begin_ns && syscall_is_on_cpu()) {
		__u64 duration = bpf_ktime_get_ns() - thread->begin_ns;
		struct syscall_copies *c =
			wanted.copies && thread->has_copies ? bpf_map_lookup_elem(&copies, &tid) : NULL;
		if (c) {
			c->record.duration_ns = duration;
			syscall_output_copies(ctx, c, SYSCALL_RECORD_NO_RETURN);
		} else {
			syscall_output_plain(ctx, thread, SYSCALL_RECORD_NO_RETURN, 0, 0, duration);
		}
	}
	if (syscall_tells_life(thread))
		syscall_output_plain(ctx, thread, SYSCALL_RECORD_ENDED, 0, BPF_CORE_READ(task, exit_code), 0);
	bpf_map_delete_elem(&threads, &tid);
	if (wanted.copies)
		bpf_map_delete_elem(&copies, &tid);
	return 0;
}
