/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timechart_io.h"

#include <errno.h>

#include "base/array.h"

#define MAX_ERRNO 4095

static const struct {
	const char *name;
	enum span_kind kind;
	bool has_bytes;
} calls[] = {
	{"read", SPAN_READ, true},
	{"pread64", SPAN_READ, true},
	{"readv", SPAN_READ, true},
	{"preadv", SPAN_READ, true},
	{"preadv2", SPAN_READ, true},
	{"write", SPAN_WRITE, true},
	{"pwrite64", SPAN_WRITE, true},
	{"writev", SPAN_WRITE, true},
	{"pwritev", SPAN_WRITE, true},
	{"pwritev2", SPAN_WRITE, true},
	{"sync", SPAN_SYNC, false},
	{"syncfs", SPAN_SYNC, false},
	{"sync_file_range", SPAN_SYNC, false},
	{"fsync", SPAN_SYNC, false},
	{"fdatasync", SPAN_SYNC, false},
	{"msync", SPAN_SYNC, false},
	{"recvfrom", SPAN_RECEIVE, true},
	{"recvmmsg", SPAN_RECEIVE, false},
	{"recvmsg", SPAN_RECEIVE, true},
	{"sendto", SPAN_SEND, true},
	{"sendmsg", SPAN_SEND, true},
	{"sendmmsg", SPAN_SEND, false},
	{"epoll_pwait", SPAN_POLL, false},
	{"epoll_pwait2", SPAN_POLL, false},
	{"epoll_wait", SPAN_POLL, false},
	{"poll", SPAN_POLL, false},
	{"ppoll", SPAN_POLL, false},
	{"pselect6", SPAN_POLL, false},
	{"select", SPAN_POLL, false},
};

const char *timechart_call_name(size_t index)
{
	return index < ARRAY_LEN(calls) ? calls[index].name : NULL;
}

bool timechart_call_of(struct tally_str event, struct timechart_call *call)
{
	static const struct tally_str entry = {"syscalls:sys_enter_", 19}, leave = {"syscalls:sys_exit_", 18};
	bool is_entry = str_starts_with(event, entry);
	if (!is_entry && !str_starts_with(event, leave))
		return false;
	size_t start = is_entry ? entry.len : leave.len;
	const struct tally_str name = {event.data + start, event.len - start};
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (str_equal(name, str_from(calls[i].name))) {
			*call = (struct timechart_call){calls[i].kind, is_entry, calls[i].has_bytes};
			return true;
		}
	return false;
}

void timechart_io_deinit(struct timechart_io *io)
{
	vec_free(&io->pending);
}

bool timechart_io_enter(
	struct timechart_io *io, uint32_t track, const struct timechart_call *call, const struct timechart_entry *entry)
{
	while (io->pending.len <= track)
		if (!vec_push(&io->pending, ((struct timechart_pending){0})))
			return false;
	io->pending.items[track] = (struct timechart_pending){*entry, *call, true};
	tracks_see(io->tracks, track, entry->time_ns);
	return true;
}

/* Merges a call with the last one of the track. Returns false if that differs in kind, descriptor or error, or lies too
 * far back. */
static bool timechart_io_extend(const struct timechart_io *io, uint32_t track, const struct track_span *call)
{
	struct track *of = &io->tracks->tracks.items[track];
	struct track_span *last = of->spans.len > 0 ? &of->spans.items[of->spans.len - 1] : NULL;
	if (!last || last->kind != call->kind || last->detail != call->detail || last->error != call->error ||
		call->start_ns < last->end_ns || call->start_ns - last->end_ns > io->merge_ns)
		return false;
	last->end_ns = call->end_ns;
	last->held_ns += call->held_ns;
	last->bytes += call->bytes;
	last->count++;
	if (last->text != call->text)
		last->text = INTERN_NONE;
	of->sums[call->kind].count++;
	of->sums[call->kind].ns += call->held_ns;
	of->sums[call->kind].bytes += call->bytes;
	tracks_see(io->tracks, track, call->end_ns);
	return true;
}

static struct track_span span_of(const struct timechart_pending *pending, uint64_t end_ns)
{
	return (struct track_span){.start_ns = pending->entry.time_ns,
		.end_ns = end_ns,
		.held_ns = end_ns - pending->entry.time_ns,
		.count = 1,
		.detail = pending->entry.descriptor,
		.text = pending->entry.text,
		.kind = (uint8_t)pending->call.kind};
}

bool timechart_io_exit(
	struct timechart_io *io, uint32_t track, const struct timechart_call *call, uint64_t time_ns, int64_t result)
{
	struct timechart_pending *pending = track < io->pending.len ? &io->pending.items[track] : NULL;
	if (!pending || !pending->is_inside || pending->call.kind != call->kind || time_ns < pending->entry.time_ns)
		return true;
	pending->is_inside = false;
	if (io->skips_eagain && result == -EAGAIN)
		return true;
	struct track_span span = span_of(pending, time_ns);
	if (result > 0 && call->has_bytes)
		span.bytes = (uint64_t)result;
	if (result < 0 && result >= -MAX_ERRNO)
		span.error = (uint16_t)-result;
	return timechart_io_extend(io, track, &span) || tracks_span(io->tracks, track, &span);
}

void timechart_io_forget(struct timechart_io *io, uint32_t track)
{
	if (track < io->pending.len)
		io->pending.items[track].is_inside = false;
}

bool timechart_io_finish(struct timechart_io *io)
{
	for (uint32_t i = 0; i < io->pending.len; i++) {
		if (!io->pending.items[i].is_inside || io->pending.items[i].entry.time_ns > io->tracks->end_ns)
			continue;
		struct track_span span = span_of(&io->pending.items[i], io->tracks->end_ns);
		span.is_cut = true;
		if (!tracks_span(io->tracks, i, &span))
			return false;
	}
	return true;
}
