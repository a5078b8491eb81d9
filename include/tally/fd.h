/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.h - gives access to everything that the kernel can do with one event: opening with any attr, every ioctl, decoded
 * reads, overflow notifications.
 *
 * For programs that keep the descriptors themselves. A descriptor is an int of the kernel's: close it with close(2).
 * struct perf_event_attr is that of <linux/perf_event.h>, of any age: its size field says which fields there are, so
 * every field of the manual is reachable. tally/event.h fills one from an event's name; tally/ring.h maps its ring.
 * Fewer lines for the usual cases: tally/counter.h, tally/region.h, tally/sampler.h.
 *
 *	struct perf_event_attr attr;
 *	struct tally_reading reading;
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
	uint64_t id; /* 0 without PERF_FORMAT_ID */
	uint64_t lost; /* samples; 0 without PERF_FORMAT_LOST */
};

struct tally_reading {
	struct tally_reading_value first; /* the event's own; of a group, its leader's */
	uint64_t enabled_ns, running_ns; /* 0 without PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING */
	size_t count; /* events: 1, or those of the group */
	bool is_in_error; /* a pinned event found no room on the PMU: nothing was counted; enable it to try again */
};

enum tally_wake {
	TALLY_WAKE_TIMEOUT,
	TALLY_WAKE_OVERFLOW, /* there is something in the ring */
	TALLY_WAKE_HANGUP, /* the measured thread has ended, or the descriptor has no ring mapped */
};

enum tally_owner { TALLY_OWNER_THREAD, TALLY_OWNER_PROCESS, TALLY_OWNER_GROUP };

enum tally_signal_kind {
	TALLY_SIGNAL_OTHER, /* not of an event */
	TALLY_SIGNAL_OVERFLOW, /* POLL_IN */
	TALLY_SIGNAL_LAST, /* POLL_HUP: the refreshed number of overflows is over and the event disabled */
	TALLY_SIGNAL_TRAP, /* SIGTRAP of an attr with sigtrap */
};

struct tally_signal {
	enum tally_signal_kind kind;
	int fd; /* of OVERFLOW and LAST, if a signal was chosen by tally_fd_signal; else -1 */
	uint64_t sig_data; /* of TRAP: that of the attr */
	uint32_t type; /* of TRAP: that of the attr */
	uint64_t address; /* of TRAP: that of the breakpoint or of the data; 0 if there is none */
	bool is_async; /* of TRAP: came later than the overflow, since the signal was blocked */
};

/* Opens an event: perf_event_open(2) with what it refuses explained. attr is a struct perf_event_attr whose size field
 * is set; pid, cpu, group_fd and flags as in the manual; close-on-exec is always set. Returns the descriptor, or -1 and
 * err: TALLY_DENIED, TALLY_UNSUPPORTED, TALLY_NOT_FOUND (no such thread), TALLY_LIMIT (descriptors), TALLY_INVALID.
 * Threads: any. */
TALLY_API int tally_fd_open(
	const void *attr, pid_t pid, int cpu, int group_fd, unsigned long flags, struct tally_error *err);

/* Reads and decodes. read_format is that of the attr that fd was opened with. Of a group, values gets up to room
 * entries in the order of opening; room may be 0 (and values NULL) where there is no PERF_FORMAT_GROUP. TALLY_LIMIT:
 * the group has more events than room. A pinned event in the error state is TALLY_OK with is_in_error. Threads: any. */
TALLY_API enum tally_status tally_fd_read(int fd, uint64_t read_format, struct tally_reading *reading,
	struct tally_reading_value *values, size_t room, struct tally_error *err);
/* What a count would have been, had its event been on the PMU all the time; 0 if it never was. Rounded to nearest.
 * Threads: any; may be called from a signal handler. */
TALLY_API uint64_t tally_scale(uint64_t value, uint64_t enabled_ns, uint64_t running_ns);

/* Lets the event count; with is_group, all of its group. A leader's members count only while it does.
 * Threads: any; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_fd_enable(int fd, bool is_group, struct tally_error *err);
/* Stops the event; with is_group, all of its group.
 * Threads: any; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_fd_disable(int fd, bool is_group, struct tally_error *err);
/* Counts from 0 again, the times go on; with is_group, all of its group.
 * Threads: any; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_fd_reset(int fd, bool is_group, struct tally_error *err);
/* Enables a sampling event for so many more overflows; the last is a TALLY_SIGNAL_LAST and disables it. 0 is
 * TALLY_INVALID, since the manual leaves it undefined; an inherited event cannot.
 * Threads: any; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_fd_refresh(int fd, unsigned overflows, struct tally_error *err);
/* Sets a sampling event's period, or its frequency if the attr has freq, from now on; 0 is TALLY_INVALID.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_set_period(int fd, uint64_t period, struct tally_error *err);
/* Sends the event's records to the ring of another descriptor; -1: to none. Both must be of one CPU or one thread.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_set_output(int fd, int ring_fd, struct tally_error *err);
/* Counts only what an expression over a tracepoint's fields lets pass ("count > 100 && comm != \"sh\"").
 * Threads: any. */
TALLY_API enum tally_status tally_fd_set_filter(int fd, const char *filter, struct tally_error *err);
/* The kernel's number of the event, as it is in samples and group reads.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_id(int fd, uint64_t *id, struct tally_error *err);
/* Attaches a BPF program, by its descriptor, to a tracepoint, probe or sampling event.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_set_bpf(int fd, int program_fd, struct tally_error *err);
/* The ids of the BPF programs that are attached to the tracepoint of fd; *count is how many there are in all, also if
 * that is more than room (TALLY_LIMIT).
 * Threads: any. */
TALLY_API enum tally_status tally_fd_query_bpf(
	int fd, uint32_t *ids, size_t room, size_t *count, struct tally_error *err);
/* Stops the writing of records into the ring of fd, or lets it go on; what comes meanwhile is lost.
 * Threads: any; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_fd_pause_output(int fd, bool is_paused, struct tally_error *err);
/* Changes a breakpoint to the address, length, type and disabled of attr, without opening it anew.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_modify(int fd, const void *attr, struct tally_error *err);

/* Lets every event that the calling thread opened (group leaders) count: prctl PR_TASK_PERF_EVENTS_ENABLE.
 * Threads: any, each for itself; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_task_enable(struct tally_error *err);
/* Stops every event that the calling thread opened: prctl PR_TASK_PERF_EVENTS_DISABLE.
 * Threads: any, each for itself; may be called from a signal handler with err NULL. */
TALLY_API enum tally_status tally_task_disable(struct tally_error *err);

/* Sleeps until the event's ring has something or timeout_ms (-1: none) is over; a caught signal ends it as a timeout
 * does. The ring must be mapped (tally/ring.h).
 * Threads: any. */
TALLY_API enum tally_status tally_fd_wait(int fd, int timeout_ms, enum tally_wake *wake, struct tally_error *err);
/* Sends a signal at each overflow, to a thread, a process or a process group (id 0: the caller's). Handlers installed
 * with SA_SIGINFO get the descriptor. A real-time signal queues; signal 0: no more.
 * Threads: any. */
TALLY_API enum tally_status tally_fd_signal(
	int fd, int signal, enum tally_owner owner, pid_t id, struct tally_error *err);
/* What a handler's siginfo_t says; info points to it. (Programs of strict ISO C have no such type, hence the void.)
 * Threads: any; may be called from a signal handler. */
TALLY_API void tally_signal_decode(const void *info, struct tally_signal *decoded);

#ifdef __cplusplus
}
#endif

#endif
