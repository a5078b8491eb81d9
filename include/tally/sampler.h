/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - samples one event of a thread or a CPU into a ring, and returns the samples one by one.
 *
 * A sampler belongs to the caller (tally_sampler_close) and is used by one thread at a time. An event that the machine
 * cannot sample is never replaced silently. Callers name alternatives with '|', and tally_sampler_label returns the one
 * that samples. A sample and all that it points to are valid until the next call with its sampler.
 *
 *	struct tally_sampler_options options;
 *	tally_sampler_options_init(&options);
 *	options.event = "cycles:u|cpu-clock:u";
 *	struct tally_sampler *sampler = tally_sampler_open(&options, &err);
 *	while (tally_sampler_wait(sampler, -1, &err) == TALLY_OK)
 *		while (tally_sampler_next(sampler, &sample, &err) == TALLY_OK)
 *			printf("%llx\n", (unsigned long long)sample.ip);
 *
 * options.attr sets any field of perf_event_attr that the other options do not cover.
 *
 * Source: perf_event_open(2), "MMAP layout". Event names are those of `tally record -e`.
 */
#ifndef TALLY_SAMPLER_H
#define TALLY_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <tally/fd.h>
#include <tally/ring.h>
#include <tally/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tally_sampler;

struct tally_sampler_options { /* tally_sampler_options_init sets the defaults. */
	const char *event; /* Name of the event, with alternatives; ignored with attr. */
	/* Number of events per sample; 0 to use the period or frequency in the name of event, or else frequency. */
	uint64_t period;
	uint64_t frequency; /* Samples per second, if neither period nor event sets a period or frequency; 0 is 4000. */
	/* Thread to sample; 0 is the calling thread, -1 every thread on one_cpu (requires is_on_one_cpu and
	 * privileges). */
	pid_t thread;
	int one_cpu; /* Number of the CPU to sample; used only with is_on_one_cpu. */
	bool is_on_one_cpu; /* Samples on one_cpu only, instead of on all CPUs. */
	bool with_branches; /* Adds the last branches to samples; requires a PMU that records them. */
	bool starts_disabled; /* Does not sample before tally_sampler_enable. */
	bool wakes_at_once; /* tally_sampler_wait returns for each sample, instead of when the ring is half full. */
	/* Overwrites the oldest samples and returns the newest first; tally_sampler_wait does not wake. */
	bool is_overwriting;
	size_t ring_bytes; /* Rounded up to a power of two of pages; 0 is 128 KiB. */
	uint64_t sample_type; /* PERF_SAMPLE_... bits in addition to IP, TID, TIME, CPU and PERIOD. */
	/* NULL, or a struct perf_event_attr to open unchanged. Of the other options, only thread, one_cpu,
	 * is_on_one_cpu and ring_bytes are then used. */
	const void *attr;
	uint64_t reserved[4]; /* Must be 0. */
};

struct tally_branch { /* In the format of struct perf_branch_entry. */
	uint64_t from, to;
	/* Bit 0: mispredicted, bit 1: predicted (neither: unknown); the others as in the kernel's structure. */
	uint64_t flags;
};

struct tally_registers {
	uint64_t abi; /* One of PERF_SAMPLE_REGS_ABI_...; 0 if there are no registers. */
	uint64_t mask; /* Bits of the registers (PERF_REG_...); values has one element per bit, from the lowest. */
	const uint64_t *values;
	size_t count;
};

struct tally_sample { /* Fields that the sample_type of the event does not contain are 0. */
	uint64_t present; /* PERF_SAMPLE_... bits of the fields that the sample contains. */
	uint64_t ip;
	uint64_t time_ns;
	uint64_t period; /* Number of events that this sample stands for. */
	pid_t pid, tid;
	uint32_t cpu;
	bool is_kernel; /* The sample was taken in kernel mode. */
	uint16_t misc; /* PERF_RECORD_MISC_... bits of the record. */
	uint64_t address, physical_address;
	uint64_t id, stream_id, cgroup;
	uint64_t weight, data_source, transaction; /* In the kernel's encoding. */
	uint64_t data_page_bytes, code_page_bytes;
	const uint64_t *callchain; /* Addresses with PERF_CONTEXT_... markers, innermost first. */
	size_t callchain_count;
	const struct tally_branch *branches; /* Newest first. */
	size_t branch_count;
	struct tally_registers user_registers, interrupted_registers;
	struct tally_slice user_stack; /* The part of the stack that the kernel copied. */
	struct tally_slice raw; /* For a tracepoint: its fields. */
	struct tally_slice aux; /* The part of the AUX area that the kernel copied. */
	struct tally_reading reading; /* Counts of the event or its group, with PERF_SAMPLE_READ. */
	struct tally_slice readings; /* Encoded counts of all events of the group, for tally_sample_reading. */
	uint64_t read_format; /* The read_format of the attr, for tally_sample_reading; 0 without PERF_SAMPLE_READ. */
};

