/*
 * sampler.h - samples one event of a thread or a CPU into a ring, and hands the samples out one by one.
 *
 * A sampler belongs to the caller (tally_sampler_close) and is used by one thread at a time. What the machine cannot
 * sample is never replaced in silence: name alternatives yourself with '|', and ask tally_sampler_label which one
 * samples. A sample is valid until the next call with its sampler.
 *
 *	struct tally_sampler_options options = {.event = "cycles:u|cpu-clock:u", .period = 100000, .cpu = -1};
 *	struct tally_sampler *sampler = tally_sampler_open(&options, &err);
 *	while (tally_sampler_wait(sampler, -1, &err) == TALLY_OK)
 *		while (tally_sampler_next(sampler, &sample, &err) == TALLY_OK)
 *			printf("%llx\n", (unsigned long long)sample.ip);
 *
 * Source: perf_event_open(2), "MMAP layout". Event names are those of `tally record -e`.
 */
#ifndef TALLY_SAMPLER_H
#define TALLY_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tally_sampler;

struct tally_sampler_options {
	const char *event;
	uint64_t period; /* a sample each so many events; 0: use frequency */
	uint64_t frequency; /* samples per second; 0 and no period: 4000 */
	pid_t thread; /* 0: the calling thread; -1: whatever runs on cpu (needs privileges) */
	int cpu; /* -1: any */
	bool with_branches; /* the last branches, which needs a PMU that records them */
	bool starts_disabled; /* samples only after tally_sampler_enable */
	bool wakes_at_once; /* wait returns for each sample, not when the ring is half full */
	size_t ring_bytes; /* 0: 128 KiB; rounded up to a power of two of pages */
};

struct tally_branch {
	uint64_t from, to;
	bool is_mispredicted, is_predicted; /* neither: the CPU does not tell */
};

struct tally_sample {
	uint64_t ip;
	uint64_t time_ns;
	uint64_t period; /* events that this sample stands for */
	pid_t pid, tid;
	uint32_t cpu;
	bool is_kernel;
	const struct tally_branch *branches; /* newest first */
	size_t branch_count;
};

/* NULL: err (may be NULL) tells why the first alternative failed: TALLY_UNSUPPORTED the machine lacks it, TALLY_DENIED a
 * permission is missing, TALLY_NOT_FOUND no such event or thread, TALLY_INVALID the text is malformed. */
TALLY_API struct tally_sampler *tally_sampler_open(
	const struct tally_sampler_options *options, struct tally_error *err);
TALLY_API void tally_sampler_close(struct tally_sampler *sampler);

TALLY_API void tally_sampler_enable(struct tally_sampler *sampler);
TALLY_API void tally_sampler_disable(struct tally_sampler *sampler);
/* Sleeps until there may be samples or timeout_ms (-1: none) is over. TALLY_END: the thread has ended; what is left can
 * still be taken. */
TALLY_API enum tally_status tally_sampler_wait(struct tally_sampler *sampler, int timeout_ms, struct tally_error *err);
/* The next sample; TALLY_END: the ring is empty for now. */
TALLY_API enum tally_status tally_sampler_next(
	struct tally_sampler *sampler, struct tally_sample *sample, struct tally_error *err);
/* Samples that found the ring full, as far as they are known. */
TALLY_API uint64_t tally_sampler_lost(const struct tally_sampler *sampler);

/* Which alternative samples, as it was written; valid until the sampler is closed. */
TALLY_API const char *tally_sampler_label(const struct tally_sampler *sampler);
/* NULL if the first alternative samples; else why it does not: one sentence. Valid until the sampler is closed. */
TALLY_API const char *tally_sampler_fallback_reason(const struct tally_sampler *sampler);

#ifdef __cplusplus
}
#endif

#endif
