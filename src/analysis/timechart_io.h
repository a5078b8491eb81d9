/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_io.h - converts system calls that read, write, sync or wait for I/O into spans on the tracks of their
 * threads.
 *
 * It adds to the tracks of a timechart, which it borrows. The caller owns it, sets the options and feeds events in
 * order of time; an exit without its entry is ignored. One thread. Functions return false when out of memory.
 *
 *	struct timechart_call call;
 *	if (timechart_call_of(STR("syscalls:sys_enter_read"), &call) && call.is_entry) ...
 *		timechart_io_enter(&io, track, &call, &(struct timechart_entry){.time_ns = now, .descriptor = fd});
 *	timechart_io_exit(&io, track, &call, now, result);
 *	timechart_io_deinit(&io);
 */
#ifndef ANALYSIS_TIMECHART_IO_H
#define ANALYSIS_TIMECHART_IO_H

#include "profile/tracks.h"

struct timechart_entry {
	uint64_t time_ns;
	uint32_t descriptor; /* TRACK_MIXED if the call has no descriptor. */
	uint32_t text; /* Backtrace, as an ID of tracks_text. */
};

struct timechart_call {
	enum span_kind kind;
	bool is_entry;
	bool has_bytes; /* The result of the call is a number of bytes. */
};

struct timechart_pending { /* The system call that a track's thread is in. */
	struct timechart_entry entry;
	struct timechart_call call;
	bool is_inside;
};

struct timechart_io {
	struct tracks *tracks; /* Borrowed. */
	/* Calls with the same kind and descriptor are merged if the gap between them is at most this long. */
	uint64_t merge_ns;
	bool skips_eagain; /* Calls that failed with EAGAIN are left out. */
	VEC(struct timechart_pending) pending; /* Indexed by track. */
};

/* Recognizes an event by its name. Returns false if it is not one of these calls. */
bool timechart_call_of(struct tally_str event, struct timechart_call *call);
/* Iterates over the names of the calls ("read"). Returns NULL after the last one. */
const char *timechart_call_name(size_t index);

void timechart_io_deinit(struct timechart_io *io);
bool timechart_io_enter(struct timechart_io *io, uint32_t track, const struct timechart_call *call,
	const struct timechart_entry *entry);
/* result is the kernel's return value, a negative errno for failures. */
bool timechart_io_exit(
	struct timechart_io *io, uint32_t track, const struct timechart_call *call, uint64_t time_ns, int64_t result);
/* Drops the open call of a thread that has ended. */
void timechart_io_forget(struct timechart_io *io, uint32_t track);
/* Adds the calls that have not returned as spans that are cut at the end of the tracks. */
bool timechart_io_finish(struct timechart_io *io);

#endif
