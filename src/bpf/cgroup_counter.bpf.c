/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Counts events for many cgroups with one counter for each CPU and event: when a CPU switches from a thread of one
 * cgroup to a thread of another, the events since the last reading are added to the sums of the cgroup that it leaves
 * and of the cgroups that contain it.
 *
 * A thread that moves itself to another cgroup counts for it from then on; one that another thread moves while it runs,
 * from its next switch on. User space also runs cgroup_flush on each CPU (as a BPF test run) before it begins, ends or
 * reads.
 */
#include "abi/cgroup_counter_map.h"
#include "bpf/kernel_types.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 event_count, possible_cpus;
bool is_counting;
/*
 * Set once a switch was missed: some kernels run no BPF programs for certain threads. Counters are then read at every
 * switch.
 */
bool is_missing;
__u64 moves; /* Number of times that a thread was moved to another cgroup. */
__u64 unread; /* Number of failed reads of a CPU's counter. */
/*
 * Number of switches to threads with more than CGROUP_COUNTER_DEPTH levels of cgroups: the outermost ones were not
 * counted.
 */
__u64 cut;

struct { /* Counters by event and CPU. User space sets the sizes of this map and the next two before loading. */
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} events SEC(".maps");

struct { /* Index of a cgroup's first reading, by the cgroup's ID. */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u32);
} cgroups SEC(".maps");

struct { /* Sums by cgroup and event. */
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cgroup_counter_reading);
} readings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CGROUP_COUNTER_EVENTS);
	__type(key, __u32);
	__type(value, struct cgroup_counter_reading);
} last SEC(".maps");

struct { /* Events counted since the last reading, by event. */
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CGROUP_COUNTER_EVENTS);
	__type(key, __u32);
	__type(value, struct cgroup_counter_reading);
} since SEC(".maps");

struct cgroup_counter_cpu { /* The thread that runs on this CPU. */
	__u64 task; /* 0 if the thread is not known. */
	__u64 set, moves; /* Address of its css_set, and the value of the global moves when the css_set was read. */
	__u64 id; /* ID of its cgroup. */
	__u32 count;
	__u32 is_busy; /* Set while on_cgroup_move changes this entry, because cgroup_flush may interrupt it. */
	/* Index of the first reading of each counted cgroup that contains the thread. */
	__u32 first[CGROUP_COUNTER_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cgroup_counter_cpu);
} running SEC(".maps");

static __always_inline void cgroup_counter_measure(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	for (__u32 i = 0; i < CGROUP_COUNTER_EVENTS && i < event_count; i++) {
		struct bpf_perf_event_value now = {0};
		__u32 event = i;
		struct cgroup_counter_reading *before = bpf_map_lookup_elem(&last, &event);
		struct cgroup_counter_reading *change = bpf_map_lookup_elem(&since, &event);
		if (!before || !change)
			return;
		long failed = bpf_perf_event_read_value(&events, event * possible_cpus + cpu, &now, sizeof(now));
		if (failed) {
			*change = (struct cgroup_counter_reading){0};
			if (failed != -2) /* -ENOENT: the event is not counted on this CPU. */
				__sync_fetch_and_add(&unread, 1);
			continue;
		}
		change->value = now.counter - before->value;
		change->enabled_ns = now.enabled - before->enabled_ns;
		change->running_ns = now.running - before->running_ns;
		before->value = now.counter;
		before->enabled_ns = now.enabled;
		before->running_ns = now.running;
	}
}

static __always_inline void cgroup_counter_add(__u32 first)
{
	for (__u32 i = 0; i < CGROUP_COUNTER_EVENTS && i < event_count; i++) {
		__u32 event = i, at = first + i;
		struct cgroup_counter_reading *sum = bpf_map_lookup_elem(&readings, &at);
		const struct cgroup_counter_reading *change = bpf_map_lookup_elem(&since, &event);
		if (!sum || !change)
			return;
		sum->value += change->value;
		sum->enabled_ns += change->enabled_ns;
		sum->running_ns += change->running_ns;
	}
}

