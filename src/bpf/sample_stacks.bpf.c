/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Is attached to sampled events: writes the user stack of each sample to the event's ring, right before the sample. */
#define PYTHON_IDS_OF PYTHON_IDS_SAMPLES
#include "bpf/walk_interpret.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 lost; /* Number of stacks for which a ring had no room. */

struct sample_scratch {
	struct sample_stack sample;
	struct walk walk;
};

int sample_frames(void *context);
int sample_interpreted(void *context);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, int(void *));
} sample_calls SEC(".maps") = {.values = {(void *)&sample_frames, (void *)&sample_interpreted}};

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} sample_outputs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample_scratch);
} sample_scratch SEC(".maps");

static __always_inline int sample_put(void *context, struct sample_stack *sample)
{
	__u64 count = sample->stack.count;
	if (count > WALK_FRAMES)
		count = WALK_FRAMES;
	if (bpf_perf_event_output(context, &sample_outputs, BPF_F_CURRENT_CPU, sample,
		    offsetof(struct sample_stack, stack.ips) + 8 * count))
		__sync_fetch_and_add(&lost, 1);
	return 1; /* A result of 1 makes the kernel continue with the sample. */
}

static __always_inline int sample_walk(void *context, bool interprets)
{
	__u32 zero = 0;
	struct sample_scratch *scratch = bpf_map_lookup_elem(&sample_scratch, &zero);
	if (!scratch)
		return 1;
	struct walk_stack *stack = &scratch->sample.stack;
	if (interprets ? walk_interpret(&scratch->walk, stack) : walk_go_on(&scratch->walk, stack))
		bpf_tail_call(context, &sample_calls, walk_next(&scratch->walk));
	return sample_put(context, &scratch->sample);
}

/* Walks some frames, and continues by a tail call. */
SEC("perf_event")
int sample_frames(void *context)
{
	return sample_walk(context, false);
}

/* Walks some frames of an interpreter. */
SEC("perf_event")
int sample_interpreted(void *context)
{
	return sample_walk(context, true);
}

SEC("perf_event")
int sample_first(void *context)
{
	__u32 zero = 0;
	struct task_struct *task = (void *)bpf_get_current_task();
	struct sample_scratch *scratch = bpf_map_lookup_elem(&sample_scratch, &zero);
	struct walk_registers registers;
	__u64 ids = bpf_get_current_pid_tgid();
	if (!scratch || ids >> 32 == 0 || !BPF_CORE_READ(task, mm) || !walk_registers_of_task(&registers, task))
		return 1;
	scratch->sample.magic = SAMPLE_STACK_MAGIC;
	scratch->sample.tid = (__u32)ids;
	walk_begin(&scratch->walk, &scratch->sample.stack, task, &registers);
	bpf_tail_call(context, &sample_calls, 0);
	return 1;
}
