/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Measures each interval in which a thread is off the CPU: the stack and state at its beginning, the waker, and how
 * long the thread waited to be woken and then to run.
 *
 * A machine under load switches threads 100,000 times a second, so the cost per switch matters most. Waits are added up
 * in the entry of their thread, and move to a map when another sum needs the space, or after a while; only waits longer
 * than a threshold go through a ring. Reading a stack costs some microseconds, so known stacks are recognized without
 * reading them (off_cpu_memory.bpf.h).
 */
#include "bpf/off_cpu.bpf.h"

#define PYTHON_IDS_OF	 PYTHON_IDS_WAITS
#define WALK_TAKES_NOTES true
#include "bpf/off_cpu_memory.bpf.h"
#include "bpf/off_cpu_quota.bpf.h"
#include "bpf/off_cpu_task.bpf.h"
#include "bpf/off_cpu_user_memory.bpf.h"
#include "bpf/walk_interpret.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define SLOT_KEPT_NS 200000000

/* Constants, set before the program is loaded. */
const volatile bool all_threads; /* False: only targets (is_target), and with inherits their children. */
const volatile bool wants_preempted, inherits = true, switch_has_state, wants_kernel = true, wants_user = true,
				     has_cpus;
const volatile __u32 own_tgid, cgroup_count; /* A cgroup_count of 0 includes threads of all cgroups. */
const volatile __u32 memory_mode; /* A value of enum off_cpu_memory_mode. */
/* interrupts_begin and interrupts_bytes are the range of the kernel's interrupt entry code. */
const volatile __u64 threshold_ns, interrupts_begin, interrupts_bytes;

struct off_cpu_control control; /* Changed by user space while the program runs. */
struct off_cpu_counts counts;

struct off_cpu_sums {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct off_cpu_key);
	__type(value, struct off_cpu_sum);
	__uint(max_entries, 32768);
} sums_first SEC(".maps"), sums_second SEC(".maps");

/* The inner map is the one that is written now: the reader replaces it, and then reads the old one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct off_cpu_sums);
} sums SEC(".maps") = {.values = {&sums_first}};

struct { /* IDs of stacks that were sent through the ring. */
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, __u64);
	__type(value, __u8);
	__uint(max_entries, 32768);
} known SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, OFF_CPU_CGROUPS);
} cgroups SEC(".maps");

struct off_cpu_scratch {
	struct off_cpu_stack head;
	/* Kernel frames, followed by user frames. The array has 256 elements, so that indices can be masked. */
	__u64 ips[2 * OFF_CPU_FRAMES + 2];
	struct off_cpu_memory memory;
	struct walk walk;
	struct walk_stack user;
	struct walk_registers registers; /* Registers at the beginning of the walk. */
	__u32 kernel_count, user_count;
	volatile __u32 cut;
	/* True if the kernel frames are those of an interrupt, without the code that it interrupted. */
	volatile bool is_interrupt;
	bool has_kernel; /* True if ips and kernel_count belong to the current stack. */
	volatile __u64 address;
	struct { /* State that is needed when the walk is over. */
		__u64 kernel_hash, space;
		__u64 remembered; /* ID of the user part of the stack if it was recognized; otherwise 0. */
		__u32 tid; /* Thread that the stack belongs to. */
		__u32 wakee; /* Thread that is woken by that thread; 0 if that thread leaves the CPU. */
	} walked;
	struct off_cpu_thread fresh; /* Zeroes, to initialize new entries from. */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct off_cpu_scratch);
} scratch SEC(".maps");

/* A walk handles some frames in one program, and continues by a tail call. */
int off_cpu_walk_switch(__u64 *context);
int off_cpu_interpret_switch(__u64 *context);
int off_cpu_walk_waking(__u64 *context);
int off_cpu_interpret_waking(__u64 *context);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, int(void *));
} switch_calls SEC(".maps") = {.values = {(void *)&off_cpu_walk_switch, (void *)&off_cpu_interpret_switch}};

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, int(void *));
} waking_calls SEC(".maps") = {.values = {(void *)&off_cpu_walk_waking, (void *)&off_cpu_interpret_waking}};

