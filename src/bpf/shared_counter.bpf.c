/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Shares one counter of each CPU between many sessions: at each switch, the count since the last switch is added to the
 * slots of the sessions that count the thread that leaves or the CPU.
 *
 * User space also runs on_switch on each CPU (as a BPF test run) before it begins, ends or reads a slot.
 */
#include "abi/shared_counter_map.h"
#include "bpf/kernel_types.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, SHARED_COUNTER_CPUS);
	__uint(map_flags, BPF_F_PRESERVE_ELEMS); /* Events remain when the session that opened them ends. */
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct shared_counter_reading);
} last SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SHARED_COUNTER_SLOTS);
	__type(key, __u32);
	__type(value, struct shared_counter_reading);
} readings SEC(".maps");

struct { /* Masks of slots, by thread ID. */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SHARED_COUNTER_TASKS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u64);
} tasks SEC(".maps");

struct { /* Masks of slots, by CPU. */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SHARED_COUNTER_CPUS);
	__type(key, __u32);
	__type(value, __u64);
} cpus SEC(".maps");

struct { /* Mask of the slots that count now. */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} active SEC(".maps");

struct { /* ID of the owning process, by slot; 0 if the slot is free. Only user space uses it. */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SHARED_COUNTER_SLOTS);
	__type(key, __u32);
	__type(value, __u32);
} owners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct shared_counter_losses);
} losses SEC(".maps");

static __always_inline struct shared_counter_losses *shared_counter_losses_at(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&losses, &zero);
}

static __always_inline __u64 shared_counter_mask(void)
{
	__u32 cpu = bpf_get_smp_processor_id(), tid = (__u32)bpf_get_current_pid_tgid(), zero = 0;
	__u64 *now = bpf_map_lookup_elem(&active, &zero);
	if (!now || !*now)
		return 0;
	__u64 *of_cpu = bpf_map_lookup_elem(&cpus, &cpu), *of_task = bpf_map_lookup_elem(&tasks, &tid);
	return *now & ((of_cpu ? *of_cpu : 0) | (of_task ? *of_task : 0));
}

SEC("raw_tp/sched_switch")
int on_switch(void *ctx)
{
	struct bpf_perf_event_value now;
	__u32 zero = 0;
	struct shared_counter_reading *before = bpf_map_lookup_elem(&last, &zero);
	if (!before)
		return 0;
	if (bpf_perf_event_read_value(&events, BPF_F_CURRENT_CPU, &now, sizeof(now)) != 0) {
		struct shared_counter_losses *lost = shared_counter_losses_at();
		if (lost)
			__sync_fetch_and_add(&lost->unread, 1);
		return 0;
	}
	struct shared_counter_reading since = {.value = now.counter - before->value,
		.enabled_ns = now.enabled - before->enabled_ns,
		.running_ns = now.running - before->running_ns};
	before->value = now.counter;
	before->enabled_ns = now.enabled;
	before->running_ns = now.running;
	__u64 mask = shared_counter_mask();
	if (!mask)
		return 0;
	for (__u32 i = 0; i < SHARED_COUNTER_SLOTS; i++) {
		__u32 slot = i;
		if (!(mask >> i & 1))
			continue;
		struct shared_counter_reading *sum = bpf_map_lookup_elem(&readings, &slot);
		if (!sum)
			continue;
		sum->value += since.value;
		sum->enabled_ns += since.enabled_ns;
		sum->running_ns += since.running_ns;
	}
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(shared_forks, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_tid = BPF_CORE_READ(parent, pid), child_tid = BPF_CORE_READ(child, pid);
	__u64 *mask = bpf_map_lookup_elem(&tasks, &parent_tid);
	if (!mask)
		return 0;
	__u64 copy = *mask;
	if (copy && bpf_map_update_elem(&tasks, &child_tid, &copy, BPF_ANY) != 0) {
		struct shared_counter_losses *lost = shared_counter_losses_at();
		if (lost)
			__sync_fetch_and_add(&lost->without_task, 1);
	}
	return 0;
}

/* Deletes the thread only when its task is freed, because its last switch, which still counts, follows its exit. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(shared_exits, struct task_struct *task)
{
	__u32 tid = BPF_CORE_READ(task, pid);
	bpf_map_delete_elem(&tasks, &tid);
	return 0;
}
