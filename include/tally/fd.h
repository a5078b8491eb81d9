/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.h - gives access to everything that the kernel can do with one event: opening with any attr, every ioctl, decoded
 * reads, overflow notifications.
 *
 * It is for programs that manage the descriptors themselves, and close them with close(2). struct perf_event_attr may
 * come from any version of <linux/perf_event.h>, because its size field says which fields it contains. tally/event.h
 * fills one from the name of an event; tally/ring.h maps the ring of a descriptor. tally/counter.h, tally/region.h and
 * tally/sampler.h need less code for the usual cases.
 *
 *	struct perf_event_attr attr;
 *	struct tally_reading reading;
 *	struct tally_error err;
 *	tally_event_attr("page-faults:u", &attr, sizeof(attr), NULL);
 *	int fd = tally_fd_open(&attr, 0, -1, -1, 0, &err);
 *	if (tally_fd_read(fd, attr.read_format, &reading, NULL, 0, &err) == TALLY_OK)
 *		printf("%llu\n", (unsigned long long)reading.first.value);
 *
 * Source: perf_event_open(2), "perf_event ioctl calls", "Reading results", "Overflow handling", "Using prctl(2)".
 */
#ifndef TALLY_FD_H
#define TALLY_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tally_reading_value {
	uint64_t value;
	uint64_t id; /* 0 without PERF_FORMAT_ID. */
	uint64_t lost; /* Number of lost samples; 0 without PERF_FORMAT_LOST. */
};

struct tally_reading {
	struct tally_reading_value first; /* The value of the event; for a group, that of its leader. */
	/* 0 without PERF_FORMAT_TOTAL_TIME_ENABLED or PERF_FORMAT_TOTAL_TIME_RUNNING, respectively. */
	uint64_t enabled_ns, running_ns;
	size_t count; /* Number of events: 1, or the size of the group. */
	bool is_in_error; /* A pinned event found no room on the PMU and counted nothing; enabling it retries. */
};

enum tally_wake {
	TALLY_WAKE_TIMEOUT, /* The time has passed, or a signal was caught. */
	TALLY_WAKE_OVERFLOW, /* The ring has records. */
	TALLY_WAKE_HANGUP, /* The measured thread has ended, or no ring of the descriptor is mapped. */
};

enum tally_owner { TALLY_OWNER_THREAD, TALLY_OWNER_PROCESS, TALLY_OWNER_GROUP };

enum tally_signal_kind {
	TALLY_SIGNAL_OTHER, /* The signal does not come from an event. */
	TALLY_SIGNAL_OVERFLOW, /* POLL_IN: an event overflowed. */
	/* POLL_HUP: the overflows that tally_fd_refresh allowed have occurred, and the event is disabled. */
	TALLY_SIGNAL_LAST,
	TALLY_SIGNAL_TRAP, /* SIGTRAP of an event with the sigtrap bit. */
};

struct tally_signal {
	enum tally_signal_kind kind;
	int fd; /* For OVERFLOW and LAST: descriptor of the event, if tally_fd_signal requested the signal; else -1. */
	uint64_t sig_data; /* For TRAP: sig_data of the attr. */
	uint32_t type; /* For TRAP: type of the attr. */
	uint64_t address; /* For TRAP: address of the breakpoint or of the data, or 0 if there is none. */
	bool is_async; /* For TRAP: the signal was blocked and therefore delivered later than the overflow. */
};

/* Opens an event by perf_event_open(2), and explains why if the kernel refuses it. attr is a struct perf_event_attr
 * with the size field set; pid, cpu, group_fd and flags are as in the manual; close-on-exec is always set. Returns the
 * descriptor, or -1 with TALLY_DENIED, TALLY_UNSUPPORTED, TALLY_NOT_FOUND (no such thread), TALLY_LIMIT (too many
 * descriptors) or TALLY_INVALID in err.
 * Threads: any. */
TALLY_API int tally_fd_open(
	const void *attr, pid_t pid, int cpu, int group_fd, unsigned long flags, struct tally_error *err);

/* Reads and decodes the counts. read_format is that of the attr that fd was opened with. For a group, values receives
 * up to room entries in the order of opening; without PERF_FORMAT_GROUP, room may be 0 and values NULL. Returns
 * TALLY_LIMIT if the group has more events than room, and TALLY_OK with is_in_error for a pinned event in the error
 * state.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_read(int fd, uint64_t read_format, struct tally_reading *reading,
	struct tally_reading_value *values, size_t room, struct tally_error *err);
/* Returns the count scaled to the enabled time and rounded to the nearest integer; 0 if running_ns is 0.
 * Threads: any; may be called from a signal handler. */
