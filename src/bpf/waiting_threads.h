/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting_threads.h - finds, by a BPF program that visits all threads, those that are off the CPU when waits begin to be
 * recorded, and enters how they wait in the maps of off_cpu.h, whose part it is.
 *
 * A thread is given with what its user stack can be unwound from as long as its number of switches stays the same. The
 * caller owns it (waiting_threads_destroy). It needs what the program of off_cpu.h needs (Linux 5.8); kernel stacks need
 * Linux 5.9. One thread.
 *
 *	waiting_threads_create(&config, &threads, err);   waiting_threads_add_target(threads, pid, true, err);
 *	waiting_threads_find(threads, &pass, &sink, err); waiting_threads_destroy(threads);
 */
#ifndef BPF_WAITING_THREADS_H
#define BPF_WAITING_THREADS_H

#include "kernel/system/kernel_seam.h"

#define WAITING_REGISTERS_MOST 33

struct bpf_object;
struct wait_calls_restart;

struct waiting_threads_config {
	const struct kernel_seam *kernel;
	const char *what; /* the option that needs it, for refusals */
	struct bpf_object *waits; /* off_cpu.bpf.c, loaded: whose threads these become */
	bool all_threads; /* or those that are added */
	bool wants_preempted, no_kernel_stacks, has_cpus; /* as in off_cpu.bpf.c */
	size_t thread_count; /* expected number of threads */
	const struct wait_calls_restart *restarts; /* as in off_cpu.bpf.c */
	size_t restart_count;
};

struct waiting_thread {
	uint32_t tid, pid;
	uint64_t stack; /* ID */
	uint64_t switches; /* voluntary and other, as /proc/PID/status has them */
	uint64_t registers[WAITING_REGISTERS_MOST]; /* of user space, by perf's numbers */
	bool has_registers; /* of a 64-bit program */
	const uint64_t *kernel; /* valid during the call */
	size_t kernel_count;
};

struct waiting_threads_sink { /* what it returns other than TALLY_OK ends the pass */
	enum tally_status (*take)(void *context, const struct waiting_thread *thread, struct tally_error *err);
	void *context;
};

struct waiting_threads_pass {
	uint64_t begin_ns; /* waits count from then on, in CLOCK_MONOTONIC */
	uint32_t generation; /* of the program's control */
	bool only_partial; /* threads alone whose stacks were walked when some unwind table was not there yet */
};

struct waiting_threads;
TALLY_MUST_CHECK enum tally_status waiting_threads_create(
	const struct waiting_threads_config *config, struct waiting_threads **threads, struct tally_error *err);
void waiting_threads_destroy(struct waiting_threads *threads);
/* A thread, or all threads of a process. */
TALLY_MUST_CHECK enum tally_status waiting_threads_add_target(
	struct waiting_threads *threads, uint32_t id, bool is_process, struct tally_error *err);
/* UNSUPPORTED: in a PID namespace. */
TALLY_MUST_CHECK enum tally_status waiting_threads_find(struct waiting_threads *threads,
	const struct waiting_threads_pass *pass, const struct waiting_threads_sink *sink, struct tally_error *err);
/* Threads that the map of threads had no room for. */
uint64_t waiting_threads_lost(const struct waiting_threads *threads);

#endif