/* ---- registers and context ---- */

/* True if the program's context is on the thread's own stack: interrupts and softirqs have other stacks. */
static __always_inline bool off_cpu_is_on_own_stack(void *context, struct task_struct *task)
{
	__u32 zero = 0;
	struct off_cpu_scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	if (!s)
		return true;
	s->address = (__u64)context;
	return s->address - (__u64)OFF_CPU_READ(task, stack) < STACK_BYTES_MOST;
}

/* ---- stacks ---- */

static __always_inline __u64 off_cpu_user_hash(struct off_cpu_scratch *s, __u32 count)
{
	__u64 hash = count;
	for (__u32 i = 0; i < OFF_CPU_FRAMES && i < count; i++)
		hash = off_cpu_mix(hash, s->user.ips[i]);
	return hash | 1;
}

/* Sends the stack through the ring; false if there is no room. */
static __always_inline bool off_cpu_tell_stack(void *context, struct off_cpu_scratch *s, __u64 id)
{
	__u8 yes = 1;
	__u32 kernel = s->kernel_count & OFF_CPU_FRAMES, user = s->user_count & OFF_CPU_FRAMES;
	for (__u32 i = 0; i < OFF_CPU_FRAMES && i < user; i++)
		s->ips[(kernel + i) & (2 * OFF_CPU_FRAMES + 1)] = s->user.ips[i];
	s->head.kind = OFF_CPU_STACK;
	s->head.kernel_count = (__u16)kernel;
	s->head.user_count = (__u16)user;
	s->head.id = id;
	if (kernel == OFF_CPU_FRAMES || user == OFF_CPU_FRAMES)
		__sync_fetch_and_add(&counts.cut_stacks, 1);
	__u64 bytes = sizeof(s->head) + ((kernel + user) & (2 * OFF_CPU_FRAMES + 1)) * sizeof(__u64);
	if (bpf_ringbuf_output(&ring, &s->head, bytes, BPF_RB_NO_WAKEUP)) {
		__sync_fetch_and_add(&counts.lost_stacks, 1);
		return false;
	}
	bpf_map_update_elem(&known, &id, &yes, BPF_ANY);
	return true;
}

enum off_cpu_role { OFF_CPU_WAITS, OFF_CPU_WAKES, OFF_CPU_INTERRUPTED, OFF_CPU_IS_PREEMPTED };

/* Reads the current thread's kernel stack into s->ips. */
static __always_inline void off_cpu_take_kernel(void *context, struct off_cpu_scratch *s)
{
	long bytes = bpf_get_stack(context, s->ips, OFF_CPU_FRAMES * sizeof(__u64), 0);
	s->kernel_count = bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
	s->has_kernel = true;
}

/* The first address lies in this BPF program and differs between programs, so it is left out. */
static __always_inline __u64 off_cpu_kernel_hash(const struct off_cpu_scratch *s)
{
	__u64 hash = s->kernel_count;
	for (__u32 i = 1; i < OFF_CPU_FRAMES && i < OFF_CPU_BOUND(s->kernel_count); i++)
		hash = off_cpu_mix(hash, s->ips[i]);
	return hash | 1;
}

/* Removes the frames of the interrupted code; false if there is no interrupt. */
static __always_inline bool off_cpu_cut_interrupted(struct off_cpu_scratch *s)
{
	s->cut = 0;
	for (__u32 i = 0; i < OFF_CPU_FRAMES && i < OFF_CPU_BOUND(s->kernel_count); i++) {
		if (s->ips[i] - interrupts_begin < interrupts_bytes)
			s->cut = i + 1;
		else if (s->cut)
			break;
	}
	if (!s->cut)
		return false;
	s->kernel_count = s->cut;
	return true;
}