/* Sets the options for a sampler of the calling thread; the caller then sets event.
 * Threads: any. */
static inline void tally_sampler_options_init(struct tally_sampler_options *options)
{
	memset(options, 0, sizeof(*options));
}

static inline bool tally_branch_is_mispredicted(const struct tally_branch *branch)
{
	return (branch->flags & 1) != 0;
}

static inline bool tally_branch_is_predicted(const struct tally_branch *branch)
{
	return (branch->flags & 2) != 0;
}

/* Opens a sampler. NULL options name no event, which is TALLY_INVALID. Returns NULL on failure, and err (which may be
 * NULL) says why the first alternative failed: TALLY_UNSUPPORTED if the machine lacks the event, TALLY_DENIED if a
 * permission is missing, TALLY_NOT_FOUND if there is no such event or thread, TALLY_LIMIT if the ring is larger than
 * the memory that may be locked, and TALLY_INVALID if the text is malformed or names several events.
 * Threads: any; a sampler of the calling thread samples the thread that calls. */
TALLY_API struct tally_sampler *tally_sampler_open(
	const struct tally_sampler_options *options, struct tally_error *err);
/* Closes the sampler and its descriptor; NULL is allowed.
 * Threads: one at a time for a sampler, and no other call may follow. */
TALLY_API void tally_sampler_close(struct tally_sampler *sampler);

/* Starts sampling.
 * Threads: any. */
TALLY_API void tally_sampler_enable(struct tally_sampler *sampler);
/* Stops sampling until tally_sampler_enable.
 * Threads: any. */
TALLY_API void tally_sampler_disable(struct tally_sampler *sampler);
/* Waits until there may be samples, timeout_ms has passed (-1: no timeout) or a signal was caught; returns TALLY_OK in
 * these cases. Returns TALLY_END if the thread has ended; its remaining samples can still be read.
 * Threads: one at a time for a sampler. */
TALLY_API enum tally_status tally_sampler_wait(struct tally_sampler *sampler, int timeout_ms, struct tally_error *err);
/* Reads the next sample. Returns TALLY_END if the ring is empty at the moment, and TALLY_CORRUPT if a sample is
 * malformed.
 * Threads: one at a time for a sampler. */
TALLY_API enum tally_status tally_sampler_next(
	struct tally_sampler *sampler, struct tally_sample *sample, struct tally_error *err);
/* Returns the number of samples that the kernel has reported as lost so far.
 * Threads: one at a time for a sampler. */
TALLY_API uint64_t tally_sampler_lost(const struct tally_sampler *sampler);
/* Returns the descriptor of the event, for tally/fd.h; it remains owned by the sampler.
 * Threads: any. */
TALLY_API int tally_sampler_fd(const struct tally_sampler *sampler);

/* Returns the text of the alternative that samples; valid until the sampler is closed.
 * Threads: any. */
TALLY_API const char *tally_sampler_label(const struct tally_sampler *sampler);
/* Returns a sentence that says why the first alternative does not sample, or NULL if it does; valid until the sampler
 * is closed.
 * Threads: any. */
TALLY_API const char *tally_sampler_fallback_reason(const struct tally_sampler *sampler);

/* Decodes a PERF_RECORD_SAMPLE of a ring (tally/ring.h) by the struct perf_event_attr that its event was opened with.
 * Pointers of the sample point into the record. Returns TALLY_INVALID if the record is not a sample, and TALLY_CORRUPT
 * if it does not have the format that attr describes.
 * Threads: any. */
TALLY_API enum tally_status tally_sample_decode(
	const void *attr, const struct tally_record *record, struct tally_sample *sample, struct tally_error *err);
/* Decodes the count of one event of the group from a sample with PERF_SAMPLE_READ; all fields are 0 if index is not
 * below reading.count.
 * Threads: any. */
TALLY_API struct tally_reading_value tally_sample_reading(const struct tally_sample *sample, size_t index);

#ifdef __cplusplus
}
#endif

#endif
