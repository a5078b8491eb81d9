/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_record.h - encodes and decodes the raw data (PERF_SAMPLE_RAW) of samples of the event offcpu-time, each of which
 * describes one part of the time of a thread off the CPU.
 *
 * The period of a sample is the length of the part in ns, and its time is the end. An interval off the CPU has at most
 * three parts, each with one state: blocked until woken, then throttled, and runnable until it ran. perf since 6.16
 * reads thread, period and call chain of such a sample only from raw data (perf 7.3 fails on other raw data), so these
 * come first:
 *
 *	u32 pid  u32 tid  u64 period  u64 frames  u64 ips[frames]  u64 cgroup
 *
 * The wait record itself follows, which perf ignores. All numbers are in the byte order of the recording:
 *
 *	u32 magic "WAIT"  u16 version  u8 state  u8 flags  u64 count  s32 syscall
 *	u32 waker_pid  u32 waker_tid  u32 waker_frames
 *	char waker_comm[16]  u64 waker_ips[waker_frames]  u64 end_ns (with WAIT_FLAG_END)
 *
 * For sums of several waits, perf and record --off-cpu set the time of the sample to WAIT_SUMS_NS or above, by which
 * scripts of perf distinguish sums from single waits; end_ns is the end of the last wait of the sum.
 *
 * Further bytes are padding or fields of a newer version, and are ignored. A wait record without the part for perf can
 * be decoded, too.
 *
 *	struct wait_record wait;
 *	if (wait_record_is(sample.raw, sample.swap) &&
 *		wait_record_decode(sample.raw, sample.swap, &wait, err) == TALLY_OK) ...
 */
#ifndef ABI_WAIT_RECORD_H
#define ABI_WAIT_RECORD_H

#include "abi/sample.h"
#include "base/writer.h"

#define WAIT_RECORD_MAGIC	UINT32_C(0x54494157)
#define WAIT_RECORD_VERSION	1
#define WAIT_RECORD_BYTES	48 /* Size without the part for perf, up to waker_ips. */
#define WAIT_RECORD_COMM	16
#define WAIT_RECORD_FRAMES_MOST 127 /* Includes markers (PERF_CONTEXT_*). */
#define WAIT_SUMS_NS		UINT64_C(0xffffffff00000000) /* Time of the first sum. */

/* Name of the event for waits, as in perf. */
#define WAIT_EVENT_NAME "offcpu-time"

enum wait_state {
	WAIT_RUNNING, /* State of samples on the CPU; never in a record. */
	WAIT_RUNNABLE,
	WAIT_SLEEPING,
	WAIT_UNINTERRUPTIBLE,
	WAIT_STOPPED,
	WAIT_DISK, /* The kernel accounts the time as waiting for a block device. */
	WAIT_FUTEX,
	WAIT_POLL, /* In poll, select, epoll_wait and similar calls. */
	WAIT_IO, /* Reads or writes a pipe, a socket or a terminal. */
	WAIT_OTHER,
	WAIT_UNTOLD, /* Off the CPU for a reason that the recording does not contain; never in a record. */
	WAIT_THROTTLED, /* Ready to run, but the CPU quota of the cgroup is used up. */
	WAIT_STATES
};

enum wait_flags {
	WAIT_FLAG_SUM = 1, /* A sum of several waits with the same thread, stack, state and waker. */
	WAIT_FLAG_BEGAN_BEFORE = 2, /* The wait began before the recording. */
	WAIT_FLAG_UNFINISHED = 4, /* The wait had not ended when the recording ended. */
	WAIT_FLAG_WAKER = 8, /* The fields of the waker are valid. */
	/* An interrupt woke the thread: the waker is no thread, and the frames are those of the interrupt. */
	WAIT_FLAG_INTERRUPT = 16,
	WAIT_FLAG_PREEMPTED = 32, /* The thread is runnable because it was preempted, not woken. */
	WAIT_FLAG_END = 64 /* end_ns is valid. */
};

/* What measured the waits: stored in config1 of the attr, which the kernel ignores for this event. */
enum wait_source {
	WAIT_SOURCE_UNKNOWN, /* Recorded by perf, or by an old version of tally. */
	WAIT_SOURCE_BPF,
	WAIT_SOURCE_TRACEPOINTS, /* The tracepoints sched_switch and sched_waking. */
	WAIT_SOURCE_SWITCHES, /* Context switch records and files in /proc. */
	WAIT_SOURCES
};

struct wait_record {
	enum wait_state state;
	uint8_t flags; /* Bits of enum wait_flags. */
	uint64_t count; /* Number of waits in this sample; 1 unless it is a sum. */
	int32_t syscall; /* Number of the system call in which the thread waited; -1 if none or unknown. */
	uint32_t waker_pid, waker_tid;
	struct tally_str waker_comm; /* Borrowed from the raw data. */
	struct sample_array waker_ips; /* Borrowed from the raw data, in its byte order (sample_u64_at). */
	uint64_t end_ns; /* Valid with WAIT_FLAG_END; otherwise the time of the sample is the end. */
};

/* Returns whether the raw data of a sample is a wait record of any version. */
bool wait_record_is(struct tally_bytes raw, bool swap);
/* Decodes raw data. Returns TALLY_CORRUPT if it is truncated or has an invalid state or number of frames, and
 * TALLY_UNSUPPORTED if its version is unknown. */
TALLY_MUST_CHECK enum tally_status wait_record_decode(
	struct tally_bytes raw, bool swap, struct wait_record *wait, struct tally_error *err);
/* Appends raw data with thread, period, call chain and cgroup of the sample, and the wait record. Numbers are in the
 * byte order of w; ips and waker_ips are copied unchanged. Padding aligns the fields that follow raw data in a sample.
 * Frames of the waker beyond WAIT_RECORD_FRAMES_MOST and bytes of a longer name are left out. */
void wait_record_encode(struct writer *w, const struct sample *sample, const struct wait_record *wait);
/* Returns whether the thread is ready to run and does not wait to be woken. */
static inline bool wait_state_is_ready(enum wait_state state)
{
	return state == WAIT_RUNNABLE || state == WAIT_THROTTLED;
}
/* Returns the name for users: "runnable", "sleep", "lock", ... */
struct tally_str wait_state_name(enum wait_state state);
/* Returns the name for users: "bpf", "tracepoints" or "switches"; "?" for others. */
struct tally_str wait_source_name(uint64_t source);
/* Returns what waits of this source lack, as a part of a sentence; NULL if nothing, or if the source is unknown. */
const char *wait_source_limits(uint64_t source);

#endif
