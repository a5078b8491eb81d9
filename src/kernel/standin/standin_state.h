/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_state.h - declares the events, rings, traced threads and their processes, for the files of this folder only.
 *
 * One mutex guards all of it: the seam's calls and the engine hold it while they work, and the engine not while it waits.
 * Pointers to threads and processes hold until one is added or ends.
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
#define STANDIN_SIGNAL	  SIGRTMAX /* to the engine's thread alone: it looks, or has a request */

struct standin_event {
	struct perf_attr attr;
	struct record_layout layout;
	pid_t target; /* the thread that it was opened on; its children count if it inherits */
	int cpu; /* -1: any */
	int fd;
	size_t output; /* event whose ring takes its records: its own index unless redirected */
	bool is_enabled, is_closed, has_hung_up;
	uint64_t count_ns; /* CPU time that samples stand for */
	uint64_t enabled_at_ns, enabled_ns; /* wall time */
	uint8_t *control; /* of its ring; NULL: not mapped */
	size_t map_bytes, data_bytes;
	uint64_t lost; /* of its ring, since the last LOST record */
	uint64_t lost_total; /* of the event itself */
};

struct standin_process {
	pid_t pid;
	uint64_t vdso; /* its address; 0: not known yet */
	uint64_t page; /* mapped by us in its memory, for what timer calls read and write; 0: not yet */
	uint64_t mapped_pages; /* when its mappings were read */
	int signal; /* of its threads' timers; 0: not chosen yet */
	bool ignores_signal; /* because we made it do so: after our death, timers must not end it */
	VEC(int) stale_timers; /* of threads that have ended */
};

struct standin_thread {
	pid_t tid, pid;
	pid_t target; /* of events that measure it; 0: not told yet by the thread that started it */
	int cpu;
	int timer;
	uint64_t due_ns; /* CPU time of the thread at which its timer expires next */
	uint64_t early; /* periods from then on that have been sampled already: standin_timer_sample_early */
	bool has_timer;
	bool is_watched; /* it cannot get a timer: its CPU clock is looked at, and it is interrupted for samples */
	bool is_refused; /* it is not sampled, as its registers are those of 32-bit code: its periods are counted as lost */
	bool is_ours; /* a process that this one started, and waits for itself */
	bool is_masked; /* it blocks the timer's signal: standin_timers.h */
	bool is_wanted; /* it is interrupted for a sample */
	uint64_t looked_at_ns; /* when it last stopped for its timer, or was looked at */
	uint64_t samples;
	char comm[STANDIN_COMM_MAX]; /* that was told last */
};

enum standin_request { REQUEST_NONE, REQUEST_TRACE, REQUEST_TIMERS, REQUEST_RELEASE };

struct standin {
	struct kernel_seam seam;
	pthread_mutex_t lock;
	pthread_cond_t answered, asked;
	pthread_t engine;
	bool has_engine, is_ending;
	bool is_broken; /* the engine has ended, because it may not wait for stops */
	const struct arch *arch;
	VEC(struct standin_event) events;
	VEC(uint32_t) index_of_fd; /* event + 1 */
	VEC(struct standin_thread) threads;
	VEC(struct standin_process) processes;
	enum standin_request request; /* of the seam to the engine */
	pid_t request_tid;
	int answer; /* errno */
	uint64_t random; /* xorshift: when first expiries come */
	uint64_t period_ns; /* of the timers; 0: no event has asked for samples yet */
	uint64_t own_filters; /* seccomp filters of this process, which its children have, too */
	/* In the vdso, the same in all processes: of an instruction that makes a system call (0: not known yet), and of
	 * the room for our own (0: there is none). */
	uint64_t call_offset, room_offset;
	bool command_is_over; /* the process that this one started has ended, and is not reaped yet */
	size_t next_look; /* thread */
	bool has_timer; /* the engine: it interrupts waits for stops */
	unsigned interrupts; /* of waits, since the last look */
	struct standin_losses losses;
	uint64_t maps_due_ns; /* when mappings may be read again */
	VEC(uint64_t) code; /* pid << 32 | hash of a mapping that was written */
	struct writer record;
	uint8_t *stack; /* STANDIN_STACK_MAX */
};

uint64_t standin_now(const struct perf_attr *attr);

/* ---- standin_threads.c ---- */

struct standin_thread *standin_thread_find(struct standin *s, pid_t tid);
/* A thread that is traced now; target 0: the thread that started it tells. NULL: out of memory. */
struct standin_thread *standin_thread_add(struct standin *s, pid_t tid, pid_t target);
/* Writes that it has ended, and removes it; its events hang up if it was their last thread. */
void standin_thread_end(struct standin *s, struct standin_thread *thread);
struct standin_process *standin_process_find(struct standin *s, pid_t pid);
/* What a new process has from the one that it is a copy of. */
void standin_process_copy(struct standin *s, pid_t pid, pid_t parent);

/* ---- standin_records.c ---- */

/* The events that measure the thread on its CPU and have this flag of an attribute (0: that sample). */
struct standin_event *standin_event_of(
	struct standin *s, const struct standin_thread *thread, uint64_t flag, size_t *from);
/* Its name, if that was not told yet, or at an exec. */
void standin_put_comm(struct standin *s, struct standin_thread *thread, bool is_exec);
void standin_put_task(
	struct standin *s, const struct standin_thread *thread, const struct standin_thread *parent, bool is_exit);
/* Writes the mappings of code that were not written yet. */
void standin_put_mappings(struct standin *s, const struct standin_thread *thread);
/* The same if the process has mapped or unmapped something since, and reading its mappings does not cost too much. */
void standin_renew_mappings(struct standin *s, const struct standin_thread *thread);
void standin_forget_mappings(struct standin *s, pid_t pid);

/* ---- standin_samples.c ---- */

/* A sample of a stopped thread, which stands for period nanoseconds of CPU time, into each event that takes one. */
void standin_sample(struct standin *s, struct standin_thread *thread, uint64_t period);
/* Counts samples of a thread that could not be taken as lost. */
void standin_lose(struct standin *s, const struct standin_thread *thread, uint64_t samples);
/* Whether the registers of a stopped thread can be read: false for 32-bit code. */
bool standin_has_registers(pid_t tid);

/* ---- standin_engine.c ---- */

void *standin_engine_run(void *context);
/* Asks the engine, and waits for the answer: 0 or an errno. The lock is held. */
int standin_ask(struct standin *s, enum standin_request request, pid_t tid);

#endif
