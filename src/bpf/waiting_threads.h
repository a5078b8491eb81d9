/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting_threads.h - finds the threads that are off the CPU when the recording of waits begins, by a BPF program that
 * visits all threads, and stores their waits in the maps of off_cpu.h. It is a part of that module.
 *
 * A thread is reported with its registers, from which its user stack can be unwound as long as its number of switches
 * does not change. The caller owns the object (waiting_threads_destroy). The requirements are those of off_cpu.h (Linux
 * 5.8); kernel stacks require Linux 5.9. Used by one thread.
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
	const char *what; /* Option that requires this module, for error messages. */
	struct bpf_object *waits; /* Loaded object of off_cpu.bpf.c, which contains the map of threads. */
	bool all_threads; /* Visits all threads; false: only added targets. */
	/*
	 * The first two are as in struct off_cpu_config. has_cpus selects only threads that left a CPU in the map cpus
	 * of waits.
	 */
	bool wants_preempted, no_kernel_stacks, has_cpus;
	size_t thread_count; /* Expected number of threads; 0 if it is not known. */
	/* Kernel functions that restart a system call (wait_calls_read_restarts); copied. */
	const struct wait_calls_restart *restarts;
	size_t restart_count;
};

struct waiting_thread {
	uint32_t tid, pid;
	uint64_t stack; /* ID of the stack of this wait. */
	uint64_t switches; /* Sum of voluntary and involuntary switches in /proc/PID/status. */
	uint64_t registers[WAITING_REGISTERS_MOST]; /* Registers of user space, indexed by perf's register numbers. */
	bool has_registers; /* True if registers is valid, which it is for 64-bit programs only. */
	const uint64_t *kernel; /* Kernel frames, valid during the call. */
	size_t kernel_count;
};

struct waiting_threads_sink { /* A status other than TALLY_OK ends the pass. */
	enum tally_status (*take)(void *context, const struct waiting_thread *thread, struct tally_error *err);
	void *context;
};

struct waiting_threads_pass { /* Parameters of one visit of all threads. */
	uint64_t begin_ns; /* Start of the measured part of waits, in CLOCK_MONOTONIC. */
	uint32_t generation; /* Current generation in off_cpu_control. */
	bool only_partial; /* Visits only threads with stacks that were walked while an unwind table was missing. */
};

struct waiting_threads;
TALLY_MUST_CHECK enum tally_status waiting_threads_create(
	const struct waiting_threads_config *config, struct waiting_threads **threads, struct tally_error *err);
void waiting_threads_destroy(struct waiting_threads *threads);
/* Adds a thread, or all threads of a process. */
TALLY_MUST_CHECK enum tally_status waiting_threads_add_target(
	struct waiting_threads *threads, uint32_t id, bool is_process, struct tally_error *err);
/* Visits all threads once. Returns UNSUPPORTED in a PID namespace other than the initial one. */
TALLY_MUST_CHECK enum tally_status waiting_threads_find(struct waiting_threads *threads,
	const struct waiting_threads_pass *pass, const struct waiting_threads_sink *sink, struct tally_error *err);
/* Returns the number of threads for which the map of threads had no room. */
uint64_t waiting_threads_lost(const struct waiting_threads *threads);

#endif