/* Reads the kernel frames now if the stack was recognized without reading them, because it is to be sent. */
static __always_inline void off_cpu_need_kernel(void *context, struct off_cpu_scratch *s, __u64 *hash)
{
	if (s->has_kernel || !wants_kernel)
		return;
	off_cpu_take_kernel(context, s);
	if (s->is_interrupt)
		off_cpu_cut_interrupted(s);
	__u64 taken = off_cpu_kernel_hash(s);
	if (taken != *hash)
		__sync_fetch_and_add(&counts.mistaken_stacks, 1);
	*hash = taken;
}

struct off_cpu_at { /* A thread that waits or wakes another one. */
	struct task_struct *task;
	struct off_cpu_regs regs;
	__u32 tid;
	bool has_user;
	enum off_cpu_role role;
};

/* Returns the ID of the kernel part of the current thread's stack. */
static __always_inline __u64 off_cpu_kernel_of(void *context, struct off_cpu_scratch *s, const struct off_cpu_at *at)
{
	struct off_cpu_memory *m = &s->memory;
	const struct off_cpu_kernel_part *part = NULL;
	__u32 tag = (__u32)at->regs.syscall << 8 | (__u32)at->role << 1 | 1;
	__u32 key = (__u32)(walk_mix(tag, 1) >> 32) & (KERNEL_SETS - 1);
	s->is_interrupt = false;
	s->has_kernel = false;
	s->kernel_count = 0;
	if (!wants_kernel && at->role != OFF_CPU_INTERRUPTED)
		return 0;
	struct off_cpu_kernel_set *set = bpf_map_lookup_elem(&kernel_parts, &key);
	if (!set)
		return 0;
	s->address = (__u64)context;
	if (memory_mode != OFF_CPU_FORGETS && off_cpu_read_words(m, at->task, s->address, set->words))
		part = off_cpu_find_kernel_part(m, set, tag);
	if (part && memory_mode != OFF_CPU_CHECKS) {
		s->is_interrupt = part->is_interrupt;
		return wants_kernel ? part->id : 0;
	}
	__u64 remembered = part ? part->id : 0;
	off_cpu_take_kernel(context, s);
	if (at->role == OFF_CPU_INTERRUPTED)
		s->is_interrupt = off_cpu_cut_interrupted(s);
	__u64 id = off_cpu_kernel_hash(s);
	if (remembered && remembered != id)
		__sync_fetch_and_add(&counts.mistaken_stacks, 1);
	if (memory_mode != OFF_CPU_FORGETS && remembered != id &&
		off_cpu_read_words(m, at->task, s->address, KERNEL_WORDS - 1)) {
		const struct off_cpu_taken taken = {s->ips, &s->kernel_count, id, tag, s->is_interrupt};
		off_cpu_remember_kernel(m, set, &taken);
	}
	if (!wants_kernel)
		s->kernel_count = 0;
	return wants_kernel ? id : 0;
}

/* Stores the ID of the walked stack for the thread that waits, or for the thread that is woken. */
static __always_inline int off_cpu_walked(void *context, struct off_cpu_scratch *s)
{
	__u32 tid = s->walked.tid, wakee = s->walked.wakee;
	struct off_cpu_thread *t = bpf_map_lookup_elem(&threads, &tid);
	if (!t)
		return 0;
	s->user_count = s->user.count & OFF_CPU_FRAMES;
	__u64 user = off_cpu_user_hash(s, s->user_count), kernel = s->walked.kernel_hash;
	if (s->walked.remembered && s->walked.remembered != user)
		__sync_fetch_and_add(&counts.mistaken_stacks, 1);
	/*
	 * Stacks that were cut short, lack unwind tables or contain interpreter frames are not remembered, because they
	 * may become different without a change on the stack.
	 */
	bool is_lasting = s->user.end != WALK_SHORT && !s->user.is_unknown && !s->user.is_interpreted;
	if (memory_mode != OFF_CPU_FORGETS && is_lasting && s->walked.remembered != user)
		off_cpu_remember_user(t, off_cpu_current(), &s->walk, &s->registers, s->walked.space, user);
	__u64 id = off_cpu_mix(kernel, user);
	if (!bpf_map_lookup_elem(&known, &id)) {
		off_cpu_need_kernel(context, s, &kernel);
		id = off_cpu_mix(kernel, user);
		off_cpu_tell_stack(context, s, id);
	}
	struct off_cpu_thread *woken = wakee ? bpf_map_lookup_elem(&threads, &wakee) : NULL;
	if (woken) {
		woken->waker_stack = id;
	} else if (!wakee) {
		t->stack = id;
		t->partial = s->user.is_unknown ? OFF_CPU_IS_PARTIAL : OFF_CPU_IS_WHOLE;
		if (s->user.is_unknown)
			__sync_fetch_and_add(&counts.partial_begun, 1);
	}
	return 0;
}

