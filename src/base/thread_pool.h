/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_pool.h - runs a function for 0..count-1 on all CPUs and waits for the end. No queues, no futures, no shared
 * state: each call gets its index and its worker number and writes its own slots. With one CPU, or if no thread can be
 * made, it runs in the caller. It does not wait for a thread that starts too late to help. Threads are kept for a
 * second for further calls, and block signals. Any thread may call it, also from inside work.
 *
 *	thread_pool_for(count, 0, work, &context);
 *	thread_pool_for(thread_pool_tasks(things, EACH), 0, some_work, &context);
 */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include <stddef.h>

#include "base/array.h"

typedef void (*thread_pool_work)(void *context, size_t index, unsigned worker);

/* How many workers thread_pool_for uses for max_workers (0: one per CPU this process may run on). */
unsigned thread_pool_workers(size_t count, unsigned max_workers);
void thread_pool_for(size_t count, unsigned max_workers, thread_pool_work work, void *context);

/* The number of tasks if `each` items are handed out at a time, and the index after the last item of a task. */
static inline size_t thread_pool_tasks(size_t things, size_t each)
{
	return (things + each - 1) / each;
}
static inline size_t thread_pool_task_end(size_t task, size_t each, size_t things)
{
	size_t end = (task + 1) * each;
	return MIN(end, things);
}

#endif
