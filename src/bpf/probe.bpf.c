/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Loaded only to find out whether this process may load BPF programs, and never attached. It contains what all of them
 * need: a relocated access to a struct of the kernel and a ring buffer.
 */
#include "bpf/kernel_types.bpf.h"

/* Some of the helpers are available only to programs under the GPL. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10); /* The size must be a multiple of the page size, which is at most 64 KiB. */
} probe_ring SEC(".maps");

SEC("perf_event")
int probe_sample(void *context)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 pages = mm ? BPF_CORE_READ(mm, exec_vm) : 0;
	bpf_ringbuf_output(&probe_ring, &pages, sizeof(pages), 0);
	return 0;
}
