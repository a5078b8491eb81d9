/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Counts events while another BPF program runs: on_enter and on_leave run before and after it, and add up the events
 * that the CPU's counters counted in between. User space chooses the program (attach_prog_fd).
 */
#include "abi/program_counter_map.h"
#include "bpf/kernel_types.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 event_count, possible_cpus;
bool is_counting;
/*
 * Number of runs that ended on another CPU than they began, or in which an interrupt ran the program again, plus failed
 * reads of a counter.
 */
__u64 lost;

struct { /* Counters by event and CPU. User space sets the size before loading. */
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} events SEC(".maps");

struct { /* Sums by event. */
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROGRAM_COUNTER_EVENTS);
	__type(key, __u32);
	__type(value, struct program_counter_reading);
} readings SEC(".maps");

struct { /* Counts at the beginning of the program's run, by event. */
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROGRAM_COUNTER_EVENTS);
	__type(key, __u32);
	__type(value, struct program_counter_reading);
} begin SEC(".maps");

struct { /* 1 while the program runs on this CPU. */
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} has_begun SEC(".maps");

static __always_inline bool program_counter_read(__u32 event, struct bpf_perf_event_value *now)
{
	__u32 at = event * possible_cpus + bpf_get_smp_processor_id();
	long failed = bpf_perf_event_read_value(&events, at, now, sizeof(*now));
	if (failed && failed != -2) /* -ENOENT: the event is not counted on this CPU. */
		__sync_fetch_and_add(&lost, 1);
	return !failed;
}

SEC("fentry/program")
int BPF_PROG(on_enter)
{
	__u32 zero = 0;
	__u32 *is_running = bpf_map_lookup_elem(&has_begun, &zero);
	if (!is_running)
		return 0;
	*is_running = 1;
	for (__u32 i = 0; i < PROGRAM_COUNTER_EVENTS && i < event_count; i++) {
		__u32 event = i;
		struct bpf_perf_event_value now = {0};
		struct program_counter_reading *before = bpf_map_lookup_elem(&begin, &event);
		if (!before || !program_counter_read(event, &now))
			continue;
		before->value = now.counter;
		before->enabled_ns = now.enabled;
		before->running_ns = now.running;
	}
	return 0;
}

SEC("fexit/program")
int BPF_PROG(on_leave)
{
	__u32 zero = 0;
	__u32 *is_running = bpf_map_lookup_elem(&has_begun, &zero);
	if (!is_running || !is_counting)
		return 0;
	if (!*is_running) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	*is_running = 0;
	for (__u32 i = 0; i < PROGRAM_COUNTER_EVENTS && i < event_count; i++) {
		__u32 event = i;
		struct bpf_perf_event_value now = {0};
		struct program_counter_reading *before = bpf_map_lookup_elem(&begin, &event);
		struct program_counter_reading *sum = bpf_map_lookup_elem(&readings, &event);
		if (!before || !sum || !program_counter_read(event, &now))
			continue;
		sum->value += now.counter - before->value;
		sum->enabled_ns += now.enabled - before->enabled_ns;
		sum->running_ns += now.running - before->running_ns;
	}
	return 0;
}
