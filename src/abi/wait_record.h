/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_record.h - encodes and decodes the raw data (PERF_SAMPLE_RAW) of samples of the event offcpu-time, each of which
 * describes one part of a thread's time off the CPU.
 *
 * A sample's period is the part's length in ns and its time the part's end. One interval off the CPU is at most three parts:
 * blocked until woken, then throttled and runnable until it ran; each has one state. perf since 6.16 takes thread, period and call chain of such a
 * sample from raw data, whatever its fields say (found out with perf 7.3, which fails on other raw data), so these come first:
 *
 *	u32 pid  u32 tid  u64 period  u64 frames  u64 ips[frames]  u64 cgroup
 *
 * and then, which perf ignores, the record proper. All is in the byte order of the recording:
 *
 *	u32 magic "WAIT"  u16 version  u8 state  u8 flags  u64 count  s32 syscall  u32 waker_pid  u32 waker_tid  u32 waker_frames
 *	char waker_comm[16]  u64 waker_ips[waker_frames]  u64 end_ns (with WAIT_FLAG_END)
 *
 * perf stamps sums with WAIT_SUMS_NS and what follows it, and its scripts tell them from single waits by that. record --off-cpu
 * does so, too; end_ns is when the last of these waits ended.
 *
 * Any bytes that follow are padding, or fields of a newer version; they are ignored. A record without perf's part can
 * be read too.
 *
 *	struct wait_record wait;
 *	if (wait_record_is(sample.raw, sample.swap) && wait_record_decode(sample.raw, sample.swap, &wait, err) == TALLY_OK) ...
 */
#ifndef ABI_WAIT_RECORD_H
#define ABI_WAIT_RECORD_H

#include "abi/sample.h"
#include "base/writer.h"

#define WAIT_RECORD_MAGIC	UINT32_C(0x54494157)
#define WAIT_RECORD_VERSION	1
#define WAIT_RECORD_BYTES	48 /* without perf's part, before waker_ips */
#define WAIT_RECORD_COMM	16
#define WAIT_RECORD_FRAMES_MOST 127 /* markers (PERF_CONTEXT_*) are among them */
#define WAIT_SUMS_NS		UINT64_C(0xffffffff00000000) /* the time of perf's first sum */

/* The event that carries waits, by the name that perf gives it. */
#define WAIT_EVENT_NAME "offcpu-time"

enum wait_state {
	WAIT_RUNNING, /* of samples on the CPU: never in a record */
	WAIT_RUNNABLE,
	WAIT_SLEEPING,
	WAIT_UNINTERRUPTIBLE,
	WAIT_STOPPED,
	WAIT_DISK, /* the kernel accounts it as waiting for a block device */
	WAIT_FUTEX,
	WAIT_POLL, /* poll, select, epoll_wait and the like */
	WAIT_IO, /* reads or writes a pipe, a socket, a terminal */
	WAIT_OTHER,
	WAIT_UNTOLD, /* off the CPU, and the recording does not say why: never in a record */
	WAIT_THROTTLED, /* could run, but the CPU quota of its cgroup was used up */
	WAIT_STATES
};

enum wait_flags {
	WAIT_FLAG_SUM = 1, /* of several waits with the same thread, stack, state and waker */
	WAIT_FLAG_BEGAN_BEFORE = 2, /* before the recording */
	WAIT_FLAG_UNFINISHED = 4, /* still waiting when the recording ended */
	WAIT_FLAG_WAKER = 8, /* the waker's fields are known */
	WAIT_FLAG_INTERRUPT =
		16, /* an interrupt woke it: no thread is the waker, and the frames are of the interrupt */
	WAIT_FLAG_PREEMPTED = 32, /* runnable without having blocked */
	WAIT_FLAG_END = 64 /* end_ns is there */
};

/* What measured the waits, as the event's attr has it in config1, which means nothing to the kernel for this event. */
enum wait_source {
	WAIT_SOURCE_UNKNOWN, /* perf, or a tally before this was told */
	WAIT_SOURCE_BPF,
	WAIT_SOURCE_TRACEPOINTS, /* sched_switch and sched_waking */
	WAIT_SOURCE_SWITCHES, /* context-switch records, and the kernel's files in /proc */
	WAIT_SOURCES
};

struct wait_record {
	enum wait_state state;
	uint8_t flags; /* enum wait_flags */
	uint64_t count; /* waits in this sample: 1 of an individual one */
	int32_t syscall; /* number of the system call that it waited in, -1: not known or none */
	uint32_t waker_pid, waker_tid;
	struct tally_str waker_comm; /* borrows from the raw data */
	struct sample_array waker_ips; /* likewise, in its byte order: sample_u64_at */
	uint64_t end_ns; /* with WAIT_FLAG_END; otherwise the sample's time is it */
};

/* Whether the raw data of a sample is a wait record of any version. */
bool wait_record_is(struct tally_bytes raw, bool swap);
/* CORRUPT: it is truncated, or has an invalid state or number of frames. UNSUPPORTED: its version is unknown. */
TALLY_MUST_CHECK enum tally_status wait_record_decode(
	struct tally_bytes raw, bool swap, struct wait_record *wait, struct tally_error *err);
/* Appends raw data for the sample, and repeats its thread, period, call chain and cgroup. Numbers are in w's byte
 * order, but ips and waker_ips are copied as they are. Padding aligns the fields that follow raw data in a sample.
 * Frames of the waker beyond WAIT_RECORD_FRAMES_MOST and bytes of a longer name are left out. */
void wait_record_encode(struct writer *w, const struct sample *sample, const struct wait_record *wait);
/* Whether the thread could run: it does not wait to be woken. */
static inline bool wait_state_is_ready(enum wait_state state)
{
	return state == WAIT_RUNNABLE || state == WAIT_THROTTLED;
}
/* As users read it: "runnable", "sleep", "lock", ... */
struct tally_str wait_state_name(enum wait_state state);
/* As users read and write it: "bpf", "tracepoints", "switches"; "?" of others. */
struct tally_str wait_source_name(uint64_t source);
/* What such a source leaves out of waits, as a sentence's part; NULL: nothing, or the source is unknown. */
const char *wait_source_limits(uint64_t source);

#endif
