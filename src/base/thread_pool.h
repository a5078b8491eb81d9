/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_pool.h - calls a function for the indices 0 to count - 1 on all CPUs and waits until all calls have returned.
 * Each call receives its index and worker number, by which it selects its own data. With one CPU, or if no thread can
 * be started, the calls run in the caller. It does not wait for a thread that starts too late to help. Threads are
 * retained for a second for further calls, and block signals. Any thread may call it, also from inside work.
 *
 *	thread_pool_for(count, 0, work, &context);
 *	thread_pool_for(thread_pool_tasks(things, EACH), 0, some_work, &context);
 */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include <stddef.h>

#include "base/array.h"

typedef void (*thread_pool_work)(void *context, size_t index, unsigned worker);

/*
 * Returns how many workers thread_pool_for uses for max_workers, of which 0 is one for each CPU on which this process
 * may run.
 */
unsigned thread_pool_workers(size_t count, unsigned max_workers);
void thread_pool_for(size_t count, unsigned max_workers, thread_pool_work work, void *context);

/* Return the number of tasks of `each` items, and the index after the last item of a task. */
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
