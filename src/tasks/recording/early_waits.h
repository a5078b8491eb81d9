/* SPDX-License-Identifier: Apache-2.0 */
/*
 * early_waits.h - finds the user stacks of waits that began before they were recorded: it reads the stacks of threads
 * that wait from their memory, and unwinds them, some at a time, beside the rest of the recording.
 *
 * Memory and registers are of one wait only if the thread has not left the CPU since it was found: the kernel's count of
 * its switches tells (thread_waits_switches), and a stack for which it differs is dropped. The owner calls
 * early_waits_destroy. What other processes have in their memory is not trusted. One thread.
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
	EARLY_WAITS_UNREACHED, /* the wait ended before its stack was read, or time did not suffice */
	EARLY_WAITS_UNREADABLE /* the thread's memory may not be read */
};

struct early_waits_sink {
	/* Gets user stacks by their IDs, innermost frame first. */
	enum tally_status (*take)(
		void *context, uint64_t stack, const uint64_t *ips, size_t count, struct tally_error *err);
	/* Gets threads whose stacks are not known. */
	enum tally_status (*lose)(void *context, uint32_t tid, enum early_waits_loss loss, struct tally_error *err);
	void *context;
};

struct early_waits_config {
	const struct kernel_seam *kernel;
	const struct arch *arch; /* of this machine */
	struct binary_store_options store; /* of the files that stacks lead to */
	struct early_waits_sink sink;
};

struct early_waits;
TALLY_MUST_CHECK enum tally_status early_waits_create(
	const struct early_waits_config *config, struct early_waits **early, struct tally_error *err);
void early_waits_destroy(struct early_waits *early);
/* A thread that waits; only its user registers matter. */
TALLY_MUST_CHECK enum tally_status early_waits_add(
	struct early_waits *early, const struct waiting_thread *thread, struct tally_error *err);
/* Whether early_waits_go_on has something to do. */
bool early_waits_are_left(const struct early_waits *early);
/* Reads and unwinds stacks for about so many milliseconds. */
TALLY_MUST_CHECK enum tally_status early_waits_go_on(
	struct early_waits *early, int64_t budget_ms, struct tally_error *err);
/* The last of it: what is left then is lost. */
TALLY_MUST_CHECK enum tally_status early_waits_finish(
	struct early_waits *early, int64_t budget_ms, struct tally_error *err);

#endif
