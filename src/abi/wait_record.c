/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/wait_record.h"

#include "base/error.h"

static const char *const wait_record_states[WAIT_STATES] = {
	[WAIT_RUNNING] = "running",
	[WAIT_RUNNABLE] = "runnable",
	[WAIT_SLEEPING] = "sleep",
	[WAIT_UNINTERRUPTIBLE] = "uninterruptible",
	[WAIT_STOPPED] = "stopped",
	[WAIT_DISK] = "disk",
	[WAIT_FUTEX] = "lock",
	[WAIT_POLL] = "poll",
	[WAIT_IO] = "io",
	[WAIT_OTHER] = "other",
	[WAIT_UNTOLD] = "off-cpu",
	[WAIT_THROTTLED] = "throttled",
};

struct tally_str wait_state_name(enum wait_state state)
{
	return str_from((unsigned)state < WAIT_STATES ? wait_record_states[state] : "?");
}

struct tally_str wait_source_name(uint64_t source)
{
	static const char *const names[WAIT_SOURCES] = {[WAIT_SOURCE_BPF] = "bpf",
		[WAIT_SOURCE_TRACEPOINTS] = "tracepoints",
		[WAIT_SOURCE_SWITCHES] = "switches"};
	return str_from(source > WAIT_SOURCE_UNKNOWN && source < WAIT_SOURCES ? names[source] : "?");
}

const char *wait_source_limits(uint64_t source)
{
	static const char *const limits[WAIT_SOURCES] = {
		[WAIT_SOURCE_TRACEPOINTS] =
			"from the sched tracepoints: stacks are cut after 16 KiB, and waits are missing "
			"where rings were full",
		[WAIT_SOURCE_SWITCHES] =
			"from context-switch records and /proc: wakers are not known, waits include the "
			"time until the thread ran, and short waits may lack their state (other) and stack"};
	return source < WAIT_SOURCES ? limits[source] : NULL;
}

/* perf's own raw data, if present, precedes the record. */
static struct cursor wait_record_find(struct tally_bytes raw, bool swap)
{
	struct cursor c = cursor_make(raw, swap), behind = c;
	if (cursor_u32(&c) == WAIT_RECORD_MAGIC) /* No process ID reaches the magic number. */
		return behind;
	cursor_skip(&behind, 2 * sizeof(uint32_t) + sizeof(uint64_t));
	uint64_t frames = cursor_u64(&behind);
	if (cursor_count(&behind, frames, sizeof(uint64_t)))
		cursor_skip(&behind, (size_t)(frames + 1) * sizeof(uint64_t));
	return behind;
}

bool wait_record_is(struct tally_bytes raw, bool swap)
{
	struct cursor c = wait_record_find(raw, swap);
	return cursor_u32(&c) == WAIT_RECORD_MAGIC;
}

enum tally_status wait_record_decode(
	struct tally_bytes raw, bool swap, struct wait_record *wait, struct tally_error *err)
{
	struct cursor c = wait_record_find(raw, swap);
	struct wait_record w;
	uint32_t magic = cursor_u32(&c);
	uint16_t version = cursor_u16(&c);
	uint8_t state = cursor_u8(&c);
	w.flags = cursor_u8(&c);
	w.count = cursor_u64(&c);
	w.syscall = (int32_t)cursor_u32(&c);
	w.waker_pid = cursor_u32(&c);
	w.waker_tid = cursor_u32(&c);
	uint32_t frames = cursor_u32(&c);
	w.waker_comm = cursor_text(&c, WAIT_RECORD_COMM);
	if (c.failed || magic != WAIT_RECORD_MAGIC)
		return error_set(err, TALLY_CORRUPT, "a wait of %zu bytes is cut", raw.len);
	if (version != WAIT_RECORD_VERSION)
		return error_set(err, TALLY_UNSUPPORTED, "a wait has version %u, and this tally knows version %u",
			version, WAIT_RECORD_VERSION);
	if (state == WAIT_RUNNING || state == WAIT_UNTOLD || state >= WAIT_STATES)
		return error_set(err, TALLY_CORRUPT, "a wait has state %u, which does not exist", state);
	if (frames > WAIT_RECORD_FRAMES_MOST || !cursor_count(&c, frames, sizeof(uint64_t)))
		return error_set(err, TALLY_CORRUPT, "a wait of %zu bytes cannot hold the %u frames of its waker",
			raw.len, frames);
	w.state = (enum wait_state)state;
	w.waker_ips = (struct sample_array){cursor_take(&c, frames * sizeof(uint64_t)), frames};
	w.end_ns = w.flags & WAIT_FLAG_END ? cursor_u64(&c) : 0;
	if (c.failed)
		return error_set(err, TALLY_CORRUPT, "a wait of %zu bytes is cut", raw.len);
	*wait = w;
	return TALLY_OK;
}

void wait_record_encode(struct writer *w, const struct sample *sample, const struct wait_record *wait)
{
	size_t name = MIN(wait->waker_comm.len, (size_t)WAIT_RECORD_COMM);
	uint32_t frames = MIN(wait->waker_ips.count, (uint32_t)WAIT_RECORD_FRAMES_MOST);
	writer_u32(w, sample->pid);
	writer_u32(w, sample->tid);
	writer_u64(w, sample->period);
	writer_u64(w, sample->callchain.count);
	writer_bytes(w, sample->callchain.data, sample->callchain.count * sizeof(uint64_t));
	writer_u64(w, sample->cgroup);
	writer_u32(w, WAIT_RECORD_MAGIC);
	writer_u16(w, WAIT_RECORD_VERSION);
	writer_u8(w, (uint8_t)wait->state);
	writer_u8(w, wait->flags);
	writer_u64(w, wait->count);
	writer_u32(w, (uint32_t)wait->syscall);
	writer_u32(w, wait->waker_pid);
	writer_u32(w, wait->waker_tid);
	writer_u32(w, frames);
	writer_bytes(w, wait->waker_comm.data, name);
	writer_zeros(w, WAIT_RECORD_COMM - name);
	writer_bytes(w, wait->waker_ips.data, frames * sizeof(uint64_t));
	if (wait->flags & WAIT_FLAG_END)
		writer_u64(w, wait->end_ns);
	/* Raw data then ends at a multiple of 8, together with the 32-bit size before it. */
	writer_zeros(w, sizeof(uint32_t));
}
