/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthesize.h - synthesizes the records of processes that run before a recording starts, as the kernel would have
 * written them: comm, fork and mmap2 of processes and threads, and the mappings of the kernel and its modules; also the
 * records that describe the recording itself (ID index, thread and CPU map, clock).
 *
 * It reads /proc below the seam's root and passes records to a sink in batches. The time of each record is 0, so that
 * they precede all other records. A process that ends meanwhile is left out; malformed lines are left out and counted.
 * The caller owns the synthesis (synthesize_deinit). One thread. Source: proc(5); linux/perf_event.h; Linux,
 * tools/perf/Documentation/perf.data-file-format.txt.
 *
 *	struct synthesis s;
 *	synthesize_init(&s, kernel, &layout, &sink);
 *	synthesize_kernel(&s, err); synthesize_all(&s, err); synthesize_flush(&s, err);
 *	synthesize_deinit(&s);
 */
#ifndef KERNEL_RECORDING_SYNTHESIZE_H
#define KERNEL_RECORDING_SYNTHESIZE_H

#include "abi/record_fields.h"
#include "abi/record_layout.h"
#include "base/map_u64.h"
#include "base/writer.h"
#include "kernel/recording/proc_maps.h"
#include "kernel/recording/recorder.h"

struct synthesize_ids { /* Callbacks that find build IDs; they return false if there is none. */
	bool (*of_file)(void *context, uint32_t pid, const struct proc_map *map, struct record_build_id *id);
	/* name is that of a struct kernel_map: the kernel or a module. */
	bool (*of_kernel)(void *context, struct tally_str name, struct record_build_id *id);
	void *context;
};

struct synthesis {
	const struct kernel_seam *kernel;
	struct record_layout layout; /* Layout of the trailers of records. */
	struct record_sink sink;
	struct tally_str kernel_list; /* Borrowed text of /proc/kallsyms; if empty, the file is read (kernel_maps.h). */
	/* If reading the mappings of a process takes longer than this, the rest of them is left out; 0 for no limit. */
	int map_timeout_ms;
	bool no_maps, no_tasks; /* Leave out mappings of processes, or all their records. */
	bool with_data_maps; /* Includes mappings that are not executable. */
	const struct synthesize_ids *ids; /* Adds build IDs to mappings, instead of device and inode; NULL for none. */
	struct writer writer;
	struct map_u64 told; /* Threads whose records were written. */
	bool hides_kernel; /* Set by synthesize_kernel if the kernel hides its addresses. */
	uint64_t left_out; /* Number of malformed lines. */
};

void synthesize_init(struct synthesis *s, const struct kernel_seam *kernel, const struct record_layout *layout,
	const struct record_sink *sink);
void synthesize_deinit(struct synthesis *s);
/* Passes the remaining records to the sink. */
TALLY_MUST_CHECK enum tally_status synthesize_flush(struct synthesis *s, struct tally_error *err);

/* Writes records of the kernel's text and its modules; nothing if /proc hides their addresses. */
TALLY_MUST_CHECK enum tally_status synthesize_kernel(struct synthesis *s, struct tally_error *err);
/* Writes records of one process: name, mappings, threads. tid may be any of its threads. If the process was written
 * before, writes only this thread if it is new. */
TALLY_MUST_CHECK enum tally_status synthesize_process(struct synthesis *s, pid_t tid, struct tally_error *err);
/* Writes only the mappings of a process. */
TALLY_MUST_CHECK enum tally_status synthesize_mappings(struct synthesis *s, pid_t pid, struct tally_error *err);
/* Writes only the name of a process, for a command that has not called exec yet. */
TALLY_MUST_CHECK enum tally_status synthesize_comm(struct synthesis *s, pid_t pid, struct tally_error *err);
/* Writes records of the existing control groups. */
TALLY_MUST_CHECK enum tally_status synthesize_cgroups(struct synthesis *s, struct tally_error *err);
/* Writes the records of all processes in /proc. */
TALLY_MUST_CHECK enum tally_status synthesize_all(struct synthesis *s, struct tally_error *err);

TALLY_MUST_CHECK enum tally_status synthesize_id_index(
	struct synthesis *s, const struct recorder_source *sources, size_t count, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status synthesize_time_conv(
	struct synthesis *s, const struct ring_clock *clock, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status synthesize_thread_map(
	struct synthesis *s, const pid_t *threads, size_t count, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status synthesize_cpu_map(
	struct synthesis *s, const int *cpus, size_t count, struct tally_error *err);
/* Writes a PERF_RECORD_FINISHED_INIT: all synthesized records precede it. */
TALLY_MUST_CHECK enum tally_status synthesize_finished(struct synthesis *s, struct tally_error *err);

#endif
