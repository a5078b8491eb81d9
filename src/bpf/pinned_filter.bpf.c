/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Filters the samples of all users' events (record --setup-filter): root pins it, and users attach it to their own
 * events, with the key of their conditions as cookie.
 *
 * Users write the conditions, so these can read only fields that the sample has: others may contain stale kernel data,
 * and no condition on them is fulfilled. Requires Linux 6.3, like filter_prepared.
 */
#include <linux/bpf_perf_event.h>

#include "bpf/sample_filter.bpf.h"

/* From enum perf_event_sample_format in linux/perf_event.h, which cannot be included beside kernel_types.bpf.h. */
enum pinned_filter_flag {
	SAMPLE_IP = 1 << 0,
	SAMPLE_TID = 1 << 1,
	SAMPLE_TIME = 1 << 2,
	SAMPLE_ADDR = 1 << 3,
	SAMPLE_ID = 1 << 6,
	SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8,
	SAMPLE_WEIGHT = 1 << 14,
	SAMPLE_DATA_SRC = 1 << 15,
	SAMPLE_IDENTIFIER = 1 << 16,
	SAMPLE_TRANSACTION = 1 << 17,
	SAMPLE_PHYS_ADDR = 1 << 19,
	SAMPLE_CGROUP = 1 << 21,
	SAMPLE_DATA_PAGE_SIZE = 1 << 22,
	SAMPLE_CODE_PAGE_SIZE = 1 << 23,
	SAMPLE_WEIGHT_STRUCT = 1 << 24,
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct { /* Users may write but not read it, so that nobody finds another user's key. */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PINNED_FILTER_ENTRIES);
	__type(key, __u64);
	__type(value, struct pinned_filter_entry);
} filters SEC(".maps");

struct { /* Number of dropped samples, by slot. Users may read it. */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PINNED_FILTER_SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} dropped SEC(".maps");

/* Any of these bits of sample_flags says that the field is present; 0 if it always is. */
static __always_inline __u64 pinned_filter_flags(__u32 term)
{
	switch (term) {
	case FILTER_IP:
		return SAMPLE_IP;
	case FILTER_ID:
		return SAMPLE_ID | SAMPLE_IDENTIFIER;
	case FILTER_TID:
	case FILTER_PID:
		return SAMPLE_TID;
	case FILTER_CPU:
		return SAMPLE_CPU;
	case FILTER_TIME:
		return SAMPLE_TIME;
	case FILTER_ADDR:
		return SAMPLE_ADDR;
	case FILTER_PERIOD:
		return SAMPLE_PERIOD;
	case FILTER_TXN:
		return SAMPLE_TRANSACTION;
	case FILTER_WEIGHT:
		return SAMPLE_WEIGHT;
	case FILTER_WEIGHT1:
	case FILTER_WEIGHT2:
	case FILTER_WEIGHT3:
		return SAMPLE_WEIGHT_STRUCT;
	case FILTER_PHYS_ADDR:
		return SAMPLE_PHYS_ADDR;
	case FILTER_CODE_PAGE_SIZE:
		return SAMPLE_CODE_PAGE_SIZE;
	case FILTER_DATA_PAGE_SIZE:
		return SAMPLE_DATA_PAGE_SIZE;
	case FILTER_CGROUP:
		return SAMPLE_CGROUP;
	case FILTER_UID:
	case FILTER_GID:
		return 0;
	default:
		return SAMPLE_DATA_SRC;
	}
}

static __always_inline bool pinned_filter_holds(
	const struct perf_sample_data *data, const struct sample_filter_item *item)
{
	__u32 term = item->term;
	__u64 flags = pinned_filter_flags(term);
	if (flags && !(data->sample_flags & flags))
		return false;
	return sample_filter_compare(item->op, sample_filter_prepared_field(data, term), item->value);
}

static __always_inline bool pinned_filter_passes(
	const struct perf_sample_data *data, const struct pinned_filter_entry *entry)
{
	bool passes = true, group = true; /* A group is a sequence of conditions with "or" between them. */
	for (__u32 i = 0; i < SAMPLE_FILTER_ITEMS && i < entry->item_count; i++) {
		const struct sample_filter_item *item = &entry->items[i];
		if (!item->is_alternative) {
			passes = passes && group;
			group = false;
		}
		if (!group)
			group = pinned_filter_holds(data, item);
	}
	return passes && group;
}

SEC("perf_event")
int filter_pinned(struct bpf_perf_event_data *ctx)
{
	const struct bpf_perf_event_data_kern *kernel = bpf_cast_to_kern_ctx(ctx);
	const struct perf_sample_data *data = kernel->data;
	const struct perf_event *event = kernel->event, *parent = event->parent;
	/* Older kernels lack this field and do not prepare samples, so the program fails to load there, as it must. */
	if (data->dyn_size == ~0ULL)
		return 0;
	__u64 key = parent ? parent->bpf_cookie : event->bpf_cookie;
	const struct pinned_filter_entry *entry = bpf_map_lookup_elem(&filters, &key);
	if (!entry)
		return 0;
	if (pinned_filter_passes(data, entry))
		return 1;
	__u32 slot = entry->slot & (PINNED_FILTER_SLOTS - 1);
	__u64 *count = bpf_map_lookup_elem(&dropped, &slot);
	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}
