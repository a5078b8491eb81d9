/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_sample_filter.h - drops samples inside the kernel: a BPF program that applies a sample_filter to the events that it is
 * attached to, and counts what it drops.
 *
 * The caller owns it. The kernel keeps the program as long as an event has it, so that it goes with the events and with
 * this process. Linux 6.3 gives it every field; older kernels some (ip, tid, pid, cpu, period, uid, gid, cgroup).
 * Any one thread at a time.
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
	const struct bpf_sample_filter *program, int fd, struct tally_error *err);
/* Samples so far, of all its events. */
uint64_t bpf_sample_filter_dropped(const struct bpf_sample_filter *program);
void bpf_sample_filter_destroy(struct bpf_sample_filter *program);

#endif
