/* SPDX-License-Identifier: Apache-2.0 */
/*
 * off_cpu.h - measures by a BPF program the time that threads spend off the CPU: how long each thread waited to be
 * woken and then to run, with its stack and the stack of its waker.
 *
 * Waits shorter than a threshold are reported as sums by thread, stack, state and waker, longer ones individually. The
 * caller owns the object (off_cpu_destroy). Nothing stays in the kernel when the process ends, even if it is killed.
 * Times are those of CLOCK_MONOTONIC. Used by one thread.
 *
 *	off_cpu_create(&config, &waits, err);   off_cpu_read_tables(waits, pids, pid_count, err);
 *	off_cpu_add_thread(waits, tid, pid, NULL, err);
 *	off_cpu_set_running(waits, true);       ... off_cpu_drain(waits, false, &sink, err) now and then ...
 *	off_cpu_finish(waits, &sink, err);      off_cpu_destroy(waits);
 */
#ifndef BPF_OFF_CPU_H
#define BPF_OFF_CPU_H

#include "bpf/python_frames.h"
#include "bpf/wait_parts.h"
#include "bpf/waiting_threads.h"
#include "code/binary_store.h"
#include "kernel/system/kernel_seam.h"

struct bpf_object;
struct arch;

struct off_cpu_config {
	const struct kernel_seam *kernel;
	const char *what; /* Option that requires this module, for error messages. */
	/* Measures all threads except the kernel's; false: only added threads and their descendants. */
	bool all_threads;
	const int *cpus; /* CPUs; only waits that began on one of them are measured. */
	size_t cpu_count; /* 0 includes all CPUs. */
	/* Directories of cgroups. With all_threads, only threads in them and their descendants are measured. */
	const char *const *cgroups;
	size_t cgroup_count; /* 0 includes all cgroups. */
	bool no_inherit; /* Excludes children and new threads of added threads. */
	bool wants_preempted; /* Measures also threads that were preempted. */
	bool no_kernel_stacks, no_user_stacks;
	uint64_t threshold_ns; /* Minimum duration of waits that are reported individually. */
	size_t thread_count; /* Expected number of threads; 0 if it is not known. */
	const struct arch *arch; /* Architecture of this machine, for unwinding. */
	struct binary_store_options store; /* Options for loading the files in which stack addresses lie. */
	/* Loaded BPF object of which the unwind tables are shared (walk_tables_share); NULL to load separate ones. */
	struct bpf_object *walks;
	struct python_frames *walks_python; /* Python frames of the object walks; NULL if they are not recognized. */
	struct python_map python; /* Used only if walks is NULL. */
};

/* Describes the wait of a thread that was off the CPU when the recording began. */
struct off_cpu_before {
	enum wait_state state;
	int32_t syscall; /* -1 if it is not known. */
	uint64_t ip; /* Address in user space; 0 if it is not known. */
	uint64_t switches; /* Number of times that the thread had left the CPU. */
};

/* Losses of any source of waits. Members that do not apply to a source are 0. */
struct off_cpu_losses {
	uint64_t threads; /* Number of switches and wakeups of threads for which there was no room. */
	uint64_t waits, waits_ns; /* Number and total time of waits in sums for which there was no room. */
	uint64_t stacks; /* Number of waits that lost their stacks. */
	uint64_t cut_stacks; /* Number of stacks that had too many frames and were cut. */
	/* Number and total time of waits that ended before the unwind tables of their programs were loaded. */
	uint64_t partial, partial_ns;
	uint64_t mistaken_stacks; /* Number of stacks that were recognized, but were different when they were read. */
	uint64_t switches; /* Number of records for which a ring buffer had no room. */
	uint64_t summed; /* Number of long waits that were added to sums because the ring buffer was full. */
	/* Number of longer waits that began before the recording, and ended before their stacks were read. */
	uint64_t unreached;
	/* Number of longer waits that began before the recording, of threads with memory that may not be read. */
	uint64_t unreadable;
	/* Time in which CPU quotas of cgroups throttled threads, if the source cannot attribute it to threads. */
	uint64_t throttled_ns;
};

