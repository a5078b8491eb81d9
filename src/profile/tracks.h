/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracks.h - describes rows over time: spans on the tracks of CPUs and tasks, arrows between tracks, levels along a
 * track. It is the content of a timechart's picture, independent of records and pixels.
 *
 * The caller owns it (tracks_init). One thread. Memory is bounded: when there are more items than it may hold, short
 * spans are merged and the resolution gets coarser; sums stay exact. Functions return false when memory runs out.
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

#define TRACKS_MAX_ITEMS (4u << 20) /* some 250 MB; an hour of 2 CPUs that switch 1000 times a second has as many */
#define TRACKS_MAX_TEXTS (1u << 18) /* distinct backtraces; what comes later has none */
#define TRACK_NONE	 UINT32_MAX
#define TRACK_MIXED	 UINT32_MAX /* of merged spans: details that differ */

enum track_kind { TRACK_CPU, TRACK_TASK };

/* What a span shows. A task sleeps where it has none. */
enum span_kind {
	SPAN_RUNNING,
	SPAN_WAITING, /* for a CPU */
	SPAN_BLOCKED, /* uninterruptible: usually waits for a device */
	SPAN_IDLE, /* of a CPU */
	SPAN_READ,
	SPAN_WRITE,
	SPAN_RECEIVE,
	SPAN_SEND,
	SPAN_SYNC,
	SPAN_POLL,
	SPAN_LOCK, /* these: waits whose state was recorded */
	SPAN_DATA,
	SPAN_SLEEP,
	SPAN_KINDS
};
#define SPAN_IO_FIRST SPAN_READ

struct track_span {
	uint64_t start_ns, end_ns;
	uint64_t held_ns; /* how long the state lasted: less than the span if several were merged */
	uint64_t bytes; /* of I/O */
	uint32_t count; /* how many were merged; 1 */
	uint32_t
		detail; /* running: the CPU, or on a CPU's track the task's track; idle: the depth; I/O: the descriptor */
	uint32_t text; /* a backtrace, in the strings; INTERN_NONE */
	uint16_t error; /* errno of I/O that failed */
	uint8_t kind;
	bool is_cut; /* began before the recording, or continues after it */
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
	uint32_t name; /* in the strings */
};

struct track_level {
	uint64_t time_ns;
	uint64_t value; /* kHz; from here on */
};

struct track {
	enum track_kind kind;
	int32_t id, pid; /* tid of a task, number of a CPU */
	uint64_t first_ns, last_ns; /* when it was seen; last 0: never */
	struct track_sum sums[SPAN_KINDS];
	VEC(struct track_name) names; /* in order of time */
	struct track_spans spans; /* in order of their starts once finished */
	VEC(struct track_level) levels;
};

struct track_arrow {
	uint64_t time_ns;
	uint32_t from, to; /* tracks; from TRACK_NONE: an interrupt */
	uint32_t text;
};

struct tracks {
	VEC(struct track) tracks;
	VEC(struct track_arrow) arrows;
	struct intern strings;
	uint64_t start_ns, end_ns; /* of all; end 0: nothing was seen */
	uint64_t resolution_ns; /* 0: nothing was merged */
	uint64_t arrows_dropped; /* arrows to a track that had another arrow within the resolution */
	uint64_t texts_dropped;
	size_t items, max_items;
	size_t texts;
};

void tracks_init(struct tracks *t, size_t max_items);
void tracks_deinit(struct tracks *t);
/* TRACK_NONE: out of memory. */
uint32_t tracks_add(struct tracks *t, enum track_kind kind, int32_t id, int32_t pid);
/* Sets the track's name from then on. Does nothing if the track has this name already. */
bool tracks_name(struct tracks *t, uint32_t track, uint64_t time_ns, struct tally_str name);
/* The name it had last; empty if it has none. */
struct tally_str tracks_last_name(const struct tracks *t, const struct track *track);
/* Keeps a backtrace; INTERN_NONE in *text beyond TRACKS_MAX_TEXTS, and of an empty one. */
bool tracks_text(struct tracks *t, struct tally_str text, uint32_t *id);
/* held_ns 0 means the whole span, and count 0 means one. A span without length is counted (if it is not cut) but not
 * kept. */
bool tracks_span(struct tracks *t, uint32_t track, const struct track_span *span);
bool tracks_arrow(struct tracks *t, const struct track_arrow *arrow);
bool tracks_level(struct tracks *t, uint32_t track, uint64_t time_ns, uint64_t value);
/* Something was seen then. */
void tracks_see(struct tracks *t, uint32_t track, uint64_t time_ns);
/* Sorts the spans. If spans were merged before, merges the later ones at the same resolution. */
bool tracks_finish(struct tracks *t);
/* Merges all at twice the resolution; for tracks that are finished and still too many. */
bool tracks_coarsen(struct tracks *t);
/* The spans as they look at this resolution: shorter ones that begin in the same interval of it are merged, by kind. */
bool track_merge(const struct track_spans *spans, uint64_t resolution_ns, struct track_spans *out);

#endif
