/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_sample_filter.h - drops samples in the kernel: it loads a BPF program that applies a sample_filter to the events
 * that it is attached to, and counts the dropped samples.
 *
 * The caller owns the object. The program stays in the kernel while an event uses it, so it disappears with the events
 * or with this process. It can read every field on Linux 6.3 and later, but only ip, tid, pid, cpu, period, uid, gid
 * and cgroup on older kernels. A process that may not load programs uses the filter that root has pinned
 * (bpf_pinned_filter.h), if there is one. Used by one thread at a time.
 *
 *	bpf_sample_filter_create(kernel, &filter, &program, err);
 *	bpf_sample_filter_attach(program, fd, err);   // for each descriptor of the event, before it is enabled
 *	... bpf_sample_filter_dropped(program) ...   bpf_sample_filter_destroy(program);
 */
#ifndef BPF_BPF_SAMPLE_FILTER_H
#define BPF_BPF_SAMPLE_FILTER_H

#include "kernel/events/sample_filter.h"

struct bpf_sample_filter;

TALLY_MUST_CHECK enum tally_status bpf_sample_filter_create(const struct kernel_seam *kernel,
	const struct sample_filter_list *filter, struct bpf_sample_filter **program, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_sample_filter_attach(
	struct bpf_sample_filter *program, int fd, struct tally_error *err);
/* Returns the number of samples that were dropped so far, of all attached events. */
uint64_t bpf_sample_filter_dropped(const struct bpf_sample_filter *program);
void bpf_sample_filter_destroy(struct bpf_sample_filter *program);

#endif
