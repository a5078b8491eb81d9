/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_state.h - declares the events, rings, traced threads and their processes, for the files of this folder only.
 *
 * One mutex protects everything: calls of the seam hold it, and so does the engine except while it waits. Pointers to
 * threads and processes are valid until one is added or ends.
 */
#ifndef KERNEL_STANDIN_STANDIN_STATE_H
#define KERNEL_STANDIN_STANDIN_STATE_H

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "abi/encode.h"
#include "arch/arch.h"
#include "base/vec.h"
#include "base/writer.h"
#include "kernel/standin/standin_losses.h"
#include "kernel/standin/thread_status.h"
#include "kernel/system/kernel_seam.h"

#define STANDIN_STACK_MAX 65528
#define STANDIN_CHAIN_MAX 256
#define STANDIN_COMM_MAX  16
#define STANDIN_SIGNAL	  SIGRTMAX /* Sent only to the thread of the engine, to wake it for checks or requests. */

struct standin_event {
	struct perf_attr attr;
	struct record_layout layout;
	pid_t target; /* Thread on which the event was opened; with inherit, its children are measured, too. */
	int cpu; /* -1 for any. */
	int fd;
	size_t output; /* Index of the event whose ring receives its records: its own index, unless redirected. */
	bool is_enabled, is_closed, has_hung_up;
	uint64_t count_ns; /* CPU time that its samples stand for. */
	uint64_t enabled_at_ns, enabled_ns; /* Wall-clock time. */
	uint8_t *control; /* Control page of its ring; NULL if not mapped. */
	size_t map_bytes, data_bytes;
	uint64_t lost; /* Records that its ring lost since the last PERF_RECORD_LOST. */
	uint64_t lost_total; /* Lost records of the event itself. */
};

struct standin_process {
	pid_t pid;
	uint64_t vdso; /* Address of the vdso; 0 if not known yet. */
	/* Page that the engine mapped in the process for the arguments of timer calls; 0 if not mapped yet. */
	uint64_t page;
	uint64_t mapped_pages; /* Size of the address space in pages when its mappings were read last. */
	int signal; /* Signal of the timers of its threads; 0 if not chosen yet. */
	/* The engine made the process ignore the signal, so that timers do not kill it if this process dies. */
	bool ignores_signal;
	VEC(int) stale_timers; /* Timers of threads that have ended. */
};

struct standin_thread {
	pid_t tid, pid;
	pid_t target; /* Target of the events that measure it; 0 until the thread that started it has reported it. */
	int cpu;
	int timer; /* ID of its timer; valid if has_timer is set. */
	uint64_t due_ns; /* CPU time of the thread at which its timer expires next. */
	uint64_t early; /* Number of periods from due_ns on that standin_timer_untold has already reported. */
	bool has_timer;
	/* The thread cannot have a timer; the engine checks its CPU clock and interrupts it for samples. */
	bool is_watched;
	/* The thread is not sampled, because it runs 32-bit code or its CPU clock is unreadable; its periods are
	 * counted as lost. */
	bool is_refused;
	bool is_ours; /* A child of this process, which waits for it outside of the stand-in (spawn.h). */
	bool is_masked; /* The thread blocks the signal of its timer (standin_timers.h). */
	bool is_wanted; /* The engine has interrupted the thread for a sample. */
	uint64_t looked_at_ns; /* Time of its last sample or check. */
	uint64_t samples;
	char comm[STANDIN_COMM_MAX]; /* Name in the last PERF_RECORD_COMM. */
};

enum standin_request { REQUEST_NONE, REQUEST_TRACE, REQUEST_TIMERS, REQUEST_RELEASE };

