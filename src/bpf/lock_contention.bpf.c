/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Adds up waits for the kernel's locks, each from contention_begin to contention_end of one thread at one lock, in a
 * row for each value of the key that user space chose (stack, lock, thread, cgroup, owner).
 *
 * The programs are attached as ordinary tracepoints, so stacks are the same as in a sample of the tracepoint, without
 * frames of BPF. Constants select the key, so the verifier removes the code for other keys. Stacks are stored by a hash
 * of their frames, because the kernel's own stack map drops stacks whose slots collide.
 */
#include "abi/lock_contention_map.h"
#include "bpf/kernel_types.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* After a return value of 0 the kernel would pass the event on to nobody else, so recordings would lack it. */
#define GO_ON 1

#define FLAG_SPIN   0x01
#define FLAG_READ   0x02
#define FLAG_WRITE  0x04
#define FLAG_PERCPU 0x10
#define FLAG_MUTEX  0x20

/* Records of the tracepoints. Their layout is kernel ABI (events/lock/contention_begin/format). */
struct contention_begin_record {
	__u64 common;
	__u64 lock;
	__u32 flags;
};

struct contention_end_record {
	__u64 common;
	__u64 lock;
};

const volatile struct {
	bool with_stack, with_lock, with_thread, with_owner, with_cgroup;
	bool has_cpus, has_processes, has_threads, follows_children;
	__u32 frames; /* Maximum number of frames in a stack, at most LOCK_MAP_FRAMES. */
} wanted;

bool is_on;
__u64 kernel_address; /* Address of some kernel code that waits for a lock; 0 until a stack was read. */
struct lock_map_losses losses; /* Updated atomically by all CPUs. */

struct wait_key {
	__u64 lock;
	__u32 tid, unused;
};

struct wait {
	__u64 begin_ns, task_start_ns;
	struct lock_map_key key;
	char comm[LOCK_MAP_COMM];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384); /* User space sets the size before loading. */
	__type(key, struct wait_key);
	__type(value, struct wait);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lock_map_key);
	__type(value, struct lock_map_sum);
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct lock_map_stack);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lock_map_stack);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LOCK_MAP_CPUS);
	__type(key, __u32);
	__type(value, __u8);
} cpus SEC(".maps");

/* Threads that are watched or, with has_processes, processes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u8);
} tasks SEC(".maps");

static __always_inline bool lock_contention_is_wanted(__u64 pid_tgid)
{
	if (!is_on)
		return false;
	if (wanted.has_cpus) {
		__u32 cpu = bpf_get_smp_processor_id();
		__u8 *is_listed = bpf_map_lookup_elem(&cpus, &cpu);
		if (!is_listed || !*is_listed)
			return false;
	}
	if (wanted.has_processes || wanted.has_threads) {
		__u32 id = wanted.has_processes ? pid_tgid >> 32 : (__u32)pid_tgid;
		return bpf_map_lookup_elem(&tasks, &id) != NULL;
	}
	return true;
}

/* The idle threads of all CPUs share the ID 0, so they are distinguished by their CPU. */
static __always_inline __u32 lock_contention_thread(__u32 tid)
{
	return tid ? tid : 0x80000000u | bpf_get_smp_processor_id();
}

static __always_inline __u64 lock_contention_stack(void *ctx)
{
	__u32 zero = 0;
	struct lock_map_stack *stack = bpf_map_lookup_elem(&scratch, &zero);
	__u64 hash = 14695981039346656037ULL;
	if (!stack)
		return 0;
	__u32 frames = wanted.frames;
	if (frames > LOCK_MAP_FRAMES)
		frames = LOCK_MAP_FRAMES;
	long bytes = bpf_get_stack(ctx, stack->frames, frames * sizeof(stack->frames[0]), 0);
	if (bytes <= 0)
		return 0;
	stack->count = (__u32)bytes / sizeof(stack->frames[0]);
	for (__u32 i = 0; i < LOCK_MAP_FRAMES; i++) {
		if (i >= stack->count)
			break;
		hash = (hash ^ stack->frames[i]) * 1099511628211ULL;
		hash ^= hash >> 29;
	}
	hash |= 1; /* 0 means that there is no stack. */
	if (!kernel_address)
		kernel_address = stack->frames[0];
	if (!bpf_map_lookup_elem(&stacks, &hash) && bpf_map_update_elem(&stacks, &hash, stack, BPF_NOEXIST) != 0 &&
		!bpf_map_lookup_elem(&stacks, &hash)) {
		__sync_fetch_and_add(&losses.without_stack, 1);
		return 0;
	}
	return hash;
}

/* Sleeping locks store their owner. The low bits of the pointer are flags. */
static __always_inline struct task_struct *lock_contention_owner(__u64 lock, __u32 flags)
{
	__u64 owner = 0;
	if (flags & FLAG_MUTEX) {
		struct mutex *mutex = (void *)lock;
		if (bpf_core_read(&owner, sizeof(owner), &mutex->owner.counter) != 0)
			return NULL;
		return (void *)(owner & ~7ULL);
	}
	if ((flags & (FLAG_READ | FLAG_WRITE)) && !(flags & (FLAG_SPIN | FLAG_PERCPU))) {
		struct rw_semaphore *semaphore = (void *)lock;
		if (bpf_core_read(&owner, sizeof(owner), &semaphore->owner.counter) != 0)
			return NULL;
		/* Bit 0 is set while readers hold the lock, which does not list them. */
		return owner & 1 ? NULL : (void *)(owner & ~3ULL);
	}
	return NULL;
}