struct off_cpu;
TALLY_MUST_CHECK enum tally_status off_cpu_create(
	const struct off_cpu_config *config, struct off_cpu **waits, struct tally_error *err);
void off_cpu_destroy(struct off_cpu *waits);
/* Starts to read the unwind tables, those of pids first. Does nothing if the tables of another object are used. */
TALLY_MUST_CHECK enum tally_status off_cpu_read_tables(
	struct off_cpu *waits, const pid_t *pids, size_t pid_count, struct tally_error *err);
/*
 * Adds a running thread, or a waiting one if before is not NULL. Does nothing if the BPF program knows the thread
 * already. If there is no room, the thread is counted in off_cpu_losses.
 */
TALLY_MUST_CHECK enum tally_status off_cpu_add_thread(struct off_cpu *waits, uint32_t tid, uint32_t pid,
	const struct off_cpu_before *before, struct tally_error *err);
/* Adds a thread, or all threads of a process, to the targets of off_cpu_find_waiting. */
TALLY_MUST_CHECK enum tally_status off_cpu_add_target(
	struct off_cpu *waits, uint32_t id, bool is_process, struct tally_error *err);
/*
 * Visits the targets, adds them to the map of threads, and reports those that are off the CPU. Call it while measuring
 * is on; the waits count from the time at which it was started. Returns UNSUPPORTED or DENIED if threads cannot be
 * visited, with the reason in err.
 */
TALLY_MUST_CHECK enum tally_status off_cpu_find_waiting(
	struct off_cpu *waits, const struct waiting_threads_sink *sink, struct tally_error *err);
/*
 * Reports, as off_cpu_find_waiting does, the threads in unfinished waits with stacks that were walked while an unwind
 * table was missing. Does nothing if no such wait has begun since the last call.
 */
TALLY_MUST_CHECK enum tally_status off_cpu_find_partial(
	struct off_cpu *waits, const struct waiting_threads_sink *sink, struct tally_error *err);
/* Returns true if off_cpu_find_partial would visit threads. */
bool off_cpu_has_partial(const struct off_cpu *waits);
/*
 * Stores the user stack, innermost frame first, of a wait that off_cpu_find_waiting or off_cpu_find_partial reported.
 * stack is the ID in its struct waiting_thread. Before this call, only the innermost user frame is known.
 */
TALLY_MUST_CHECK enum tally_status off_cpu_set_stack(
	struct off_cpu *waits, uint64_t stack, const uint64_t *ips, size_t count, struct tally_error *err);
/* Starts or stops measuring. Waits that began while it was stopped are not counted. */
void off_cpu_set_running(struct off_cpu *waits, bool is_running);
/* Reports the long waits that have ended and, with takes_sums, the collected sums, which are then emptied. */
TALLY_MUST_CHECK enum tally_status off_cpu_drain(
	struct off_cpu *waits, bool takes_sums, const struct off_cpu_sink *sink, struct tally_error *err);
/*
 * Reports the elapsed part of waits that have lasted for at least threshold_ns. Call it after off_cpu_drain. The
 * remainder is reported when the wait ends.
 */
TALLY_MUST_CHECK enum tally_status off_cpu_give_lasting(
	struct off_cpu *waits, const struct off_cpu_sink *sink, struct tally_error *err);
/*
 * Detaches the BPF program and reports everything that remains, including unfinished waits up to the time at which
 * measuring was stopped, or until now if it was not.
 */
TALLY_MUST_CHECK enum tally_status off_cpu_finish(
	struct off_cpu *waits, const struct off_cpu_sink *sink, struct tally_error *err);
/* Returns the object that names Python frames in the stacks; NULL if they are not recognized. */
struct python_frames *off_cpu_python(const struct off_cpu *waits);
struct off_cpu_losses off_cpu_losses(const struct off_cpu *waits);

#endif
