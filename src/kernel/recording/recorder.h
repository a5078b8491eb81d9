/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - samples a target: it opens the events per CPU and thread, maps rings, and hands on their contents as
 * bytes.
 *
 * Decodes nothing and writes no file: recorder_drain gives slices of whole records to a sink. The recorder belongs to
 * the caller (recorder_destroy) and borrows the events, whose attrs and names it changes if the kernel refuses them:
 * cycles becomes cpu-clock on a machine without a PMU, kernel samples are excluded if the user may not have them,
 * features of newer kernels are dropped one by one. Each such step is a note in diag. One thread.
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
	struct event_list *events; /* attrs as record_attrs_apply left them */
	const int *cpus; /* one ring each; {-1} with per_thread */
	size_t cpu_count;
	size_t measured_count; /* of the CPUs; on those behind there are only events that are everywhere. 0: all */
	const pid_t *threads; /* {-1}: everything on these CPUs */
	size_t thread_count;
	bool per_thread; /* one ring per thread */
	bool keeps_kernel; /* samples of the kernel were asked for by name: no fallback to user space only */
	bool overwrites; /* the events' attrs say WRITE_BACKWARD: rings keep what is newest, for recorder_snapshot */
	bool drains_apart; /* rings are emptied by recorder_drain_ring only, in whatever thread */
	enum affinity_mode affinity; /* of the thread that drains, by the ring's CPU */
	size_t flush_bytes; /* a ring with fewer bytes is not read until recorder_disable */
	size_t ring_bytes; /* power of two of pages; halved where memory may not be locked */
	bool ring_may_shrink; /* without a word */
	/* Called with each record once, before it is taken, in the thread that takes it. NULL: not called. */
	void (*look)(void *context, const struct tally_bytes *slices, size_t slice_count);
	void *look_context;
	/* Called with each event (its index) after it was opened and before it runs. Its failure makes the opening
	 * fail. NULL: not called. */
	enum tally_status (*opened)(void *context, size_t event, int fd, struct tally_error *err);
	void *opened_context;
	struct diag *diag;
};

struct recorder_source { /* one open event */
	int fd;
	uint32_t event; /* index in the list */
	uint32_t ring;
	int cpu;
	pid_t thread;
	uint64_t id;
};

struct record_sink { /* takes complete records; any result other than TALLY_OK ends the drain */
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

/* Adds threads to the recording, with the existing rings; not with per_thread. Threads that have ended, or that we may
 * not watch, are left out. The added events are enabled if the others are. Their sources follow the earlier ones.
 * joined: the number of added threads. */
TALLY_MUST_CHECK enum tally_status recorder_join(
	struct recorder *recorder, const pid_t *threads, size_t thread_count, size_t *joined, struct tally_error *err);
/* Closes what was joined and has ended, with all children. */
void recorder_forget_ended(struct recorder *recorder);

/* Everything, or with only_tracked_excluded false ... what enable_on_exec does not start. */
TALLY_MUST_CHECK enum tally_status recorder_enable(struct recorder *recorder, struct tally_error *err);
void recorder_disable(struct recorder *recorder);
/* Starts or stops one event (its index), or all with RECORDER_ALL, any number of times. The tracking of processes
 * continues. */
#define RECORDER_ALL SIZE_MAX
TALLY_MUST_CHECK enum tally_status recorder_set_running(
	struct recorder *recorder, size_t event, bool is_running, struct tally_error *err);
/* Sleeps until a ring is half full, the target has ended, other_fd is readable or the time is over. */
TALLY_MUST_CHECK enum tally_status recorder_wait(
	struct recorder *recorder, int other_fd, int timeout_ms, bool *other_ready, struct tally_error *err);
/* Whether the last wait ended because a ring is half full or the target ended. */
bool recorder_has_news(const struct recorder *recorder);
/* Shows new records to config.look; does nothing if rings overwrite themselves, or are emptied separately. */
void recorder_look(struct recorder *recorder);
/* Reads all rings once; bytes is the number of bytes read. Does nothing if rings overwrite themselves. */
TALLY_MUST_CHECK enum tally_status recorder_drain(
	struct recorder *recorder, const struct record_sink *sink, uint64_t *bytes, struct tally_error *err);
/* One ring (of a CPU; of a thread with per_thread); adds to bytes. Different rings from different threads at a time. */
TALLY_MUST_CHECK enum tally_status recorder_drain_ring(struct recorder *recorder, size_t ring,
	const struct record_sink *sink, uint64_t *bytes, struct tally_error *err);
/* For callers that read records in place: the contents of a ring (there are recorder_ring_count, numbered as their
 * fds), and the release of its oldest bytes. Not for rings that overwrite themselves. */
size_t recorder_ring_count(const struct recorder *recorder);
size_t recorder_ring_peek(struct recorder *recorder, size_t ring, struct tally_bytes slices[2]);
void recorder_ring_release(struct recorder *recorder, size_t ring, uint64_t bytes);
/* Sets the samples per second of all events that sample by frequency. False: the kernel refuses the value. */
bool recorder_set_freq(struct recorder *recorder, uint64_t freq);
/* A descriptor to wait for; -1: nothing writes into this ring. */
int recorder_ring_fd(const struct recorder *recorder, size_t ring);
/* For rings that overwrite themselves: reads the records since the last call that still exist, the newest of a ring
 * first. */
TALLY_MUST_CHECK enum tally_status recorder_snapshot(
	struct recorder *recorder, const struct record_sink *sink, uint64_t *bytes, struct tally_error *err);
/* Whether all threads of the target have ended. Always false for a system-wide recording. */
bool recorder_target_is_over(const struct recorder *recorder);
/* The number of this source's events that the kernel could not store; 0 if the kernel does not count them. */
uint64_t recorder_lost(const struct recorder *recorder, const struct recorder_source *source);

#endif
