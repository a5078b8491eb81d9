/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Filters the samples of the event that it is attached to: only samples whose fields fulfil all conditions pass.
 *
 * The conditions are constants, so that the verifier removes the branches for all other fields. From Linux 6.3 on the
 * kernel prepares a sample before it calls the filter, and filter_prepared reads the prepared fields; filter_plain is
 * for older kernels, which give fewer fields to a program.
 */
#include <linux/bpf_perf_event.h>

#include "abi/sample_filter_item.h"
#include "bpf/kernel_types.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct sample_filter_item items[SAMPLE_FILTER_ITEMS];
const volatile __u32 item_count;
__u64 dropped; /* by all CPUs */

/* Weak: kernels before 6.2 lack it, and libbpf looks for it even where only filter_plain is loaded. */
extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym __weak;

static __always_inline bool sample_filter_compare(__u16 op, __u64 field, __u64 value)
{
	switch (op) {
	case FILTER_EQUAL:
		return field == value;
	case FILTER_NOT_EQUAL:
		return field != value;
	case FILTER_GREATER:
		return field > value;
	case FILTER_GREATER_EQUAL:
		return field >= value;
	case FILTER_LESS:
		return field < value;
	case FILTER_LESS_EQUAL:
		return field <= value;
	case FILTER_ANY_BIT:
		return (field & value) != 0;
	}
	return false;
}

static __always_inline __u64 sample_filter_memory_field(__u32 term, __u64 source)
{
	switch (term) {
	case FILTER_MEM_OP:
		return source & 0x1f;
	case FILTER_MEM_SNOOP:
		return (source >> 19 & 0x1f) | (source >> 38 & 0x3) << 5;
	case FILTER_MEM_LOCK:
		return source >> 24 & 0x3;
	case FILTER_MEM_DTLB:
		return source >> 26 & 0x7f;
	case FILTER_MEM_LEVEL:
		return source >> 33 & 0xf;
	case FILTER_MEM_REMOTE:
		return source >> 37 & 0x1;
	case FILTER_MEM_BLK:
		return source >> 40 & 0x7;
	case FILTER_MEM_HOPS:
		return source >> 43 & 0x7;
	}
	return 0;
}

/* What every kernel tells by a helper. */
static __always_inline __u64 sample_filter_current_field(__u32 term)
{
	switch (term) {
	case FILTER_UID:
		return (__u32)bpf_get_current_uid_gid();
	case FILTER_GID:
		return bpf_get_current_uid_gid() >> 32;
	case FILTER_CGROUP:
		return bpf_get_current_cgroup_id();
	}
	return 0;
}

static __always_inline __u64 sample_filter_prepared_field(const struct perf_sample_data *data, __u32 term)
{
	switch (term) {
	case FILTER_IP:
		return data->ip;
	case FILTER_ID:
		return data->id;
	case FILTER_TID:
		return data->tid_entry.tid;
	case FILTER_PID:
		return data->tid_entry.pid;
	case FILTER_CPU:
		return data->cpu_entry.cpu;
	case FILTER_TIME:
		return data->time;
	case FILTER_ADDR:
		return data->addr;
	case FILTER_PERIOD:
		return data->period;
	case FILTER_TXN:
		return data->txn;
	case FILTER_WEIGHT:
		return data->weight.full;
	case FILTER_WEIGHT1:
		return (__u32)data->weight.full;
	case FILTER_WEIGHT2:
		return data->weight.full >> 32 & 0xffff;
	case FILTER_WEIGHT3:
		return data->weight.full >> 48;
	case FILTER_PHYS_ADDR:
		return data->phys_addr;
	case FILTER_CODE_PAGE_SIZE:
		return data->code_page_size;
	case FILTER_DATA_PAGE_SIZE:
		return data->data_page_size;
	case FILTER_CGROUP:
		return data->cgroup;
	case FILTER_UID:
	case FILTER_GID:
		return sample_filter_current_field(term);
	default:
		return sample_filter_memory_field(term, data->data_src.val);
	}
}

static __always_inline __u64 sample_filter_plain_field(const struct bpf_perf_event_data *ctx, __u32 term)
{
	switch (term) {
	case FILTER_IP:
		return PT_REGS_IP(&ctx->regs);
	case FILTER_TID:
		return (__u32)bpf_get_current_pid_tgid();
	case FILTER_PID:
		return bpf_get_current_pid_tgid() >> 32;
	case FILTER_CPU:
		return bpf_get_smp_processor_id();
	case FILTER_PERIOD:
		return ctx->sample_period;
	default:
		return sample_filter_current_field(term);
	}
}

/* READ_FIELD(term): one of the functions above. A group is conditions with "or" between them. */
#define SAMPLE_FILTER_PASSES(READ_FIELD)                                                                               \
	({                                                                                                             \
		bool passes = true, group = true;                                                                      \
		for (__u32 i = 0; i < SAMPLE_FILTER_ITEMS && i < item_count; i++) {                                    \
			bool is_alternative = items[i].is_alternative;                                                 \
			if (!is_alternative) {                                                                         \
				passes = passes && group;                                                              \
				group = false;                                                                         \
			}                                                                                              \
			if (!group)                                                                                    \
				group = sample_filter_compare(items[i].op, READ_FIELD(items[i].term), items[i].value); \
		}                                                                                                      \
		passes &&group;                                                                                        \
	})

static __always_inline int sample_filter_count(bool passes)
{
	if (!passes)
		__sync_fetch_and_add(&dropped, 1);
	return passes;
}

SEC("perf_event")
int filter_prepared(struct bpf_perf_event_data *ctx)
{
	const struct bpf_perf_event_data_kern *kernel = bpf_cast_to_kern_ctx(ctx);
	const struct perf_sample_data *data = kernel->data;
	/* Older kernels lack the field, and have prepared nothing: the program must not load there. */
	if (data->dyn_size == ~0ULL)
		return 0;
#define READ_PREPARED(term) sample_filter_prepared_field(data, term)
	return sample_filter_count(SAMPLE_FILTER_PASSES(READ_PREPARED));
}

SEC("perf_event")
int filter_plain(struct bpf_perf_event_data *ctx)
{
#define READ_PLAIN(term) sample_filter_plain_field(ctx, term)
	return sample_filter_count(SAMPLE_FILTER_PASSES(READ_PLAIN));
}