static __always_inline void lock_contention_name_owner(struct wait *wait, __u64 lock, __u32 flags)
{
	struct task_struct *owner = lock_contention_owner(lock, flags);
	int tid = 0;
	wait->key.tid = LOCK_MAP_UNKNOWN;
	if (!owner || bpf_core_read(&tid, sizeof(tid), &owner->pid) != 0)
		return;
	wait->key.tid = tid;
	bpf_core_read(wait->comm, sizeof(wait->comm), &owner->comm);
}

SEC("tracepoint/lock/contention_begin")
int wait_begins(struct contention_begin_record *record)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	if (!lock_contention_is_wanted(pid_tgid))
		return GO_ON;
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 lock = record->lock;
	__u32 flags = record->flags;
	struct wait_key key = {.lock = lock, .tid = lock_contention_thread((__u32)pid_tgid)};
	struct wait wait = {};
	bpf_core_read(&wait.task_start_ns, sizeof(wait.task_start_ns), &task->start_time);
	struct wait *known = bpf_map_lookup_elem(&waits, &key);
	if (known) {
		/* A sleeping lock also reports when it stops spinning; the wait then continues. */
		if (known->task_start_ns == wait.task_start_ns)
			return GO_ON;
		__sync_fetch_and_add(&losses.replaced, 1);
	}
	wait.key.flags = flags;
	if (wanted.with_lock)
		wait.key.lock = lock;
	if (wanted.with_cgroup)
		wait.key.cgroup = bpf_get_current_cgroup_id();
	if (wanted.with_thread) {
		wait.key.tid = (__u32)pid_tgid;
		bpf_get_current_comm(wait.comm, sizeof(wait.comm));
	}
	if (wanted.with_owner)
		lock_contention_name_owner(&wait, lock, flags);
	if (wanted.with_stack || !kernel_address)
		wait.key.stack = lock_contention_stack(record);
	if (!wanted.with_stack)
		wait.key.stack = 0;
	wait.begin_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&waits, &key, &wait, BPF_ANY) != 0)
		__sync_fetch_and_add(&losses.without_wait, 1);
	return GO_ON;
}

/* Other CPUs may write at the same time and overwrite a more extreme value, so the update is tried repeatedly. */
static __always_inline void lock_contention_extremes(struct lock_map_sum *sum, __u64 waited_ns)
{
	for (int tries = 0; tries < 3; tries++) {
		if (waited_ns > sum->max_ns)
			sum->max_ns = waited_ns;
		if (waited_ns < sum->min_ns)
			sum->min_ns = waited_ns;
		barrier();
	}
}

static __always_inline void lock_contention_add(const struct wait *wait, __u64 waited_ns)
{
	struct lock_map_key key = wait->key;
	struct lock_map_sum *sum = bpf_map_lookup_elem(&sums, &key);
	if (!sum) {
		struct lock_map_sum first = {.min_ns = ~0ULL};
		__builtin_memcpy(first.comm, wait->comm, sizeof(first.comm));
		bpf_map_update_elem(&sums, &key, &first, BPF_NOEXIST); /* Another CPU may have inserted it already. */
		sum = bpf_map_lookup_elem(&sums, &key);
	}
	if (!sum) {
		__sync_fetch_and_add(&losses.without_sum, 1);
		__sync_fetch_and_add(&losses.without_sum_ns, waited_ns);
		return;
	}
	__sync_fetch_and_add(&sum->count, 1);
	__sync_fetch_and_add(&sum->total_ns, waited_ns);
	lock_contention_extremes(sum, waited_ns);
}

SEC("tracepoint/lock/contention_end")
int wait_ends(struct contention_end_record *record)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	if (!lock_contention_is_wanted(pid_tgid))
		return GO_ON;
	__u64 now = bpf_ktime_get_ns();
	struct wait_key key = {.lock = record->lock, .tid = lock_contention_thread((__u32)pid_tgid)};
	struct wait *wait = bpf_map_lookup_elem(&waits, &key);
	if (!wait) {
		__sync_fetch_and_add(&losses.unbegun, 1);
		return GO_ON;
	}
	lock_contention_add(wait, now > wait->begin_ns ? now - wait->begin_ns : 0);
	bpf_map_delete_elem(&waits, &key);
	return GO_ON;
}

/* Threads and children of watched tasks are watched as well. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(task_forks, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_tid = BPF_CORE_READ(parent, pid), child_tid = BPF_CORE_READ(child, pid);
	__u8 yes = 1;
	if (!bpf_map_lookup_elem(&tasks, &parent_tid))
		return 0;
	if (bpf_map_update_elem(&tasks, &child_tid, &yes, BPF_ANY) != 0)
		__sync_fetch_and_add(&losses.without_task, 1);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exits, struct task_struct *task)
{
	__u32 tid = BPF_CORE_READ(task, pid);
	bpf_map_delete_elem(&tasks, &tid);
	return 0;
}
