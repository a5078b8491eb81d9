/*
 * counter.h - counts events of a thread, a process or a CPU: the two-line way, and groups with scaled values.
 *
 * A counter belongs to the caller (tally_counter_close) and is used by one thread at a time. It holds one descriptor
 * per event. Counts go on from opening to closing unless disabled. Every function accepts a NULL counter: it counts 0.
 * What the machine cannot count is never replaced in silence: name alternatives yourself with '|', and ask
 * tally_counter_label which one counts.
 *
 *	struct tally_counter *c = tally_counter_open("cache-misses:u|page-faults:u", NULL, NULL);
 *	printf("%llu %s\n", (unsigned long long)tally_counter_value(c), tally_counter_label(c));
 *
 * Source: perf_event_open(2). Event names are those of `tally stat -e`.
 */
#ifndef TALLY_COUNTER_H
#define TALLY_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tally_counter;

struct tally_counter_options { /* all zero but cpu = -1: what NULL means */
	pid_t pid; /* 0: the calling thread; -1: every process on cpu (needs privileges) */
	int cpu; /* -1: any CPU */
	bool inherit; /* threads and processes that pid makes from now on count too */
	bool starts_disabled; /* counts only after tally_counter_enable */
};

struct tally_count {
	const char *name; /* of the event, with modifiers; valid until the counter is closed */
	uint64_t value; /* scaled: what it would be, had the event been on the PMU all the time */
	uint64_t raw_value; /* as counted */
	uint64_t enabled_ns; /* since when the event has wanted to count */
	uint64_t running_ns; /* for how long of that it was on the PMU; 0: never, value is unknown */
};

/* Opens "cycles", "{branches,branch-misses}:u", "cs,page-faults" ... A '|' separates alternatives: the first of which
 * this machine can count every event is taken. NULL: err (may be NULL) tells why the first alternative failed:
 * TALLY_UNSUPPORTED the machine lacks it, TALLY_DENIED a permission is missing, TALLY_NOT_FOUND no such event or
 * thread, TALLY_INVALID the text is malformed, err->offset is the column. */
TALLY_API struct tally_counter *tally_counter_open(
	const char *events, const struct tally_counter_options *options, struct tally_error *err);
TALLY_API void tally_counter_close(struct tally_counter *counter);

/* The scaled count of the first event now; 0 if it cannot be read. Its unit is that of the event: ns for clocks. */
TALLY_API uint64_t tally_counter_value(struct tally_counter *counter);
/* Which alternative counts, as it was written; "nothing" for NULL. Valid until the counter is closed. */
TALLY_API const char *tally_counter_label(const struct tally_counter *counter);
/* NULL if the first alternative counts; else why it does not: one sentence. Valid until the counter is closed. */
TALLY_API const char *tally_counter_fallback_reason(const struct tally_counter *counter);

/* How many events there are. */
TALLY_API size_t tally_counter_len(const struct tally_counter *counter);
/* Reads all events, a group in one go, so that its members cover the same time. counts has room for len entries; fewer
 * or more are TALLY_INVALID. */
TALLY_API enum tally_status tally_counter_read(
	struct tally_counter *counter, struct tally_count *counts, size_t len, struct tally_error *err);

TALLY_API void tally_counter_enable(struct tally_counter *counter);
TALLY_API void tally_counter_disable(struct tally_counter *counter);
/* Counts from 0 again; the times go on. */
TALLY_API void tally_counter_reset(struct tally_counter *counter);

#ifdef __cplusplus
}
#endif

#endif
