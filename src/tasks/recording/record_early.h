/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_early.h - handles threads that are already waiting when the recording of waits begins: it finds them, passes
 * them to the source of waits, and has their stacks read (early_waits.h) while the recording continues.
 *
 * With BPF, a program visits the threads in the kernel (bpf/waiting_threads.h). If the kernel refuses that, and for
 * other sources of waits, /proc is read instead; if it was refused, a note says what is missing. A value that borrows
 * what the config points to; the caller frees it with record_early_deinit. Not thread-safe.
 *
 *	early.config = config;
 *	record_early_begin(&early, false, err);                // whenever waits begin to count
 *	record_early_read_stacks(&early, is_last, err);        // before each drain
 *	record_early_note(&early, wait);                       // for each wait that began before
 */
#ifndef TASKS_RECORDING_RECORD_EARLY_H
#define TASKS_RECORDING_RECORD_EARLY_H

#include "base/map_u64.h"
#include "tasks/recording/early_waits.h"
#include "tasks/recording/record_wait_source.h"

/* Interval in milliseconds between drains while stacks are being read. It is short because a stack can only be unwound
 * when the files to which it leads have been opened, which happens in the background. */
#define RECORD_EARLY_PAUSE_MS 2

/* Interval in milliseconds between drains at other times. It is so short that the stacks of new programs that were cut
 * can be read again while the waits last. */
#define RECORD_EARLY_LOOK_MS 100

struct record_early_config {
	const struct kernel_seam *kernel;
	const struct target *target;
	struct record_wait_source *source;
	struct binary_store_options store; /* Options for the files to which stacks lead. */
	struct diag *diag;
	const char *const *cgroup_names; /* Names below the mount point of the cgroups that are recorded. */
	size_t cgroup_count; /* 0 if threads of all cgroups count. */
	bool is_process_list; /* Includes threads that are created while the target's threads are listed. */
	bool no_user_stacks;
};

struct record_early {
	struct record_early_config config;
	struct early_waits *stacks; /* Stacks that are being read, or NULL. */
	/* Maps a thread ID to the total time in nanoseconds of the thread's waits that began before the recording of
	 * waits. */
	struct map_u64 ns;
	struct map_u64 lost; /* Maps a thread ID to an enum early_waits_loss. */
	struct map_u64 partial; /* Set of the threads with stacks that are read again because they were cut. */
	/* Number of those threads for which that failed, because they woke up too early or their memory cannot be
	 * read. */
	uint64_t partial_lost;
	bool has_noted; /* The note has been added that threads cannot be visited. */
};

void record_early_deinit(struct record_early *early);
/* Finds the waiting threads; their waits count from now on. If is_held is set, no thread counts as waiting, but the
 * target's threads become known so that their children are measured, too. */
TALLY_MUST_CHECK enum tally_status record_early_begin(
	struct record_early *early, bool is_held, struct tally_error *err);
/* Reads some stacks, or with is_last the remaining ones as far as the time limit allows. */
TALLY_MUST_CHECK enum tally_status record_early_read_stacks(
	struct record_early *early, bool is_last, struct tally_error *err);
/* Returns whether record_early_read_stacks has work to do. */
bool record_early_is_reading(const struct record_early *early);
/* Notes a wait that began before the recording of waits. Returns false if memory runs out. */
bool record_early_note(struct record_early *early, const struct off_cpu_wait *wait);
/* Adds to losses the noted threads that waited for long and have unknown stacks. */
void record_early_add_losses(const struct record_early *early, struct off_cpu_losses *losses);

#endif
