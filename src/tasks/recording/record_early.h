/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_early.h - takes care of threads that wait already when waits begin to be recorded: it finds them, tells what
 * measures waits of them, and has their stacks read (early_waits.h) beside the rest of the recording.
 *
 * By BPF, a program visits the threads in the kernel (bpf/waiting_threads.h). If the kernel refuses that, and for other
 * sources of waits, it reads /proc; then a note says what is missing. A value; borrows what the config points to. The
 * owner calls record_early_deinit. One thread.
 *
 *	early.config = config;
 *	record_early_begin(&early, false, err);                // each time that waits begin to count
 *	record_early_read_stacks(&early, is_last, err);        // before each drain
 *	record_early_note(&early, wait);                       // each wait that began before
 */
#ifndef TASKS_RECORDING_RECORD_EARLY_H
#define TASKS_RECORDING_RECORD_EARLY_H

#include "base/map_u64.h"
#include "tasks/recording/early_waits.h"
#include "tasks/recording/record_wait_source.h"

#define RECORD_EARLY_PAUSE_MS 2 /* between drains while stacks are read: a file may have been opened */

#define RECORD_EARLY_LOOK_MS 100 /* how often new programs' first waits are looked for */

struct record_early_config {
	const struct kernel_seam *kernel;
	const struct target *target;
	struct record_wait_source *source;
	struct binary_store_options store; /* of the files that stacks lead to */
	struct diag *diag;
	const char *const *cgroup_names; /* whose threads count, below the mount point */
	size_t cgroup_count; /* 0: any cgroup's */
	bool is_process_list; /* also threads that come while the target's are listed */
	bool no_user_stacks;
};

struct record_early {
	struct record_early_config config;
	struct early_waits *stacks; /* that are being read; NULL: none */
	struct map_u64 ns; /* by thread: what its waits that began before came to */
	struct map_u64 lost; /* by thread: its early_waits_loss */
	struct map_u64 partial; /* threads whose stacks are read again */
	uint64_t partial_lost; /* of them those that woke up before */
	bool has_noted; /* why threads cannot be visited */
};

void record_early_deinit(struct record_early *early);
/* Waits in progress count from now. is_held: none does, but the target's children belong to it. */
TALLY_MUST_CHECK enum tally_status record_early_begin(
	struct record_early *early, bool is_held, struct tally_error *err);
/* Reads some stacks, or with is_last the rest, as far as time suffices. */
TALLY_MUST_CHECK enum tally_status record_early_read_stacks(
	struct record_early *early, bool is_last, struct tally_error *err);
/* Whether record_early_read_stacks has something to do. */
bool record_early_is_reading(const struct record_early *early);
/* Notes a wait that began before. False: out of memory. */
bool record_early_note(struct record_early *early, const struct off_cpu_wait *wait);
/* Longer waits, as noted, whose stacks are not known. */
void record_early_add_losses(const struct record_early *early, struct off_cpu_losses *losses);

#endif