/*
 * Continues a walk. It needs programs of its own, because the verifier limits the size of each, and because interpreter
 * frames are walked by another one.
 */
static __always_inline int off_cpu_walk(void *context, void *calls, bool interprets)
{
	__u32 zero = 0;
	struct off_cpu_scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	if (!s)
		return 0;
	if (interprets ? walk_interpret(&s->walk, &s->user) : walk_go_on(&s->walk, &s->user))
		bpf_tail_call(context, calls, walk_next(&s->walk));
	return off_cpu_walked(context, s);
}

/*
 * Computes the ID of the current thread's stack from the ID of its kernel part. Returns true if the user part must be
 * walked before; off_cpu_walked then stores the ID.
 */
static __always_inline bool off_cpu_stack_of(void *context, struct off_cpu_scratch *s, struct off_cpu_thread *t,
	const struct off_cpu_at *at, __u64 kernel, __u64 *stack)
{
	__u64 user = 0;
	*stack = 0;
	if (at->has_user && wants_user) {
		__u32 index = memory_mode != OFF_CPU_FORGETS
				      ? off_cpu_find_user_part(&s->memory, t, at->task, &at->regs, &s->registers)
				      : OFF_CPU_PARTS;
		if (index < OFF_CPU_PARTS)
			user = t->user[index].id;
		*stack = off_cpu_mix(kernel, user);
		if (user && memory_mode != OFF_CPU_CHECKS && bpf_map_lookup_elem(&known, stack))
			return false;
	}
	if (at->has_user && wants_user && walk_registers_of_task(&s->registers, (void *)bpf_get_current_task())) {
		s->walked.kernel_hash = kernel;
		s->walked.space = off_cpu_space_of(at->task);
		s->walked.remembered = user;
		s->walked.tid = at->tid;
		s->walked.wakee = 0;
		walk_begin(&s->walk, &s->user, (void *)bpf_get_current_task(), &s->registers);
		return true;
	}
	*stack = off_cpu_mix(kernel, 0);
	if (!bpf_map_lookup_elem(&known, stack)) {
		off_cpu_need_kernel(context, s, &kernel);
		s->user_count = 0;
		*stack = off_cpu_mix(kernel, 0);
		off_cpu_tell_stack(context, s, *stack);
	}
	return false;
}

/* ---- sums ---- */

static __always_inline int off_cpu_flush(struct off_cpu_slot *slot)
{
	__u32 zero = 0;
	void *map = bpf_map_lookup_elem(&sums, &zero);
	if (!map)
		return 0;
	struct off_cpu_sum *sum = bpf_map_lookup_elem(map, &slot->key);
	if (sum) { /* Only the CPU that runs the thread adds to its sums. */
		sum->blocked_ns += slot->sum.blocked_ns;
		sum->runnable_ns += slot->sum.runnable_ns;
		sum->throttled_ns += slot->sum.throttled_ns;
		sum->count += slot->sum.count;
		sum->last_ns = slot->sum.last_ns;
		sum->cpu = slot->sum.cpu;
	} else if (bpf_map_update_elem(map, &slot->key, &slot->sum, BPF_NOEXIST)) {
		__sync_fetch_and_add(&counts.lost_sums, slot->sum.count);
		__sync_fetch_and_add(&counts.lost_sum_ns, slot->sum.blocked_ns + slot->sum.runnable_ns);
	}
	slot->sum.is_used = 0;
	return 0;
}