struct standin {
	struct kernel_seam seam;
	pthread_mutex_t lock;
	pthread_cond_t answered, asked;
	pthread_t engine;
	bool has_engine, is_ending;
	bool is_broken; /* The engine has ended because waiting for stops fails. */
	const struct arch *arch;
	VEC(struct standin_event) events;
	VEC(uint32_t) index_of_fd; /* Index of the event of a descriptor, plus 1; 0 for none. */
	VEC(struct standin_thread) threads;
	VEC(struct standin_process) processes;
	enum standin_request request; /* Request of the seam to the engine. */
	pid_t request_tid;
	int answer; /* Result of the request: 0 or an errno. */
	uint64_t random; /* State of a xorshift generator for the times of first expiries. */
	uint64_t period_ns; /* Period of the timers; 0 if no event has requested samples yet. */
	uint64_t own_filters; /* Number of seccomp filters of this process, which its children inherit. */
	/* Offsets in the vdso, which are equal in all processes: of a system call instruction (0 if not known yet), and
	 * of room for another one (0 if there is none). */
	uint64_t call_offset, room_offset;
	bool command_is_over; /* The process that this one started has ended but is not reaped yet. */
	size_t next_look; /* Index of the thread to check next. */
	bool has_timer; /* The engine has a timer that interrupts its waits for stops. */
	unsigned interrupts; /* Number of interrupted waits since the last check. */
	struct standin_losses losses;
	uint64_t maps_due_ns; /* Earliest time at which mappings are read again. */
	VEC(uint64_t) code; /* PID << 32 | hash of each mapping that was written. */
	struct writer record;
	uint8_t *stack; /* Buffer of STANDIN_STACK_MAX bytes. */
};

/* Returns the time in nanoseconds of the clock that attr selects; CLOCK_MONOTONIC if it selects none or is NULL. */
uint64_t standin_now(const struct perf_attr *attr);

/* ---- standin_threads.c ---- */

struct standin_thread *standin_thread_find(struct standin *s, pid_t tid);
/* Adds a thread that is traced now; target is 0 if the thread that started it has not reported it yet. Returns NULL if
 * memory runs out. */
struct standin_thread *standin_thread_add(struct standin *s, pid_t tid, pid_t target);
/* Writes a PERF_RECORD_EXIT and removes the thread; its events hang up if it was their last thread. */
void standin_thread_end(struct standin *s, struct standin_thread *thread);
struct standin_process *standin_process_find(struct standin *s, pid_t pid);
/* Copies the state that a forked process inherits from its parent. */
void standin_process_copy(struct standin *s, pid_t pid, pid_t parent);

/* ---- standin_records.c ---- */

/* Returns the next event from index *from on that measures the thread on its CPU and has this attr flag (0: that is
 * enabled and samples); NULL at the end. */
struct standin_event *standin_event_of(
	struct standin *s, const struct standin_thread *thread, uint64_t flag, size_t *from);
/* Writes a PERF_RECORD_COMM if the name has changed, or at an exec. */
void standin_put_comm(struct standin *s, struct standin_thread *thread, bool is_exec);
/* Writes a PERF_RECORD_FORK or PERF_RECORD_EXIT. */
void standin_put_task(
	struct standin *s, const struct standin_thread *thread, const struct standin_thread *parent, bool is_exit);
/* Writes the executable mappings that were not written yet. */
void standin_put_mappings(struct standin *s, const struct standin_thread *thread);
/* Calls standin_put_mappings if the size of the address space has changed and mappings were not read too often. */
void standin_renew_mappings(struct standin *s, const struct standin_thread *thread);
/* Forgets which mappings of the process were written, so that they are written again. */
void standin_forget_mappings(struct standin *s, pid_t pid);

/* ---- standin_samples.c ---- */

/* Writes a sample of a stopped thread, for period nanoseconds of CPU time, for each event that samples it. */
void standin_sample(struct standin *s, struct standin_thread *thread, uint64_t period);
/* Counts samples of a thread as lost. */
void standin_lose(struct standin *s, const struct standin_thread *thread, uint64_t samples);
/* Returns whether the registers of a stopped thread can be read; false for 32-bit code. */
bool standin_has_registers(pid_t tid);

/* ---- standin_engine.c ---- */

void *standin_engine_run(void *context);
/* Sends a request to the engine and waits for the result: 0 or an errno. The caller holds the lock. */
int standin_ask(struct standin *s, enum standin_request request, pid_t tid);

#endif
