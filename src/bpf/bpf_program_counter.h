/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_program_counter.h - counts events while BPF programs run (stat --bpf-prog): two programs of ours run before and
 * after each of them (fentry, fexit), and read the counters.
 *
 * The caller owns it; nothing of it is left in the kernel when it is closed, or when the process is killed. A program can
 * be counted if it has BTF, is compiled by the JIT, and is not itself one that runs around another. The counts contain
 * about half of the work of our two programs. Linux 5.10; on aarch64 6.0. One thread at a time.
 *
 *	bpf_program_counter_open(kernel, &request, &counter, err);
 *	bpf_program_counter_count(counter, true); ... bpf_program_counter_count(counter, false);
 *	bpf_program_counter_read(counter, err); ... bpf_program_counter_at(counter, event, cpu) ...
 *	bpf_program_counter_close(counter);
 */
#ifndef BPF_BPF_PROGRAM_COUNTER_H
#define BPF_BPF_PROGRAM_COUNTER_H

#include "abi/program_counter_map.h"
#include "bpf/bpf_event_array.h"

struct bpf_program_counter;

struct bpf_program_request {
	const uint32_t *ids; /* of programs */
	size_t id_count;
	const struct bpf_counted_event *events;
	size_t event_count;
};

/* The request is not kept. NOT_FOUND: there is no such program. LIMIT: more than PROGRAM_COUNTER_EVENTS. */
TALLY_MUST_CHECK enum tally_status bpf_program_counter_open(const struct kernel_seam *kernel,
	const struct bpf_program_request *request, struct bpf_program_counter **counter, struct tally_error *err);
/* Begins or ends; runs that have begun before count whole. */
void bpf_program_counter_count(struct bpf_program_counter *counter, bool is_on);
TALLY_MUST_CHECK enum tally_status bpf_program_counter_read(
	struct bpf_program_counter *counter, struct tally_error *err);
/* Of the last bpf_program_counter_read, of all programs. event: its index in the request. */
struct program_counter_reading bpf_program_counter_at(const struct bpf_program_counter *counter, size_t event, int cpu);
uint64_t bpf_program_counter_losses(const struct bpf_program_counter *counter);
void bpf_program_counter_close(struct bpf_program_counter *counter);

#endif
