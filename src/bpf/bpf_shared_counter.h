/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_shared_counter.h - counts one event for one session by a counter of each CPU that all sessions share, which a BPF
 * program reads at each switch (stat --bpf-counters).
 *
 * A map that is pinned in a BPF file system lists which program counts which event. The first session of an event opens
 * the counters; they live until the last session has ended, even if it is killed. The caller owns its part. Linux 5.10.
 * One thread.
 *
 *	bpf_shared_counter_open(kernel, path, &spec, &counter, err);
 *	bpf_shared_counter_watch_task(counter, tid, err);   // or _watch_cpu
 *	bpf_shared_counter_begin(counter, err); ... bpf_shared_counter_read(counter, readings, cpus, err);
 *	bpf_shared_counter_end(counter, err);   bpf_shared_counter_close(counter);
 */
#ifndef BPF_BPF_SHARED_COUNTER_H
#define BPF_BPF_SHARED_COUNTER_H

#include "abi/shared_counter_map.h"
#include "kernel/events/event_spec.h"
#include "kernel/system/kernel_seam.h"

struct bpf_shared_counter;

/* path: of the pinned map, which is created if it is missing. */
TALLY_MUST_CHECK enum tally_status bpf_shared_counter_open(const struct kernel_seam *kernel, const char *path,
	const struct event_spec *spec, struct bpf_shared_counter **counter, struct tally_error *err);
/* Call it before the start: counts a thread and all that it starts from now on, or everything on a CPU. */
TALLY_MUST_CHECK enum tally_status bpf_shared_counter_watch_task(
	struct bpf_shared_counter *counter, uint32_t tid, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_shared_counter_watch_cpu(
	struct bpf_shared_counter *counter, uint32_t cpu, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_shared_counter_begin(
	struct bpf_shared_counter *counter, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_shared_counter_end(struct bpf_shared_counter *counter, struct tally_error *err);
/* By CPU, SHARED_COUNTER_CPUS of them. */
TALLY_MUST_CHECK enum tally_status bpf_shared_counter_read(struct bpf_shared_counter *counter,
	struct shared_counter_reading *readings, struct shared_counter_losses *losses, struct tally_error *err);
void bpf_shared_counter_close(struct bpf_shared_counter *counter);

#endif