static __always_inline bool off_cpu_is_key(const struct off_cpu_key *a, const struct off_cpu_key *b)
{
	return a->stack == b->stack && a->waker_stack == b->waker_stack && a->waker_tid == b->waker_tid &&
	       a->syscall == b->syscall && a->state == b->state && a->flags == b->flags;
}

struct off_cpu_times {
	__u64 begin, woken, now; /* woken is the time from which on the thread was ready to run. */
	__u64 throttled_ns; /* Throttled time after woken. */
};

static __always_inline void off_cpu_add(
	struct off_cpu_thread *t, const struct off_cpu_key *key, const struct off_cpu_times *times)
{
	__u64 now = times->now;
	__u32 index = (__u32)((key->stack ^ key->waker_stack) >> 40 ^ key->waker_tid) & (OFF_CPU_SLOTS - 1);
	struct off_cpu_slot *slot = &t->slots[index];
	if (slot->sum.is_used && (!off_cpu_is_key(&slot->key, key) || now - slot->sum.first_ns > SLOT_KEPT_NS))
		off_cpu_flush(slot);
	if (!slot->sum.is_used) {
		slot->key = *key;
		slot->sum.blocked_ns = 0;
		slot->sum.runnable_ns = 0;
		slot->sum.throttled_ns = 0;
		slot->sum.count = 0;
		slot->sum.first_ns = now;
		slot->sum.tgid = t->tgid;
		slot->sum.waker_tgid = t->waker_tgid;
		slot->sum.is_used = 1;
		__builtin_memcpy(slot->sum.waker_comm, t->waker_comm, OFF_CPU_COMM);
	}
	slot->sum.blocked_ns += times->woken - times->begin;
	slot->sum.runnable_ns += now - times->woken;
	slot->sum.throttled_ns += times->throttled_ns;
	slot->sum.count++;
	slot->sum.last_ns = now;
	slot->sum.cpu = bpf_get_smp_processor_id();
}

static __always_inline bool off_cpu_tell_part(
	const struct off_cpu_thread *t, const struct off_cpu_key *key, const struct off_cpu_times *times)
{
	struct off_cpu_part part = {.kind = OFF_CPU_PART,
		.cpu = bpf_get_smp_processor_id(),
		.key = *key,
		.begin_ns = times->begin,
		.woken_ns = times->woken,
		.end_ns = times->now,
		.throttled_ns = times->throttled_ns,
		.tgid = t->tgid,
		.waker_tgid = t->waker_tgid};
	__builtin_memcpy(part.waker_comm, t->waker_comm, OFF_CPU_COMM);
	if (bpf_ringbuf_output(&ring, &part, sizeof(part), BPF_RB_NO_WAKEUP) == 0)
		return true;
	__sync_fetch_and_add(&counts.summed, 1);
	return false;
}

/* ---- threads ---- */

static __always_inline struct off_cpu_thread *off_cpu_new_thread(__u32 tid, __u32 tgid, bool is_target)
{
	__u32 zero = 0;
	struct off_cpu_scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	if (!s)
		return NULL;
	bpf_map_update_elem(&threads, &tid, &s->fresh, BPF_NOEXIST);
	struct off_cpu_thread *t = bpf_map_lookup_elem(&threads, &tid);
	if (!t) {
		__sync_fetch_and_add(&counts.lost_threads, 1);
		return NULL;
	}
	t->tgid = tgid;
	t->is_target = is_target;
	return t;
}

static __always_inline bool off_cpu_is_wanted(const struct off_cpu_thread *t)
{
	return all_threads || t->is_target;
}

