/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_sample_stacks.h - walks the user stacks of samples in the kernel: it attaches a BPF program to each sampled
 * event, which puts the stack into the event's ring right before the sample (abi/walked_stack.h), and fills the tables
 * that the program uses.
 *
 * The caller owns it, and destroys it after the events. Nothing stays in the kernel when this process ends.
 *
 *	bpf_sample_stacks_create(&config, &stacks, err);
 *	bpf_sample_stacks_attach(stacks, fd, err);                  // each event, before it is enabled
 *	bpf_sample_stacks_add_ring(stacks, &attr, cpu, ring_fd, err); // each ring
 *	ids = bpf_sample_stacks_ids(stacks, &count);                 // of the samples that carry stacks
 *	bpf_sample_stacks_start(stacks, pids, pid_count, err);
 */
#ifndef BPF_BPF_SAMPLE_STACKS_H
#define BPF_BPF_SAMPLE_STACKS_H

#include "abi/attr.h"
#include "bpf/walk_tables.h"

struct bpf_object;
struct bpf_sample_stacks;

struct bpf_sample_stacks_totals {
	struct walk_tables_totals tables;
	uint64_t lost; /* stacks that a ring had no room for */
};

TALLY_MUST_CHECK enum tally_status bpf_sample_stacks_create(
	const struct walk_tables_config *config, struct bpf_sample_stacks **stacks, struct tally_error *err);
void bpf_sample_stacks_destroy(struct bpf_sample_stacks *stacks);
TALLY_MUST_CHECK enum tally_status bpf_sample_stacks_attach(
	const struct bpf_sample_stacks *stacks, int fd, struct tally_error *err);
/* Stacks of samples on this CPU go into the ring of ring_fd, an event on the same CPU that uses the clock of attr.
 * attr: from bpf_sample_stacks_attr. */
TALLY_MUST_CHECK enum tally_status bpf_sample_stacks_add_ring(
	struct bpf_sample_stacks *stacks, const struct perf_attr *attr, int cpu, int ring_fd, struct tally_error *err);
/* The attr of the samples that carry stacks, in rings whose other events have sampled's clock and ids. */
struct perf_attr bpf_sample_stacks_attr(const struct perf_attr *sampled);
const uint64_t *bpf_sample_stacks_ids(const struct bpf_sample_stacks *stacks, size_t *count);
/* Begins to read unwind tables, those of pids first. */
TALLY_MUST_CHECK enum tally_status bpf_sample_stacks_start(
	struct bpf_sample_stacks *stacks, const pid_t *pids, size_t pid_count, struct tally_error *err);
/* For walk_tables_share; NULL: stacks is. */
struct bpf_object *bpf_sample_stacks_object(const struct bpf_sample_stacks *stacks);
/* NULL: Python frames are not looked for. */
struct python_frames *bpf_sample_stacks_python(const struct bpf_sample_stacks *stacks);
struct bpf_sample_stacks_totals bpf_sample_stacks_totals(const struct bpf_sample_stacks *stacks);

#endif