static __always_inline struct cgroup_subsys_state *cgroup_counter_state(const struct css_set *set)
{
	int subsystem = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id);
	struct cgroup_subsys_state *state = NULL;
	bpf_probe_read_kernel(&state, sizeof(state), &set->subsys[subsystem]);
	return state;
}

static __always_inline void cgroup_counter_enter(struct cgroup_counter_cpu *cpu, const struct css_set *set)
{
	struct cgroup_subsys_state *state = cgroup_counter_state(set);
	cpu->set = (__u64)set;
	cpu->moves = moves;
	cpu->id = BPF_CORE_READ(state, cgroup, kn, id);
	cpu->count = 0;
	for (__u32 i = 0; state && i < CGROUP_COUNTER_DEPTH; i++) {
		__u64 id = BPF_CORE_READ(state, cgroup, kn, id);
		const __u32 *first = bpf_map_lookup_elem(&cgroups, &id);
		__u32 at = cpu->count;
		if (first && at < CGROUP_COUNTER_DEPTH) {
			cpu->first[at] = *first;
			cpu->count = at + 1;
		}
		state = BPF_CORE_READ(state, parent);
	}
	if (state)
		__sync_fetch_and_add(&cut, 1);
}

/* Adds the events up to now to the cgroups of the thread that ran; the CPU continues with the given css_set. */
static __always_inline void cgroup_counter_go_on(struct cgroup_counter_cpu *cpu, const struct css_set *set)
{
	cgroup_counter_measure();
	for (__u32 i = 0; is_counting && i < CGROUP_COUNTER_DEPTH && i < cpu->count; i++)
		cgroup_counter_add(cpu->first[i]);
	cgroup_counter_enter(cpu, set);
}

/* True if the css_set belongs to the CPU's current cgroup. Threads share css_sets, so the cgroup is seldom read. */
static __always_inline bool cgroup_counter_is_same(struct cgroup_counter_cpu *cpu, const struct css_set *set)
{
	__u64 moved = moves;
	if (cpu->set == (__u64)set && cpu->moves == moved)
		return true;
	struct cgroup_subsys_state *state = cgroup_counter_state(set);
	if (BPF_CORE_READ(state, cgroup, kn, id) != cpu->id)
		return false;
	cpu->set = (__u64)set;
	cpu->moves = moved;
	return true;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_cgroup_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 zero = 0;
	bool misses = is_missing;
	struct cgroup_counter_cpu *cpu = bpf_map_lookup_elem(&running, &zero);
	if (!cpu)
		return 0;
	if (cpu->task && cpu->task != (__u64)prev)
		is_missing = true;
	/*
	 * If the switch to prev was missed, the events are added to prev's cgroup. If it was not missed and prev's
	 * cgroup differs, another thread has moved prev, whose events up to now are added to the old cgroup.
	 */
	struct css_set *left = BPF_CORE_READ(prev, cgroups), *entered = BPF_CORE_READ(next, cgroups);
	if (misses && cpu->task != (__u64)prev && !cgroup_counter_is_same(cpu, left))
		cgroup_counter_enter(cpu, left);
	if (misses || !cgroup_counter_is_same(cpu, entered))
		cgroup_counter_go_on(cpu, entered);
	cpu->task = (__u64)next;
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_cgroup_move)
{
	__u32 zero = 0;
	struct cgroup_counter_cpu *cpu = bpf_map_lookup_elem(&running, &zero);
	__sync_fetch_and_add(&moves, 1);
	if (!cpu)
		return 0;
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	cpu->is_busy = 1;
	barrier();
	if (!cgroup_counter_is_same(cpu, set))
		cgroup_counter_go_on(cpu, set);
	barrier();
	cpu->is_busy = 0;
	return 0;
}

/* Never attached: user space runs it. It may interrupt on_cgroup_move, which adds the events up to now as well. */
SEC("raw_tp")
int cgroup_flush(void *ctx)
{
	__u32 zero = 0;
	struct cgroup_counter_cpu *cpu = bpf_map_lookup_elem(&running, &zero);
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	if (cpu && !cpu->is_busy)
		cgroup_counter_go_on(cpu, BPF_CORE_READ(task, cgroups));
	return 0;
}
