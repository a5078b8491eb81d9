/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_sample_filter.h - drops samples inside the kernel: it loads a BPF program that applies a sample_filter to the
 * events that it is attached to, and counts the dropped samples.
 *
 * The caller owns it. The kernel keeps the program while an event uses it, so it disappears with the events and with
 * this process. On Linux 6.3 and later it can read every field; on older kernels only ip, tid, pid, cpu, period, uid,
 * gid and cgroup. Who may not load programs uses the one that root has pinned (bpf_pinned_filter.h), if there is one. One
 * thread at a time.
 *
 *	bpf_sample_filter_create(kernel, &filter, &program, err);
 *	bpf_sample_filter_attach(program, fd, err);   // each of the event's descriptors, before it is enabled
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
/* The samples dropped so far, of all its events. */
uint64_t bpf_sample_filter_dropped(const struct bpf_sample_filter *program);
void bpf_sample_filter_destroy(struct bpf_sample_filter *program);

#endif
