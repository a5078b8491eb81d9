/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_program.h - loads the BPF program that reports or counts the system calls of a live trace, according to the
 * settings and the choice of the job, and adds its sums to the job.
 *
 * The caller owns the program. Used by one thread.
 *
 *	status = trace_program_create(&config, &program, err);   // UNSUPPORTED, DENIED: use tracepoints instead
 *	trace_program_watch(program, recorder, event, &target, err);    // after the events were opened
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
	bool of_command; /* True if the target is a command, whose calls are traced from its exec on. */
	bool has_others; /* True if other lines may be printed between those of calls. */
};

/* Returns true if the target is all processes, even if it is limited to some CPUs or to one user. */
bool trace_program_follows_all(const struct target_request *target);
TALLY_MUST_CHECK enum tally_status trace_program_create(
	const struct trace_program_config *config, struct trace_program **program, struct tally_error *err);
void trace_program_destroy(struct trace_program *program);
/* Returns true if the program writes records into ring buffers. program may be NULL. */
bool trace_program_has_records(const struct trace_program *program);
/* Returns true if the program counts calls. program may be NULL. */
bool trace_program_has_sums(const struct trace_program *program);
/*
 * Selects the threads of the target to trace, and makes the program write records into the recorder's ring buffers of
 * this event.
 */
TALLY_MUST_CHECK enum tally_status trace_program_watch(struct trace_program *program, const struct recorder *recorder,
	uint32_t event, const struct target *target, struct tally_error *err);
void trace_program_start(struct trace_program *program);
/* Stops the program, and passes the sums and the unfinished calls to the job. */
TALLY_MUST_CHECK enum tally_status trace_program_finish(struct trace_program *program, struct tally_error *err);
/* Prints what was lost apart from records. */
void trace_program_tell_losses(const struct trace_program *program);
uint64_t trace_program_lost_records(const struct trace_program *program);

#endif
