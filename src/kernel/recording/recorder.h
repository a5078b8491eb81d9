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
 *	while (!over) {
 *		recorder_wait(recorder, signal_fd, -1, &signalled, err);
 *		recorder_drain(recorder, &sink, &bytes, err);
 *	}
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
	/* Only the first measured_count of cpus are measured (0: all); on the others, only events with is_everywhere
	 * are opened. */
	size_t measured_count;
	const pid_t *threads; /* {-1} for everything on these CPUs. */
	size_t thread_count;
	bool per_thread; /* One ring per thread. */
	bool keeps_kernel; /* The user requested kernel samples, so there is no fallback to user mode. */
	bool overwrites; /* The attrs have WRITE_BACKWARD: rings overwrite the oldest records, for recorder_snapshot. */
	bool drains_apart; /* The caller reads rings only by recorder_drain_ring, possibly in other threads. */
	enum affinity_mode affinity; /* How a thread is bound before it reads a ring (affinity.h). */
	size_t flush_bytes; /* Until recorder_disable, rings with fewer unread bytes are skipped; 0 to read all. */
	size_t ring_bytes; /* A power of two of pages; halved if that much memory cannot be locked. */
	bool ring_may_shrink; /* If ring_bytes is halved, no warning is added to diag. */
	/* Called with each record once, before it is drained, in the thread that drains it; or NULL. */
	void (*look)(void *context, const struct tally_bytes *slices, size_t slice_count);
	void *look_context;
	/* Called with each event (its index) after it was opened and before it is enabled; or NULL. If it fails,
	 * opening fails. */
	enum tally_status (*opened)(void *context, size_t event, int fd, struct tally_error *err);
	void *opened_context;
	struct diag *diag;
};

struct recorder_source { /* An event on one CPU and thread. */
	int fd; /* -1 if not open: the thread has ended, or the event does not exist on the CPU. */
	uint32_t event; /* Index in the event list. */
	uint32_t ring; /* Index of the ring that receives its records. */
	int cpu; /* -1 for any. */
	pid_t thread; /* -1 for all. */
	uint64_t id; /* The kernel's ID of the event (PERF_EVENT_IOC_ID). */
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

/* Returns all sources, also those that are not open; valid until the next recorder_join or recorder_destroy. */
const struct recorder_source *recorder_sources(const struct recorder *recorder, size_t *count);
/* Returns the size of the data area of each ring, which may be smaller than the ring_bytes of the configuration. */
size_t recorder_ring_bytes(const struct recorder *recorder);
/* Reads the clock parameters of the rings; returns false if the kernel publishes none. */
bool recorder_clock(const struct recorder *recorder, struct ring_clock *clock);

/* Adds threads to the recording, with the existing rings; not with per_thread. Threads that have ended, or that this
 * user may not measure, are left out. The new events are enabled if the others are. Their sources are added to
 * recorder_sources, in place of closed ones if there are any. Sets *joined to the number of added threads. */
TALLY_MUST_CHECK enum tally_status recorder_join(
	struct recorder *recorder, const pid_t *threads, size_t thread_count, size_t *joined, struct tally_error *err);
/* Closes the events of threads that recorder_join added, if these threads and all their children have ended. */
void recorder_forget_ended(struct recorder *recorder);

/* Enables all events but those with enable_on_exec. */
TALLY_MUST_CHECK enum tally_status recorder_enable(struct recorder *recorder, struct tally_error *err);
/* Disables all events; later drains ignore flush_bytes. */
void recorder_disable(struct recorder *recorder);
/* Enables or disables one event (its index), or with RECORDER_ALL all but the dummy event of side-band records. */
#define RECORDER_ALL SIZE_MAX
TALLY_MUST_CHECK enum tally_status recorder_set_running(
	struct recorder *recorder, size_t event, bool is_running, struct tally_error *err);
/* Waits until a ring is half full, a thread of the target has ended, other_fd (-1 for none) is readable, timeout_ms has
 * passed (-1: no timeout) or a signal was caught. *other_ready says whether other_fd is readable; it is also true after
 * a signal. */
TALLY_MUST_CHECK enum tally_status recorder_wait(
	struct recorder *recorder, int other_fd, int timeout_ms, bool *other_ready, struct tally_error *err);
/* Returns whether the last recorder_wait ended because a ring was half full or a thread of the target ended. */
bool recorder_has_news(const struct recorder *recorder);
/* Passes new records to config.look without consuming them; does nothing with overwrites or drains_apart. */
void recorder_look(struct recorder *recorder);
/* Reads all rings once; *bytes is the number of bytes read. Does nothing with overwrites or drains_apart. */
TALLY_MUST_CHECK enum tally_status recorder_drain(
	struct recorder *recorder, const struct record_sink *sink, uint64_t *bytes, struct tally_error *err);
/* Reads one ring and adds the number of bytes to *bytes. Different rings may be read by different threads. */
TALLY_MUST_CHECK enum tally_status recorder_drain_ring(struct recorder *recorder, size_t ring,
	const struct record_sink *sink, uint64_t *bytes, struct tally_error *err);
/* Returns the number of rings, including those without an event. */
size_t recorder_ring_count(const struct recorder *recorder);
/* Returns the number of slices with the current contents of a ring, as ring_peek does, for callers that read records in
 * place; not with overwrites. */
size_t recorder_ring_peek(struct recorder *recorder, size_t ring, struct tally_bytes slices[2]);
/* Releases this many of the oldest bytes of a ring, which must be whole records; not with overwrites. */
void recorder_ring_release(struct recorder *recorder, size_t ring, uint64_t bytes);
/* Sets the samples per second (not 0) of all events that sample by frequency. Returns false if there are none, or if
 * the kernel refuses the value for all of them. */
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
