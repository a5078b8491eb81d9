/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - samples a target: it opens the events per CPU and thread, maps rings, and passes their contents to a
 * sink.
 *
 * It decodes nothing and writes no file: recorder_drain passes slices of whole records to a sink. The recorder belongs
 * to the caller (recorder_destroy) and borrows the events. If the kernel refuses events, it changes their attrs and
 * names: cycles becomes cpu-clock on a machine without a PMU, kernel samples are excluded if the user may not have
 * them, and features of newer kernels are dropped one by one. Each such step adds a note to diag. One thread.
 *
 *	recorder_create(&config, &recorder, err);   recorder_enable(recorder, err);
 *	while (!over) { recorder_wait(recorder, signal_fd, -1, &signalled, err); recorder_drain(recorder, sink, err); }
 *	recorder_disable(recorder); recorder_drain(...); recorder_destroy(recorder);
 */
#ifndef KERNEL_RECORDING_RECORDER_H
#define KERNEL_RECORDING_RECORDER_H

#include "base/diag.h"
#include "kernel/events/event_parser.h"
#include "kernel/recording/affinity.h"
#include "kernel/recording/ring.h"

struct recorder_config {
	const struct kernel_seam *kernel;
	struct event_list *events; /* Their attrs come from record_attrs_apply. */
	const int *cpus; /* One ring per CPU; {-1} with per_thread. */
	size_t cpu_count;
	/* Number of measured cpus, from the first on; the others have only is_everywhere events. 0 for all. */
	size_t measured_count;
	const pid_t *threads; /* {-1} for everything on these CPUs. */
	size_t thread_count;
	bool per_thread; /* One ring per thread. */
	bool keeps_kernel; /* The user requested kernel samples, so there is no fallback to user mode. */
	bool overwrites; /* The attrs have WRITE_BACKWARD: rings overwrite the oldest records, for recorder_snapshot. */
	bool drains_apart; /* Rings are emptied only by recorder_drain_ring, in any thread. */
	enum affinity_mode affinity; /* Binding of the thread that drains to the CPU or node of the ring. */
	size_t flush_bytes; /* A ring with fewer bytes is not read before recorder_disable. */
	size_t ring_bytes; /* A power of two of pages; halved if that much memory cannot be locked. */
	bool ring_may_shrink; /* Halving ring_bytes is not reported. */
	/* Called with each record once, before it is drained, in the thread that drains it; or NULL. */
	void (*look)(void *context, const struct tally_bytes *slices, size_t slice_count);
	void *look_context;
	/* Called with each event (its index) after it was opened and before it is enabled; or NULL. If it fails,
	 * opening fails. */
	enum tally_status (*opened)(void *context, size_t event, int fd, struct tally_error *err);
	void *opened_context;
	struct diag *diag;
};

struct recorder_source { /* One open event. */
	int fd;
	uint32_t event; /* Index in the event list. */
	uint32_t ring;
	int cpu;
	pid_t thread;
	uint64_t id;
};

struct record_sink { /* Receives whole records; any result other than TALLY_OK ends the drain. */
	enum tally_status (*take)(
		void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err);
	void *context;
};

struct recorder;
TALLY_MUST_CHECK enum tally_status recorder_create(
	const struct recorder_config *config, struct recorder **recorder, struct tally_error *err);
void recorder_destroy(struct recorder *recorder);

const struct recorder_source *recorder_sources(const struct recorder *recorder, size_t *count);
size_t recorder_ring_bytes(const struct recorder *recorder);
bool recorder_clock(const struct recorder *recorder, struct ring_clock *clock);

/* Adds threads to the recording, with the existing rings; not with per_thread. Threads that have ended, or that this
 * user may not measure, are left out. The new events are enabled if the others are. Their sources follow the existing
 * ones. Sets *joined to the number of added threads. */
TALLY_MUST_CHECK enum tally_status recorder_join(
	struct recorder *recorder, const pid_t *threads, size_t thread_count, size_t *joined, struct tally_error *err);
/* Closes the events of added threads that have ended together with all their children. */
void recorder_forget_ended(struct recorder *recorder);

/* Enables all events but those with enable_on_exec. */
TALLY_MUST_CHECK enum tally_status recorder_enable(struct recorder *recorder, struct tally_error *err);
void recorder_disable(struct recorder *recorder);
/* Enables or disables one event (its index), or with RECORDER_ALL all but the dummy event of side-band records. */
#define RECORDER_ALL SIZE_MAX
TALLY_MUST_CHECK enum tally_status recorder_set_running(
	struct recorder *recorder, size_t event, bool is_running, struct tally_error *err);
/* Waits until a ring is half full, the target has ended, other_fd is readable or the time is over. */
TALLY_MUST_CHECK enum tally_status recorder_wait(
	struct recorder *recorder, int other_fd, int timeout_ms, bool *other_ready, struct tally_error *err);
/* Returns whether the last wait ended because a ring was half full or the target ended. */
bool recorder_has_news(const struct recorder *recorder);
/* Passes new records to config.look without consuming them; does nothing with overwrites or drains_apart. */
void recorder_look(struct recorder *recorder);
/* Reads all rings once; *bytes is the number of bytes read. Does nothing with overwrites or drains_apart. */
TALLY_MUST_CHECK enum tally_status recorder_drain(
	struct recorder *recorder, const struct record_sink *sink, uint64_t *bytes, struct tally_error *err);
/* Reads one ring and adds the number of bytes to *bytes. Different rings may be read by different threads. */
TALLY_MUST_CHECK enum tally_status recorder_drain_ring(struct recorder *recorder, size_t ring,
	const struct record_sink *sink, uint64_t *bytes, struct tally_error *err);
/* For callers that read records in place: the number of rings, the contents of a ring, and the release of its oldest
 * bytes. Not with overwrites. */
size_t recorder_ring_count(const struct recorder *recorder);
size_t recorder_ring_peek(struct recorder *recorder, size_t ring, struct tally_bytes slices[2]);
void recorder_ring_release(struct recorder *recorder, size_t ring, uint64_t bytes);
/* Sets the samples per second of all events that sample by frequency; returns false if the kernel refuses the value. */
bool recorder_set_freq(struct recorder *recorder, uint64_t freq);
/* Returns a descriptor to poll; -1 if no event writes into this ring. */
int recorder_ring_fd(const struct recorder *recorder, size_t ring);
/* With overwrites: reads the records since the last call that were not overwritten, the newest of each ring first. */
TALLY_MUST_CHECK enum tally_status recorder_snapshot(
	struct recorder *recorder, const struct record_sink *sink, uint64_t *bytes, struct tally_error *err);
/* Returns whether all threads of the target have ended; always false for a system-wide recording. */
bool recorder_target_is_over(const struct recorder *recorder);
/* Returns the number of lost samples of this source; 0 if the kernel does not count them. */
uint64_t recorder_lost(const struct recorder *recorder, const struct recorder_source *source);

#endif
