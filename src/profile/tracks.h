/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracks.h - stores what happened over time: spans on the tracks of CPUs and tasks, arrows between tracks, and levels
 * along a track. It is the content of a timechart, independent of records and pixels.
 *
 * The caller owns the struct and calls tracks_deinit. One thread. Memory is bounded: when there are too many items,
 * short spans are merged at an increasingly coarse resolution; sums stay exact. Functions return false when out of
 * memory.
 *
 *	tracks_init(&t, TRACKS_MAX_ITEMS);
 *	uint32_t cpu = tracks_add(&t, TRACK_CPU, 0, 0);
 *	tracks_span(&t, cpu, &(struct track_span){.start_ns = 10, .end_ns = 20, .kind = SPAN_RUNNING, ...});
 *	tracks_finish(&t);
 */
#ifndef PROFILE_TRACKS_H
#define PROFILE_TRACKS_H

#include "base/intern.h"
#include "base/vec.h"

#define TRACKS_MAX_ITEMS (4u << 20) /* About 250 MB, enough for an hour of 2 CPUs with 1000 switches per second. */
#define TRACKS_MAX_TEXTS (1u << 18) /* Maximum number of distinct backtraces; later ones are dropped. */
#define TRACK_NONE	 UINT32_MAX
#define TRACK_MIXED	 UINT32_MAX /* Detail of merged spans with different details. */

enum track_kind { TRACK_CPU, TRACK_TASK };

/* What happened in a span. A task sleeps in the gaps between its spans. */
enum span_kind {
	SPAN_RUNNING,
	SPAN_WAITING, /* Waiting for a CPU. */
	SPAN_BLOCKED, /* Uninterruptible wait, usually for a device. */
	SPAN_IDLE, /* A CPU is idle. */
	SPAN_READ,
	SPAN_WRITE,
	SPAN_RECEIVE,
	SPAN_SEND,
	SPAN_SYNC,
	SPAN_POLL,
	/* Waits for a lock, for data, and by sleeping, as the recorded state of the wait says. */
	SPAN_LOCK,
	SPAN_DATA,
	SPAN_SLEEP,
	SPAN_KINDS
};
#define SPAN_IO_FIRST SPAN_READ

struct track_span {
	uint64_t start_ns, end_ns;
	uint64_t held_ns; /* Duration of the state; less than the span if several were merged. */
	uint64_t bytes; /* Bytes of I/O. */
	uint32_t count; /* Number of merged spans, 1 if none were. */
	/* Running: on a task's track the CPU, on a CPU's track the track of the task. Waiting: the track of the task
	 * that woke it; TRACK_NONE if not known. Idle: the idle state. I/O: the descriptor. */
	uint32_t detail;
	uint32_t text; /* Backtrace, in strings; INTERN_NONE if there is none. */
	uint16_t error; /* errno of failed I/O. */
	uint8_t kind;
	bool is_cut; /* It began before the recording, or continues after it. */
};
struct track_spans {
	struct track_span *items;
	size_t len, cap;
};

struct track_sum {
	uint64_t count, ns, bytes;
};

struct track_name {
	uint64_t from_ns;
	uint32_t name; /* In strings. */
};

struct track_level {
	uint64_t time_ns;
	uint64_t value; /* Frequency in kHz from this time on. */
};

struct track {
	enum track_kind kind;
	int32_t id, pid; /* id is the tid of a task or the number of a CPU. */
	uint64_t first_ns, last_ns; /* First and last time at which it was seen; last_ns is 0 if never. */
	struct track_sum sums[SPAN_KINDS];
	VEC(struct track_name) names; /* In order of time. */
	struct track_spans spans; /* Sorted by start after tracks_finish. */
	VEC(struct track_level) levels;
};

struct track_arrow { /* The wake-up of a task by another one or by an interrupt. */
	uint64_t time_ns;
	uint32_t from, to; /* Tracks; from is TRACK_NONE for an interrupt. */
	uint32_t text; /* Backtrace, in strings; INTERN_NONE if there is none. */
};

struct tracks {
	VEC(struct track) tracks;
	VEC(struct track_arrow) arrows;
	struct intern strings;
	uint64_t start_ns, end_ns; /* Range of all times; end_ns is 0 if nothing was seen. */
	uint64_t resolution_ns; /* 0 if nothing was merged. */
	uint64_t arrows_dropped; /* Number of dropped arrows: their track had another arrow within the resolution. */
	uint64_t texts_dropped;
	size_t items, max_items;
	size_t texts;
};

void tracks_init(struct tracks *t, size_t max_items);
void tracks_deinit(struct tracks *t);
/* Adds a track. Returns TRACK_NONE when out of memory. */
uint32_t tracks_add(struct tracks *t, enum track_kind kind, int32_t id, int32_t pid);
/* Sets the track's name from this time on. Does nothing if it already has this name. */
bool tracks_name(struct tracks *t, uint32_t track, uint64_t time_ns, struct tally_str name);
/* Returns the last name of a track; empty if it has none. */
struct tally_str tracks_last_name(const struct tracks *t, const struct track *track);
/* Stores a backtrace. *id is INTERN_NONE if it is empty, or TRACKS_MAX_TEXTS backtraces are stored already. */
bool tracks_text(struct tracks *t, struct tally_str text, uint32_t *id);
/* Adds a span. held_ns 0 means the whole span, and count 0 means one. A span without length is counted (if it is not
 * cut) but not stored. */
bool tracks_span(struct tracks *t, uint32_t track, const struct track_span *span);
bool tracks_arrow(struct tracks *t, const struct track_arrow *arrow);
bool tracks_level(struct tracks *t, uint32_t track, uint64_t time_ns, uint64_t value);
/* Extends the time in which the track was seen. */
void tracks_see(struct tracks *t, uint32_t track, uint64_t time_ns);
/* Sorts the spans. If spans were merged before, merges the later ones at the same resolution. */
bool tracks_finish(struct tracks *t);
/* Merges all spans at twice the resolution, for finished tracks with too many items. */
bool tracks_coarsen(struct tracks *t);
/* Returns the spans at this resolution: shorter ones of the same kind that begin in the same interval are merged. */
bool track_merge(const struct track_spans *spans, uint64_t resolution_ns, struct track_spans *out);

#endif
