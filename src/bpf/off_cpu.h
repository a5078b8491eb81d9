/* SPDX-License-Identifier: Apache-2.0 */
/*
 * off_cpu.h - measures in the kernel, by a BPF program, the time that threads spend off the CPU: how long each waited
 * to be woken and then to run, with its stack and the stack of its waker.
 *
 * Waits shorter than a threshold are reported as sums by thread, stack, state and waker, longer ones one by one. The
 * caller owns it (off_cpu_destroy). Nothing stays in the kernel when the process ends, even if it is killed. Times are
 * of CLOCK_MONOTONIC. One thread.
 *
 *	off_cpu_create(&config, &waits, err);   off_cpu_read_tables(waits, pids, n, err);
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
	const char *what; /* the option that needs it, for refusals */
	bool all_threads; /* all threads of the machine except the kernel's; else those that are added, and their children */
	const int *cpus; /* only waits that began there */
	size_t cpu_count; /* 0: anywhere */
	const char *const *cgroups; /* directories of cgroups: only threads in them and below, with all_threads */
	size_t cgroup_count; /* 0: any */
	bool no_inherit; /* without children and new threads */
	bool wants_preempted; /* also threads that were preempted */
	bool no_kernel_stacks, no_user_stacks;
	uint64_t threshold_ns; /* waits of at least this length are reported individually */
	size_t thread_count; /* expected number of threads; 0: not known */
	const struct arch *arch; /* of this machine, for the tables that stacks are walked by */
	struct binary_store_options store; /* of the files that stacks lead to */
	struct bpf_object *walks; /* whose tables are used (walk_tables_share); NULL: own ones */
	struct python_frames *walks_python; /* of these; may be NULL */
	struct python_map python; /* for own ones */
};

/* How a thread waited when the recording began. */
struct off_cpu_before {
	enum wait_state state;
	int32_t syscall; /* -1: not known */
	uint64_t ip; /* in user space; 0: not known */
	uint64_t switches; /* how often the thread had left the CPU */
};

struct off_cpu_losses {
	uint64_t threads; /* switches of threads that there was no room for */
	uint64_t waits, waits_ns; /* in sums that there was no room for */
	uint64_t stacks; /* waits whose stack was lost */
	uint64_t cut_stacks;
	uint64_t partial, partial_ns; /* waits that ended before the unwind tables of their programs were there */
	uint64_t mistaken_stacks; /* that were recognized, and were others when they were taken again */
	uint64_t switches; /* records that a ring had no room for */
	uint64_t summed; /* long waits that were added to sums because the ring was full */
	uint64_t unreached; /* longer waits that began before, and ended before their stacks were read */
	uint64_t unreadable; /* the same of threads whose memory may not be read */
	uint64_t throttled_ns; /* by CPU quotas of cgroups, if the source does not see which threads that stopped */
};

struct off_cpu;
TALLY_MUST_CHECK enum tally_status off_cpu_create(
	const struct off_cpu_config *config, struct off_cpu **waits, struct tally_error *err);
void off_cpu_destroy(struct off_cpu *waits);
/* Begins to read the unwind tables, those of pids first. */
TALLY_MUST_CHECK enum tally_status off_cpu_read_tables(
	struct off_cpu *waits, const pid_t *pids, size_t pid_count, struct tally_error *err);
/* Adds a thread that runs already, or, with before, that waits. Does nothing if the program knows it already. */
TALLY_MUST_CHECK enum tally_status off_cpu_add_thread(struct off_cpu *waits, uint32_t tid, uint32_t pid,
	const struct off_cpu_before *before, struct tally_error *err);
/* A thread, or all threads of a process, for off_cpu_find_waiting. */
TALLY_MUST_CHECK enum tally_status off_cpu_add_target(
	struct off_cpu *waits, uint32_t id, bool is_process, struct tally_error *err);
/* While it is running: visits the targets, which it enters, and gives those that are off the CPU. Their waits count from
 * when it was set running. UNSUPPORTED or DENIED: threads cannot be visited, because of err. */
TALLY_MUST_CHECK enum tally_status off_cpu_find_waiting(
	struct off_cpu *waits, const struct waiting_threads_sink *sink, struct tally_error *err);
/* The same for waits whose stacks were walked when some unwind table was not there yet, and which go on. Does nothing if
 * there were none since the last time. */
TALLY_MUST_CHECK enum tally_status off_cpu_find_partial(
	struct off_cpu *waits, const struct waiting_threads_sink *sink, struct tally_error *err);
/* Whether off_cpu_find_partial would visit threads. */
bool off_cpu_has_partial(const struct off_cpu *waits);
/* The user stack of such a wait, innermost frame first; until then only the innermost frame is known. */
TALLY_MUST_CHECK enum tally_status off_cpu_set_stack(
	struct off_cpu *waits, uint64_t stack, const uint64_t *ips, size_t count, struct tally_error *err);
/* Waits that began while the recording was off are not counted. */
void off_cpu_set_running(struct off_cpu *waits, bool is_running);
/* Reads the long waits that have ended, and with takes_sums all sums of waits that have ended. */
TALLY_MUST_CHECK enum tally_status off_cpu_drain(
	struct off_cpu *waits, bool takes_sums, const struct off_cpu_sink *sink, struct tally_error *err);
/* After a drain: gives the waits that have lasted for threshold_ns and go on, as far as they have come. What follows is
 * given later, without that. */
TALLY_MUST_CHECK enum tally_status off_cpu_give_lasting(
	struct off_cpu *waits, const struct off_cpu_sink *sink, struct tally_error *err);
/* The last drain: detaches the program, and also reports waits that have not ended: until it was set not running, or until
 * now. */
TALLY_MUST_CHECK enum tally_status off_cpu_finish(
	struct off_cpu *waits, const struct off_cpu_sink *sink, struct tally_error *err);
/* NULL: Python frames are not looked for. */
struct python_frames *off_cpu_python(const struct off_cpu *waits);
struct off_cpu_losses off_cpu_losses(const struct off_cpu *waits);

#endif
