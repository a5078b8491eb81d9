/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_sample_stacks.h - unwinds the user stacks of samples in the kernel: it attaches a BPF program to each sampled
 * event, which writes the stack to the event's ring buffer right before the sample (abi/walked_stack.h), and fills the
 * unwind tables that the program uses.
 *
 * The caller owns the object, and destroys it after closing the events. Nothing stays in the kernel when this process
 * ends.
 *
 *	bpf_sample_stacks_create(&config, &stacks, err);
 *	bpf_sample_stacks_attach(stacks, fd, err);                    // for each sampled event, before it is enabled
 *	attr = bpf_sample_stacks_attr(&sampled);
 *	bpf_sample_stacks_add_ring(stacks, &attr, cpu, ring_fd, err); // for each ring buffer
 *	ids = bpf_sample_stacks_ids(stacks, &count);
 *	bpf_sample_stacks_start(stacks, pids, pid_count, err);
 *	... bpf_sample_stacks_destroy(stacks);
 */
#ifndef BPF_BPF_SAMPLE_STACKS_H
#define BPF_BPF_SAMPLE_STACKS_H

#include "abi/attr.h"
#include "bpf/walk_tables.h"

struct bpf_object;
struct bpf_sample_stacks;

struct bpf_sample_stacks_totals {
	struct walk_tables_totals tables;
	uint64_t lost; /* Number of stacks that were not written, because a ring buffer had no room. */
};

TALLY_MUST_CHECK enum tally_status bpf_sample_stacks_create(
	const struct walk_tables_config *config, struct bpf_sample_stacks **stacks, struct tally_error *err);
void bpf_sample_stacks_destroy(struct bpf_sample_stacks *stacks);
/* Attaches the program to a sampled event. */
TALLY_MUST_CHECK enum tally_status bpf_sample_stacks_attach(
	const struct bpf_sample_stacks *stacks, int fd, struct tally_error *err);
/*
 * Writes stacks of samples on this CPU to the ring buffer of ring_fd, an event on the same CPU that uses the clock of
 * attr. attr is a result of bpf_sample_stacks_attr.
 */
TALLY_MUST_CHECK enum tally_status bpf_sample_stacks_add_ring(
	struct bpf_sample_stacks *stacks, const struct perf_attr *attr, int cpu, int ring_fd, struct tally_error *err);
/*
 * Returns the attr of the events that carry stacks. It has the clock and the ID fields of sampled, the attr of a
 * sampled event, because their samples share ring buffers.
 */
struct perf_attr bpf_sample_stacks_attr(const struct perf_attr *sampled);
/* Returns the IDs of the events that carry stacks, which are valid until the next bpf_sample_stacks_add_ring. */
const uint64_t *bpf_sample_stacks_ids(const struct bpf_sample_stacks *stacks, size_t *count);
/* Starts to read unwind tables, those of pids first. */
TALLY_MUST_CHECK enum tally_status bpf_sample_stacks_start(
	struct bpf_sample_stacks *stacks, const pid_t *pids, size_t pid_count, struct tally_error *err);
/* Returns the object for walk_tables_share; NULL if stacks is NULL. */
struct bpf_object *bpf_sample_stacks_object(const struct bpf_sample_stacks *stacks);
/* Returns NULL if Python frames are not recognized. */
struct python_frames *bpf_sample_stacks_python(const struct bpf_sample_stacks *stacks);
struct bpf_sample_stacks_totals bpf_sample_stacks_totals(const struct bpf_sample_stacks *stacks);

#endif
