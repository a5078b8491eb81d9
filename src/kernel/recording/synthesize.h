/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthesize.h - what already runs when a recording starts, as the records that the kernel would have written:
 * comm, fork and mmap2 of processes and threads, the mappings of the kernel and its modules; and the records that
 * describe the recording itself (id index, thread and CPU map, clock).
 *
 * Reads /proc under the seam's root and hands records on to a sink in batches. Times are 0: before everything. A
 * process that ends meanwhile is left out; a line that makes no sense is left out and counted. Owner calls
 * synthesize_deinit. One thread. Source: proc(5); linux/perf_event.h; seeds/perf.data-file-format.txt.
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

struct synthesize_ids { /* finds build ids. False: there is none */
	bool (*of_file)(void *context, uint32_t pid, const struct proc_map *map, struct record_build_id *id);
	bool (*of_kernel)(void *context, struct tally_str name, struct record_build_id *id); /* and of its modules */
	void *context;
};

struct synthesis {
	const struct kernel_seam *kernel;
	struct record_layout layout; /* of the trailers */
	struct record_sink sink;
	struct tally_str kernel_list; /* see kernel_maps.h; borrowed */
	int map_timeout_ms; /* only a part of the maps is recorded if reading them takes longer; 0: no limit */
	bool no_maps, no_tasks; /* of processes */
	bool with_data_maps; /* also mappings that are not executable */
	const struct synthesize_ids *ids; /* of mappings, instead of device and inode; NULL: not needed */
	struct writer writer;
	struct map_u64 told; /* threads whose records were written, so that each is written once */
	bool hides_kernel; /* synthesize_kernel found that the kernel hides its addresses */
	uint64_t left_out; /* lines that were not understood */
};

void synthesize_init(struct synthesis *s, const struct kernel_seam *kernel, const struct record_layout *layout,
	const struct record_sink *sink);
void synthesize_deinit(struct synthesis *s);
/* Passes on the remaining records. */
TALLY_MUST_CHECK enum tally_status synthesize_flush(struct synthesis *s, struct tally_error *err);

/* Writes records of the kernel's text and its modules; nothing if /proc hides their addresses. */
TALLY_MUST_CHECK enum tally_status synthesize_kernel(struct synthesis *s, struct tally_error *err);
/* Writes records of one process: name, mappings, threads. tid may be any of its threads. Does nothing if they were
 * written before. */
TALLY_MUST_CHECK enum tally_status synthesize_process(struct synthesis *s, pid_t tid, struct tally_error *err);
/* Only the mappings. */
TALLY_MUST_CHECK enum tally_status synthesize_mappings(struct synthesis *s, pid_t pid, struct tally_error *err);
/* Only the name: of a command that has not called exec yet. */
TALLY_MUST_CHECK enum tally_status synthesize_comm(struct synthesis *s, pid_t pid, struct tally_error *err);
/* The control groups that exist. */
TALLY_MUST_CHECK enum tally_status synthesize_cgroups(struct synthesis *s, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status synthesize_all(struct synthesis *s, struct tally_error *err);

TALLY_MUST_CHECK enum tally_status synthesize_id_index(
	struct synthesis *s, const struct recorder_source *sources, size_t count, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status synthesize_time_conv(
	struct synthesis *s, const struct ring_clock *clock, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status synthesize_thread_map(
	struct synthesis *s, const pid_t *threads, size_t count, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status synthesize_cpu_map(
	struct synthesis *s, const int *cpus, size_t count, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status synthesize_finished(struct synthesis *s, struct tally_error *err);

#endif
