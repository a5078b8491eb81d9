/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * sample_filter.bpf.h - reads and compares the fields of a sample, for the BPF programs that filter samples
 * (sample_filter.bpf.c, pinned_filter.bpf.c). For programs compiled by `clang -target bpf` only.
 */
#ifndef BPF_SAMPLE_FILTER_BPF_H
#define BPF_SAMPLE_FILTER_BPF_H

#include "abi/sample_filter_item.h"
#include "bpf/kernel_types.bpf.h"

/*
 * Weak, because kernels before 6.2 lack it, and libbpf resolves it even if only programs are loaded that do not call it
 * (filter_plain).
 */
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

/* Returns a field of source, a perf_mem_data_src. */
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

/* Reads the fields that every kernel provides by a helper. */
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

#endif