static __always_inline int off_cpu_forget(__u32 tid)
{
	struct off_cpu_thread *t = bpf_map_lookup_elem(&threads, &tid);
	if (!t)
		return 0;
	for (__u32 i = 0; i < OFF_CPU_SLOTS; i++)
		if (t->slots[i].sum.is_used)
			off_cpu_flush(&t->slots[i]);
	bpf_map_delete_elem(&threads, &tid);
	return 0;
}

static __always_inline bool off_cpu_leave(
	void *context, struct task_struct *task, struct off_cpu_thread *t, __u8 state, __u64 now)
{
	struct off_cpu_regs regs = {.syscall = -1};
	__u32 zero = 0;
	struct off_cpu_scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	bool has_user = off_cpu_regs(task, &regs);
	t->syscall = regs.syscall;
	t->state = state;
	t->flags = state == OFF_CPU_RUNNABLE ? OFF_CPU_PREEMPTED : 0;
	t->partial = OFF_CPU_IS_WHOLE;
	t->generation = control.generation;
	t->off_ns = now;
	t->quota_queue = 0;
	if (state == OFF_CPU_RUNNABLE)
		off_cpu_quota_begin(t, task, true);
	t->stack = 0;
	if (!s)
		return false;
	const struct off_cpu_at at = {.task = task,
		.tid = task->pid,
		.regs = regs,
		.has_user = has_user,
		.role = state == OFF_CPU_RUNNABLE ? OFF_CPU_IS_PREEMPTED : OFF_CPU_WAITS};
	return off_cpu_stack_of(context, s, t, &at, off_cpu_kernel_of(context, s, &at), &t->stack);
}

static __always_inline void off_cpu_key_unknown(struct off_cpu_key *key)
{
	key->stack = 0;
	key->syscall = -1;
	key->state = OFF_CPU_OTHER;
}

/* Reports the wait of a thread that runs again, at the time now. */
static __always_inline void off_cpu_return(struct off_cpu_thread *t, struct task_struct *task, __u64 now)
{
	bool has_waker = t->state != OFF_CPU_RUNNABLE && t->woken_ns != 0;
	__u64 begin = t->off_ns, woken = t->state == OFF_CPU_RUNNABLE ? begin : has_waker ? t->woken_ns : now;
	struct off_cpu_key key = {.stack = t->stack,
		.waker_stack = has_waker ? t->waker_stack : 0,
		.tid = (__u32)task->pid,
		.waker_tid = has_waker ? t->waker_tid : 0,
		.syscall = t->syscall,
		.state = t->state,
		.flags = has_waker ? t->flags : t->flags & ~(OFF_CPU_WAKER | OFF_CPU_INTERRUPT)};
	bool is_same = t->before_switches == off_cpu_switches(task);
	if (t->flags & OFF_CPU_BEGAN_BEFORE) {
		key.stack = t->before_stack;
		if (!is_same) /* The thread ran while waiting_threads.bpf.c read its state: this is another wait. */
			off_cpu_key_unknown(&key);
	}
	if (t->partial == OFF_CPU_IS_READ_AGAIN && is_same) {
		key.stack = t->before_stack;
	} else if (t->partial != OFF_CPU_IS_WHOLE) {
		__sync_fetch_and_add(&counts.partial, 1);
		__sync_fetch_and_add(&counts.partial_ns, now - begin);
	}
	if (woken < begin) /* The thread was woken while it was going to sleep. */
		woken = begin;
	if (woken > now)
		woken = now;
	const struct off_cpu_times times = {begin, woken, now, off_cpu_quota_end(t, task, now - woken)};
	if (now - begin < threshold_ns || !off_cpu_tell_part(t, &key, &times))
		off_cpu_add(t, &key, &times);
}

