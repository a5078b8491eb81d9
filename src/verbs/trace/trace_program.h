/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_program.h - has our BPF program report or count the system calls of a live trace, as settings and choice say, and
 * puts its sums into the job.
 *
 * The caller owns the program. One thread.
 *
 *	status = trace_program_create(&config, &program, err);   // UNSUPPORTED, DENIED: use tracepoints
 *	trace_program_watch(program, recorder, &target, err);    // the events are open
 *	trace_program_start(program); ... trace_program_finish(program, err);
 *	trace_program_destroy(program);
 */
#ifndef VERBS_TRACE_TRACE_PROGRAM_H
#define VERBS_TRACE_TRACE_PROGRAM_H

#include "kernel/recording/recorder.h"
#include "kernel/system/target.h"
#include "verbs/trace/trace_job.h"

struct trace_program;

struct trace_program_config {
	struct trace_job *job;
	const struct kernel_seam *kernel;
	const struct target_request *target;
	bool of_command; /* its calls count from its exec on */
	bool has_others; /* other lines come between those of calls */
};

/* Whether the target is any process, on all CPUs or some, perhaps of one user. */
bool trace_program_follows_all(const struct target_request *target);
TALLY_MUST_CHECK enum tally_status trace_program_create(
	const struct trace_program_config *config, struct trace_program **program, struct tally_error *err);
void trace_program_destroy(struct trace_program *program);
/* Whether it writes records into rings, and whether it counts. */
bool trace_program_has_records(const struct trace_program *program);
bool trace_program_has_sums(const struct trace_program *program);
/* The target's threads, and the rings of the event with this index. */
TALLY_MUST_CHECK enum tally_status trace_program_watch(struct trace_program *program, const struct recorder *recorder,
	uint32_t event, const struct target *target, struct tally_error *err);
void trace_program_start(struct trace_program *program);
/* Stops it, and gives the job the sums and the calls that go on. */
TALLY_MUST_CHECK enum tally_status trace_program_finish(struct trace_program *program, struct tally_error *err);
/* Says what was lost beside the records. */
void trace_program_tell_losses(const struct trace_program *program);
uint64_t trace_program_lost_records(const struct trace_program *program);

#endif
