/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - samples one event of a thread or a CPU into a ring, and hands the samples out one by one.
 *
 * A sampler belongs to the caller (tally_sampler_close) and is used by one thread at a time. What the machine cannot
 * sample is never replaced in silence: name alternatives yourself with '|', and ask tally_sampler_label which one
 * samples. A sample and all that it points to is valid until the next call with its sampler.
 *
 *	struct tally_sampler_options options;
 *	tally_sampler_options_init(&options);
 *	options.event = "cycles:u|cpu-clock:u";
 *	struct tally_sampler *sampler = tally_sampler_open(&options, &err);
 *	while (tally_sampler_wait(sampler, -1, &err) == TALLY_OK)
 *		while (tally_sampler_next(sampler, &sample, &err) == TALLY_OK)
 *			printf("%llx\n", (unsigned long long)sample.ip);
 *
 * What options do not name is reached by options.attr: all fields of perf_event_attr.
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

struct tally_sampler_options { /* see tally_sampler_options_init */
	const char *event; /* NULL with attr */
	uint64_t period; /* a sample each so many events; 0: use frequency */
	uint64_t frequency; /* samples per second; 0 and no period: 4000 */
	pid_t thread; /* 0: the calling thread; -1: whatever runs on one_cpu (needs privileges) */
	int one_cpu; /* with is_on_one_cpu: the number of that CPU */
	bool is_on_one_cpu; /* samples on one_cpu only; otherwise on any */
	bool with_branches; /* the last branches, which needs a PMU that records them */
	bool starts_disabled; /* samples only after tally_sampler_enable */
	bool wakes_at_once; /* wait returns for each sample, not when the ring is half full */
	bool is_overwriting; /* keeps the newest samples, which come newest first; wait does not wake */
	size_t ring_bytes; /* 0: 128 KiB; rounded up to a power of two of pages */
	uint64_t sample_type; /* more PERF_SAMPLE_... than IP, TID, TIME, CPU and PERIOD */
	const void
		*attr; /* a whole struct perf_event_attr, taken as it is, instead of all but thread, CPU, ring_bytes */
	uint64_t reserved[4]; /* 0 */
};

struct tally_branch { /* as the kernel writes it */
	uint64_t from, to;
	uint64_t flags; /* bit 0 mispredicted, bit 1 predicted (neither: the CPU does not tell), then as the kernel's */
};

struct tally_registers {
	uint64_t abi; /* PERF_SAMPLE_REGS_ABI_...; 0: none */
	uint64_t mask; /* which: a value for each bit, from the lowest */
	const uint64_t *values;
	size_t count;
};

struct tally_sample { /* what the event's sample_type lacks is 0 */
	uint64_t present; /* PERF_SAMPLE_... */
	uint64_t ip;
	uint64_t time_ns;
	uint64_t period; /* events that this sample stands for */
	pid_t pid, tid;
	uint32_t cpu;
	bool is_kernel;
	uint16_t misc; /* of the record: PERF_RECORD_MISC_... */
	uint64_t address, physical_address;
	uint64_t id, stream_id, cgroup;
	uint64_t weight, data_source, transaction; /* as the kernel's bits */
	uint64_t data_page_bytes, code_page_bytes;
	const uint64_t *callchain; /* with PERF_CONTEXT_... marks */
	size_t callchain_count;
	const struct tally_branch *branches; /* newest first */
	size_t branch_count;
	struct tally_registers user_registers, interrupted_registers;
	struct tally_slice user_stack; /* as much as was copied */
	struct tally_slice raw; /* of a tracepoint: its fields */
	struct tally_slice aux;
	struct tally_reading reading; /* of PERF_SAMPLE_READ */
	struct tally_slice readings; /* its raw entries, for tally_sample_reading */
	uint64_t read_format;
};

/* What a sampler of the calling thread starts from; event is to be set.
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

/* NULL: err (may be NULL) tells why the first alternative failed: TALLY_UNSUPPORTED the machine lacks it, TALLY_DENIED a
 * permission is missing, TALLY_NOT_FOUND no such event or thread, TALLY_LIMIT the ring is larger than may be locked,
 * TALLY_INVALID the text is malformed.
 * Threads: any; a sampler of the calling thread samples the one that calls. */
TALLY_API struct tally_sampler *tally_sampler_open(
	const struct tally_sampler_options *options, struct tally_error *err);
/* Closes all; NULL is fine.
 * Threads: one at a time for a sampler, the last. */
TALLY_API void tally_sampler_close(struct tally_sampler *sampler);

/* Samples from now on.
 * Threads: any. */
TALLY_API void tally_sampler_enable(struct tally_sampler *sampler);
/* Samples no more until enabled.
 * Threads: any. */
TALLY_API void tally_sampler_disable(struct tally_sampler *sampler);
/* Sleeps until there may be samples or timeout_ms (-1: none) is over. TALLY_END: the thread has ended; what is left can
 * still be taken.
 * Threads: one at a time for a sampler. */
TALLY_API enum tally_status tally_sampler_wait(struct tally_sampler *sampler, int timeout_ms, struct tally_error *err);
/* The next sample; TALLY_END: the ring is empty for now.
 * Threads: one at a time for a sampler. */
TALLY_API enum tally_status tally_sampler_next(
	struct tally_sampler *sampler, struct tally_sample *sample, struct tally_error *err);
/* Samples that found the ring full, as far as they are known.
 * Threads: one at a time for a sampler. */
TALLY_API uint64_t tally_sampler_lost(const struct tally_sampler *sampler);
/* The event's descriptor, for tally/fd.h; it stays the sampler's.
 * Threads: any. */
TALLY_API int tally_sampler_fd(const struct tally_sampler *sampler);

/* Which alternative samples, as it was written; valid until the sampler is closed.
 * Threads: any. */
TALLY_API const char *tally_sampler_label(const struct tally_sampler *sampler);
/* NULL if the first alternative samples; else why it does not: one sentence. Valid until the sampler is closed.
 * Threads: any. */
TALLY_API const char *tally_sampler_fallback_reason(const struct tally_sampler *sampler);

/* Decodes a PERF_RECORD_SAMPLE of a ring (tally/ring.h) by the struct perf_event_attr that its event was opened with;
 * what it points to is the record's. TALLY_INVALID: it is no sample; TALLY_CORRUPT: it is not one of that attr.
 * Threads: any. */
TALLY_API enum tally_status tally_sample_decode(
	const void *attr, const struct tally_record *record, struct tally_sample *sample, struct tally_error *err);
/* The count of one event of the group that a sample with PERF_SAMPLE_READ carries; index is below reading.count.
 * Threads: any. */
TALLY_API struct tally_reading_value tally_sample_reading(const struct tally_sample *sample, size_t index);

#ifdef __cplusplus
}
#endif

#endif
