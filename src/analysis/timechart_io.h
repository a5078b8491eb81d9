/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_io.h - turns system calls that read, write, sync or wait for I/O into spans on the tracks of their threads.
 *
 * Adds to the tracks of a timechart, which it borrows. The caller owns it, sets the options and feeds events in order
 * of time; an exit without its entry is ignored. One thread. False: out of memory.
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
	uint32_t descriptor; /* TRACK_MIXED: the call has none */
	uint32_t text; /* a backtrace */
};

struct timechart_call {
	enum span_kind kind;
	bool is_entry;
	bool has_bytes; /* the result is their number */
};

struct timechart_pending { /* by track */
	struct timechart_entry entry;
	struct timechart_call call;
	bool is_inside;
};

struct timechart_io {
	struct tracks *tracks; /* borrowed */
	uint64_t merge_ns; /* merges calls of one kind and descriptor that are so close to one another */
	bool skips_eagain;
	VEC(struct timechart_pending) pending;
};

/* Recognizes an event by its name; false: it is not one of these. */
bool timechart_call_of(struct tally_str event, struct timechart_call *call);
/* Iterates over the names of the calls ("read"); NULL after the last. */
const char *timechart_call_name(size_t index);

void timechart_io_deinit(struct timechart_io *io);
bool timechart_io_enter(struct timechart_io *io, uint32_t track, const struct timechart_call *call,
	const struct timechart_entry *entry);
/* result: as the kernel returns it, a negative errno of failures. */
bool timechart_io_exit(
	struct timechart_io *io, uint32_t track, const struct timechart_call *call, uint64_t time_ns, int64_t result);
/* Forgets a thread that has ended. */
void timechart_io_forget(struct timechart_io *io, uint32_t track);
/* Spans that are open at the end of the tracks are cut there. */
bool timechart_io_finish(struct timechart_io *io);

#endif