TALLY_API uint64_t tally_scale(uint64_t value, uint64_t enabled_ns, uint64_t running_ns);

/* Enables the event, or with is_group its whole group. Members of a group count only while their leader does.
 * Threads: any; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_fd_enable(int fd, bool is_group, struct tally_error *err);
/* Disables the event, or with is_group its whole group.
 * Threads: any; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_fd_disable(int fd, bool is_group, struct tally_error *err);
/* Sets the count, but not the times, to 0; with is_group, for the whole group.
 * Threads: any; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_fd_reset(int fd, bool is_group, struct tally_error *err);
/* Enables a sampling event for this number of further overflows; the last one disables the event and sends a
 * TALLY_SIGNAL_LAST. Returns TALLY_INVALID for 0 overflows, which the manual leaves undefined, and for inherited
 * events.
 * Threads: any; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_fd_refresh(int fd, unsigned overflows, struct tally_error *err);
/* Changes the period of a sampling event, or its frequency in Hz if the attr has the freq bit. For cpu-clock and
 * task-clock, the kernel always takes the value as a period in nanoseconds. Returns TALLY_INVALID for 0.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_set_period(int fd, uint64_t period, struct tally_error *err);
/* Redirects the event's records to the ring of another descriptor, or to none if ring_fd is -1. Both events must belong
 * to the same CPU or the same thread.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_set_output(int fd, int ring_fd, struct tally_error *err);
/* Sets the filter of a tracepoint: an expression over its fields, such as "count > 100 && comm != \"sh\"".
 * Threads: any. */
TALLY_API enum tally_status tally_fd_set_filter(int fd, const char *filter, struct tally_error *err);
/* Reads the kernel's ID of the event, which samples and group reads contain.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_id(int fd, uint64_t *id, struct tally_error *err);
/* Attaches the BPF program of descriptor program_fd to a tracepoint, probe or sampling event.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_set_bpf(int fd, int program_fd, struct tally_error *err);
/* Lists the IDs of the BPF programs that are attached to the tracepoint of fd; ids has space for room of them. Sets
 * *count to the number of programs. If it is larger than room, the first IDs are stored and TALLY_LIMIT is returned.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_query_bpf(
	int fd, uint32_t *ids, size_t room, size_t *count, struct tally_error *err);
/* Pauses or resumes the writing of records into the ring of fd; records that occur during the pause are lost.
 * Threads: any; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_fd_pause_output(int fd, bool is_paused, struct tally_error *err);
/* Changes the address, length, type and disabled bit of an open breakpoint to those of attr.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_modify(int fd, const void *attr, struct tally_error *err);

/* Enables every group leader that the calling thread opened (prctl PR_TASK_PERF_EVENTS_ENABLE).
 * Threads: any, each for itself; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_task_enable(struct tally_error *err);
/* Disables every group leader that the calling thread opened (prctl PR_TASK_PERF_EVENTS_DISABLE).
 * Threads: any, each for itself; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_task_disable(struct tally_error *err);

/* Waits until the kernel signals records in the ring of the event (wakeup_events or wakeup_watermark of the attr) or
 * timeout_ms has passed (-1: no timeout), and sets *wake to the reason. The ring must be mapped (tally/ring.h).
 * Threads: any. */
TALLY_API enum tally_status tally_fd_wait(int fd, int timeout_ms, enum tally_wake *wake, struct tally_error *err);
/* Requests a signal at each overflow, sent to the thread, process or process group with this ID (0: that of the
 * caller). Handlers installed with SA_SIGINFO receive the descriptor. Real-time signals are queued. Signal 0 ends the
 * notifications.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_signal(
	int fd, int signal, enum tally_owner owner, pid_t id, struct tally_error *err);
/* Decodes the siginfo_t of a signal handler, to which info points. (It is void because strict ISO C has no such type.)
 * Signals that the kernel sends for other reasons with the same codes, such as SIGCHLD and SIGSEGV, are of no event.
 * Threads: any; may be called from a signal handler. */
TALLY_API void tally_signal_decode(const void *info, struct tally_signal *decoded);

#ifdef __cplusplus
}
#endif

#endif
