/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_shared_counter.h - counts an event by one counter on each CPU that all sessions share, and that a BPF program
 * reads at each context switch (stat --bpf-counters).
 *
 * A map that is pinned in a BPF file system lists which program counts which event. The first session that counts an
 * event opens the counters, and they exist until the last such session has ended, even if it is killed. The caller owns
 * its session's object. Requires Linux 5.10. Used by one thread.
 *
 *	bpf_shared_counter_open(kernel, path, &spec, &counter, err);
 *	bpf_shared_counter_watch_task(counter, tid, err);   // or _watch_cpu
 *	bpf_shared_counter_begin(counter, err); ... bpf_shared_counter_read(counter, readings, &losses, err);
 *	bpf_shared_counter_end(counter, err);   bpf_shared_counter_close(counter);
 */
#ifndef BPF_BPF_SHARED_COUNTER_H
#define BPF_BPF_SHARED_COUNTER_H

#include "abi/shared_counter_map.h"
#include "kernel/events/event_spec.h"
#include "kernel/system/kernel_seam.h"

struct bpf_shared_counter;

/* path is that of the pinned map, which is created if it does not exist. spec must outlive the counter. */
TALLY_MUST_CHECK enum tally_status bpf_shared_counter_open(const struct kernel_seam *kernel, const char *path,
	const struct event_spec *spec, struct bpf_shared_counter **counter, struct tally_error *err);
/*
 * Counts a thread and all its future descendants. Call it before bpf_shared_counter_begin. Returns UNSUPPORTED in a PID
 * namespace other than the initial one.
 */
TALLY_MUST_CHECK enum tally_status bpf_shared_counter_watch_task(
	struct bpf_shared_counter *counter, uint32_t tid, struct tally_error *err);
/* Counts everything on a CPU. Call it before bpf_shared_counter_begin. */
TALLY_MUST_CHECK enum tally_status bpf_shared_counter_watch_cpu(
	struct bpf_shared_counter *counter, uint32_t cpu, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_shared_counter_begin(
	struct bpf_shared_counter *counter, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_shared_counter_end(struct bpf_shared_counter *counter, struct tally_error *err);
/* Fills readings, which has room for SHARED_COUNTER_CPUS elements, one for each possible CPU. */
TALLY_MUST_CHECK enum tally_status bpf_shared_counter_read(struct bpf_shared_counter *counter,
	struct shared_counter_reading *readings, struct shared_counter_losses *losses, struct tally_error *err);
void bpf_shared_counter_close(struct bpf_shared_counter *counter);

#endif