/* True if the current thread's cgroup, or one of its ancestors, was selected, or if none was. */
static __always_inline bool off_cpu_is_in_cgroups(void)
{
	for (__u32 i = 0; i < OFF_CPU_CGROUPS && i < cgroup_count; i++)
		if (bpf_current_task_under_cgroup(&cgroups, i) == 1)
			return true;
	return cgroup_count == 0;
}

/* Returns true if the thread's stack must be walked. */
static __always_inline bool off_cpu_switch_out(__u64 *context, struct task_struct *task, __u64 now)
{
	__u32 tid = task->pid;
	__u64 raw = switch_has_state ? (__u32)context[3] : off_cpu_raw_state(task);
	if (raw & TASK_DEAD) {
		off_cpu_forget(tid);
		return false;
	}
	if (tid == 0 || task->flags & PF_KTHREAD || (__u32)task->tgid == own_tgid || !off_cpu_is_in_cgroups())
		return false;
	struct off_cpu_thread *t = bpf_map_lookup_elem(&threads, &tid);
	if (!t && all_threads)
		t = off_cpu_new_thread(tid, task->tgid, true);
	if (!t || !off_cpu_is_wanted(t))
		return false;
	__u32 cpu = bpf_get_smp_processor_id();
	__u8 state = off_cpu_state_of(task, context[0] & 1, raw);
	if ((state == OFF_CPU_RUNNABLE && !wants_preempted) || (has_cpus && !bpf_map_lookup_elem(&cpus, &cpu)))
		return false;
	return off_cpu_leave(context, task, t, state, now);
}

static __always_inline void off_cpu_switch_in(struct task_struct *task, __u64 now)
{
	__u32 tid = task->pid;
	struct off_cpu_thread *t = task->flags & PF_KTHREAD ? NULL : bpf_map_lookup_elem(&threads, &tid);
	if (!t)
		return;
	if (t->off_ns && t->generation == control.generation)
		off_cpu_return(t, task, now);
	t->off_ns = 0;
	t->woken_ns = 0;
}

SEC("tp_btf/sched_switch")
int off_cpu_switch(__u64 *context)
{
	struct task_struct *task = (void *)context[1];
	if (!control.is_running) { /* Targets and their children are tracked even while recording is off. */
		if (!all_threads && (switch_has_state ? (__u32)context[3] : off_cpu_raw_state(task)) & TASK_DEAD)
			off_cpu_forget(task->pid);
		return 0;
	}
	__u64 now = bpf_ktime_get_ns();
	off_cpu_switch_in((void *)context[2], now);
	if (off_cpu_switch_out(context, task, now))
		bpf_tail_call(context, &switch_calls, 0);
	return 0;
}

SEC("tp_btf/sched_switch")
int off_cpu_walk_switch(__u64 *context)
{
	return off_cpu_walk(context, &switch_calls, false);
}

SEC("tp_btf/sched_switch")
int off_cpu_interpret_switch(__u64 *context)
{
	return off_cpu_walk(context, &switch_calls, true);
}

/*
 * Stores what has woken the thread: the current thread, or an interrupt, which has no thread. Interrupts are recognized
 * by the kernel's interrupt entry code on the stack; a softirq that a system call runs (for packets to this machine)
 * and a page fault that releases a lock lack it, and count as their thread. Returns true if the waker's stack must be
 * walked.
 */
