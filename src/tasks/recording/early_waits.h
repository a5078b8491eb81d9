/* SPDX-License-Identifier: Apache-2.0 */
/*
 * early_waits.h - finds the user stacks of waits that began before the recording of waits: it reads the stacks of
 * waiting threads from the memory of their processes, and unwinds some of them at a time, while the recording
 * continues.
 *
 * Memory and registers belong to the same wait only if the thread has not left the CPU again since it was found. The
 * kernel's count of its context switches shows that (thread_waits_switches), and a stack for which it differs is
 * dropped. The caller owns struct early_waits (early_waits_destroy). The memory of other processes is not trusted. Not
 * thread-safe.
 *
 *	early_waits_create(&config, &early, err);   early_waits_add(early, &thread, err); ...
 *	early_waits_go_on(early, 20, err);   ... while (early_waits_are_left(early)) ...
 *	early_waits_finish(early, 300, err); early_waits_destroy(early);
 */
#ifndef TASKS_RECORDING_EARLY_WAITS_H
#define TASKS_RECORDING_EARLY_WAITS_H

#include "arch/arch.h"
#include "bpf/waiting_threads.h"
#include "code/binary_store.h"

enum early_waits_loss {
	EARLY_WAITS_UNREACHED, /* The wait ended before its stack was read, or there was not enough time. */
	EARLY_WAITS_UNREADABLE /* The thread's memory cannot be read. */
};

struct early_waits_sink {
	/* Receives user stacks by their IDs, innermost frame first. */
	enum tally_status (*take)(
		void *context, uint64_t stack, const uint64_t *ips, size_t count, struct tally_error *err);
	/* Receives threads with unknown stacks. */
	enum tally_status (*lose)(void *context, uint32_t tid, enum early_waits_loss loss, struct tally_error *err);
	void *context;
};

struct early_waits_config {
	const struct kernel_seam *kernel;
	const struct arch *arch; /* Architecture of this machine. */
	struct binary_store_options store; /* Options for the files to which stacks lead. */
	struct early_waits_sink sink;
};

struct early_waits;
TALLY_MUST_CHECK enum tally_status early_waits_create(
	const struct early_waits_config *config, struct early_waits **early, struct tally_error *err);
void early_waits_destroy(struct early_waits *early);
/* Adds a waiting thread. Its kernel frames are not used. Does nothing if its user registers are unknown. */
TALLY_MUST_CHECK enum tally_status early_waits_add(
	struct early_waits *early, const struct waiting_thread *thread, struct tally_error *err);
/* Returns whether early_waits_go_on has work to do. */
bool early_waits_are_left(const struct early_waits *early);
/* Reads and unwinds stacks for about budget_ms milliseconds. */
TALLY_MUST_CHECK enum tally_status early_waits_go_on(
	struct early_waits *early, int64_t budget_ms, struct tally_error *err);
/* Handles the remaining stacks; those that cannot be read within about budget_ms milliseconds are reported as lost. */
TALLY_MUST_CHECK enum tally_status early_waits_finish(
	struct early_waits *early, int64_t budget_ms, struct tally_error *err);

#endif
