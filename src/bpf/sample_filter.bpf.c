/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Filters the samples of the event that it is attached to: only samples whose fields fulfil all conditions pass.
 *
 * The conditions are constants, so that the verifier removes the branches for all other fields. From Linux 6.3 on the
 * kernel prepares a sample before it calls the filter, and filter_prepared reads the prepared fields; filter_plain is
 * for older kernels, which offer fewer fields to a program.
 */
#include "bpf/sample_filter.bpf.h"

#include <linux/bpf_perf_event.h>

#include "abi/sample_filter_item.h"
#include "bpf/kernel_types.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct sample_filter_item items[SAMPLE_FILTER_ITEMS];
const volatile __u32 item_count;
__u64 dropped; /* Number of samples that were dropped on all CPUs. */

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

/* READ_FIELD(term) reads a field. A group is a sequence of conditions with "or" between them. */
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
	/* Older kernels lack this field and do not prepare samples, so the program fails to load there, as it must. */
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
