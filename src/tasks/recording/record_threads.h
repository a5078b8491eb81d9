/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_threads.h - implements --threads: several threads drain the rings, each ring into its own file (data.0, data.1
 * ... of a directory; perfdata/directory.h reads them).
 *
 * The output owns it. Each thread accesses only the rings and files of its group of CPUs; between record_threads_start
 * and record_threads_stop the caller may only query the number of bytes and failures. Files contain only records, so
 * they are complete at any moment except for the record that is being written; if the disk is full, each file ends
 * after a complete batch.
 *
 *	record_threads_create(&config, &threads, err);  record_threads_start(threads, err);
 *	... record_threads_bytes(threads), record_threads_check(threads, err) ...
 *	record_threads_stop(threads, err);  record_threads_destroy(threads);
 */
#ifndef TASKS_RECORDING_RECORD_THREADS_H
#define TASKS_RECORDING_RECORD_THREADS_H

#include "kernel/recording/recorder.h"
#include "perfdata/compressor.h"
#include "tasks/recording/record_request.h"

struct record_threads;
struct record_threads_config {
	const struct kernel_seam *kernel;
	struct recorder *recorder; /* Has one ring for each element of cpus. */
	const int *cpus;
	size_t cpu_count;
	enum record_thread_groups groups;
	const char *directory; /* Existing directory. */
	int compression_level; /* 0 for no compression. */
};

TALLY_MUST_CHECK enum tally_status record_threads_create(
	const struct record_threads_config *config, struct record_threads **threads, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status record_threads_start(struct record_threads *threads, struct tally_error *err);
/* Returns the error of a thread that has failed, if any. */
TALLY_MUST_CHECK enum tally_status record_threads_check(struct record_threads *threads, struct tally_error *err);
/* Returns the number of files. */
size_t record_threads_parts(const struct record_threads *threads);
/* Returns the current size of one file. */
uint64_t record_threads_part_bytes(const struct record_threads *threads, size_t part);
uint64_t record_threads_bytes(const struct record_threads *threads);
/* Ends the threads and writes the rest of the rings. May be called without a start, and repeatedly. */
TALLY_MUST_CHECK enum tally_status record_threads_stop(struct record_threads *threads, struct tally_error *err);
struct compressor_totals record_threads_totals(const struct record_threads *threads);
void record_threads_destroy(struct record_threads *threads);

#endif
