/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_program_counter.h - counts events while given BPF programs run (stat --bpf-prog). Two programs of this module are
 * attached to the entry and exit of each measured program (fentry, fexit), and read the counters.
 *
 * The caller owns the counter, and its programs and maps leave the kernel when it is closed or the process ends. A
 * program can be measured if it has BTF, is compiled by the JIT, and is not attached to another program itself. The
 * counts include about half of the overhead of the two attached programs. Requires Linux 5.10, on aarch64 6.0. Used by
 * one thread at a time.
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
	const uint32_t *ids; /* IDs of the BPF programs to measure. */
	size_t id_count;
	const struct bpf_counted_event *events;
	size_t event_count;
};

/*
 * Does not retain the request. Returns NOT_FOUND if a program does not exist, and LIMIT if there are more than
 * PROGRAM_COUNTER_EVENTS events.
 */
TALLY_MUST_CHECK enum tally_status bpf_program_counter_open(const struct kernel_seam *kernel,
	const struct bpf_program_request *request, struct bpf_program_counter **counter, struct tally_error *err);
/* Starts or stops counting. A run that has begun before the start is counted completely. */
void bpf_program_counter_count(struct bpf_program_counter *counter, bool is_on);
/* Reads the current counts for bpf_program_counter_at. */
TALLY_MUST_CHECK enum tally_status bpf_program_counter_read(
	struct bpf_program_counter *counter, struct tally_error *err);
/*
 * Returns the sum over all measured programs as of the last bpf_program_counter_read. event is an index in the request.
 * The result is zero if the CPU does not exist.
 */
struct program_counter_reading bpf_program_counter_at(const struct bpf_program_counter *counter, size_t event, int cpu);
/* Returns the number of counts that were lost. */
uint64_t bpf_program_counter_losses(const struct bpf_program_counter *counter);
void bpf_program_counter_close(struct bpf_program_counter *counter);

#endif