static __always_inline bool off_cpu_woken_by(
	void *context, struct off_cpu_scratch *s, struct task_struct *current, struct off_cpu_thread *t)
{
	struct off_cpu_regs regs = {.syscall = -1};
	bool has_user = !(OFF_CPU_READ(current, flags) & PF_KTHREAD) && off_cpu_regs(current, &regs);
	/* An interrupt in user space enters the kernel on the thread's own stack, as page faults do. */
	bool may_interrupt = (has_user && regs.syscall < 0) || !off_cpu_is_on_own_stack(context, current);
	struct off_cpu_at at = {.task = current,
		.tid = (__u32)OFF_CPU_READ(current, pid),
		.regs = regs,
		.has_user = has_user,
		.role = may_interrupt ? OFF_CPU_INTERRUPTED : OFF_CPU_WAKES};
	struct off_cpu_thread *waker = at.tid ? bpf_map_lookup_elem(&threads, &at.tid) : NULL;
	if (!waker && at.tid)
		waker = off_cpu_new_thread(at.tid, (__u32)OFF_CPU_READ(current, tgid), false);
	if (!waker && at.tid)
		return false;
	__u64 kernel = off_cpu_kernel_of(context, s, &at);
	if (!waker || s->is_interrupt) {
		t->waker_tid = 0;
		t->waker_tgid = 0;
		__builtin_memset(t->waker_comm, 0, OFF_CPU_COMM);
		t->flags |= OFF_CPU_WAKER | OFF_CPU_INTERRUPT;
		at.has_user = false;
		waker = t; /* The waker's entry is not used, because has_user is false. */
	} else {
		t->waker_tid = at.tid;
		t->waker_tgid = (__u32)OFF_CPU_READ(current, tgid);
		bpf_get_current_comm(t->waker_comm, sizeof(t->waker_comm));
		t->flags = (t->flags & ~OFF_CPU_INTERRUPT) | OFF_CPU_WAKER;
	}
	return off_cpu_stack_of(context, s, waker, &at, kernel, &t->waker_stack);
}

SEC("tp_btf/sched_waking")
int off_cpu_waking(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	if (!control.is_running || task->flags & PF_KTHREAD)
		return 0;
	__u32 tid = task->pid;
	struct off_cpu_thread *t = bpf_map_lookup_elem(&threads, &tid);
	if (!t || !off_cpu_is_wanted(t))
		return 0;
	__u32 zero = 0;
	struct off_cpu_scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	t->woken_ns = bpf_ktime_get_ns();
	if (t->state != OFF_CPU_RUNNABLE)
		off_cpu_quota_begin(t, task, false);
	if (s && off_cpu_woken_by(context, s, off_cpu_current(), t)) {
		s->walked.wakee = tid;
		bpf_tail_call(context, &waking_calls, 0);
	}
	return 0;
}

SEC("tp_btf/sched_waking")
int off_cpu_walk_waking(__u64 *context)
{
	return off_cpu_walk(context, &waking_calls, false);
}

SEC("tp_btf/sched_waking")
int off_cpu_interpret_waking(__u64 *context)
{
	return off_cpu_walk(context, &waking_calls, true);
}

/* A new thread waits for its first turn on a CPU. */
SEC("tp_btf/sched_wakeup_new")
int off_cpu_wakeup_new(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	if ((!control.is_running && all_threads) || task->flags & PF_KTHREAD || (__u32)task->tgid == own_tgid ||
		!off_cpu_is_in_cgroups())
		return 0;
	__u32 tid = task->pid, parent = (__u32)bpf_get_current_pid_tgid();
	if (!all_threads) {
		struct off_cpu_thread *by = bpf_map_lookup_elem(&threads, &parent);
		if (!inherits || !by || !by->is_target)
			return 0;
	}
	struct off_cpu_thread *t = off_cpu_new_thread(tid, task->tgid, true);
	if (!t || !wants_preempted || !control.is_running)
		return 0;
	t->syscall = -1;
	t->state = OFF_CPU_RUNNABLE;
	t->generation = control.generation;
	t->off_ns = bpf_ktime_get_ns();
	return 0;
}

/* A thread that executes a program gets the ID of its process's first thread, and its old stacks are gone. */
SEC("tp_btf/sched_process_exec")
int off_cpu_exec(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	__u32 old = (__u32)context[1], tid = task->pid;
	if (!control.is_running && all_threads)
		return 0;
	struct off_cpu_thread *t = bpf_map_lookup_elem(&threads, &old);
	if (!t)
		return 0;
	bool is_target = t->is_target;
	off_cpu_forget(old);
	off_cpu_new_thread(tid, task->tgid, is_target);
	return 0;
}
