/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Counts in buckets how long something lasts in each thread: a function of the kernel (kprobes), or the time from one
 * tracepoint to another. User space attaches the programs that it needs, and selects the buckets and the threads.
 *
 * Of a function that calls itself, only the innermost call is measured.
 */
#include "abi/latency_map.h"
#include "bpf/kernel_types.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* After a return value of 0 the kernel would pass the event on to nobody else, so recordings would lack it. */
#define GO_ON 1

const volatile struct {
	bool has_cpus, has_processes, has_threads;
	bool is_one_event; /* The first event is also the second one. */
	__u32 buckets;
	__u64 unit_ns; /* Unit of range and min, in nanoseconds. */
	__u64 ns_device, ns_inode; /* PID namespace of the IDs in latency_tasks. */
	__u64 range, min; /* See analysis/ftrace/duration_histogram.h. */
} latency;

bool is_measuring;
struct latency_map_losses latency_losses; /* Updated atomically by all CPUs. */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u64);
} starts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 22); /* User space sets the size before loading. */
	__type(key, __u32);
	__type(value, __u64);
} buckets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct latency_map_sum);
} latency_sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LATENCY_MAP_CPUS);
	__type(key, __u32);
	__type(value, __u8);
} latency_cpus SEC(".maps");

/* Threads that are measured or, with has_processes, processes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u8);
} latency_tasks SEC(".maps");

/* The idle threads of all CPUs share the ID 0, so they are distinguished by their CPU. */
static __always_inline __u32 latency_thread(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	return tid ? tid : 0x80000000u | bpf_get_smp_processor_id();
}

static __always_inline bool latency_is_wanted(void)
{
	if (!is_measuring)
		return false;
	if (latency.has_cpus) {
		__u32 cpu = bpf_get_smp_processor_id();
		__u8 *is_listed = bpf_map_lookup_elem(&latency_cpus, &cpu);
		if (!is_listed || !*is_listed)
			return false;
	}
	if (latency.has_processes || latency.has_threads) {
		struct bpf_pidns_info ids;
		if (bpf_get_ns_current_pid_tgid(latency.ns_device, latency.ns_inode, &ids, sizeof(ids)) != 0)
			return false;
		__u32 id = latency.has_processes ? ids.tgid : ids.pid;
		return bpf_map_lookup_elem(&latency_tasks, &id) != NULL;
	}
	return true;
}

static __always_inline __u32 latency_bucket(__u64 ns)
{
	__u64 value = ns / latency.unit_ns, index = 0;
	if (latency.range == 0) {
		for (int bits = 32; bits > 0; bits /= 2) {
			if (value >> bits) {
				value >>= bits;
				index += bits;
			}
		}
		index += value; /* The remaining value is 0 or 1. */
	} else if (latency.min) {
		index = value < latency.min ? 0 : 1 + (value - latency.min) / latency.range;
	} else {
		index = value / latency.range;
	}
	return index < latency.buckets ? (__u32)index : latency.buckets - 1;
}

static __always_inline void latency_begin(void)
{
	__u32 tid = latency_thread();
	__u64 now = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&starts, &tid, &now, BPF_ANY) != 0)
		__sync_fetch_and_add(&latency_losses.without_start, 1);
}

static __always_inline void latency_end(void)
{
	__u32 tid = latency_thread(), zero = 0;
	__u64 *start = bpf_map_lookup_elem(&starts, &tid);
	__u64 now = bpf_ktime_get_ns();
	if (!start)
		return;
	__u64 ns = now > *start ? now - *start : 0;
	bpf_map_delete_elem(&starts, &tid);
	__u32 bucket = latency_bucket(ns);
	__u64 *count = bpf_map_lookup_elem(&buckets, &bucket);
	struct latency_map_sum *sum = bpf_map_lookup_elem(&latency_sums, &zero);
	if (!count || !sum)
		return;
	/* An interrupt may update the same entry on this CPU. */
	__sync_fetch_and_add(count, 1);
	if (__sync_fetch_and_add(&sum->count, 1) == 0 || ns < sum->min_ns)
		sum->min_ns = ns;
	__sync_fetch_and_add(&sum->total_ns, ns);
	if (ns > sum->max_ns)
		sum->max_ns = ns;
}

SEC("kprobe")
int function_begins(void *ctx)
{
	if (latency_is_wanted())
		latency_begin();
	return 0;
}

SEC("kretprobe")
int function_ends(void *ctx)
{
	if (latency_is_wanted())
		latency_end();
	return 0;
}

SEC("tracepoint")
int first_event(void *ctx)
{
	if (!latency_is_wanted())
		return GO_ON;
	if (latency.is_one_event)
		latency_end();
	latency_begin();
	return GO_ON;
}

SEC("tracepoint")
int second_event(void *ctx)
{
	if (latency_is_wanted())
		latency_end();
	return GO_ON;
}
