#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define MAX_WORKERS 256 /* beyond it the work is bound by memory, not by CPUs */

struct pool {
	thread_pool_work work;
	void *context;
	size_t count;
	atomic_size_t next;
};

struct worker {
	struct pool *pool;
	unsigned number;
};

static unsigned cpus_allowed(void)
{
	/* Large enough for any kernel's NR_CPUS of today. */
	cpu_set_t *set = CPU_ALLOC(8192);
	if (!set)
		return 1;
	int count = 1;
	if (sched_getaffinity(0, CPU_ALLOC_SIZE(8192), set) == 0)
		count = CPU_COUNT_S(CPU_ALLOC_SIZE(8192), set);
	CPU_FREE(set);
	return count > 0 ? (unsigned)count : 1;
}

unsigned thread_pool_workers(size_t count, unsigned max_workers)
{
	unsigned workers = max_workers ? max_workers : cpus_allowed();
	if (workers > MAX_WORKERS)
		workers = MAX_WORKERS;
	return count < workers ? (unsigned)count : workers;
}

static void run(const struct worker *worker)
{
	struct pool *pool = worker->pool;
	size_t index;
	while ((index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed)) < pool->count)
		pool->work(pool->context, index, worker->number);
}

static void *thread_main(void *argument)
{
	run(argument);
	return NULL;
}

void thread_pool_for(size_t count, unsigned max_workers, thread_pool_work work, void *context)
{
	struct pool pool = {.work = work, .context = context, .count = count};
	unsigned wanted = thread_pool_workers(count, max_workers);
	pthread_t threads[MAX_WORKERS];
	struct worker workers[MAX_WORKERS];
	unsigned started = 1; /* the caller is worker 0 */
	for (; started < wanted; started++) {
		workers[started] = (struct worker){.pool = &pool, .number = started};
		if (pthread_create(&threads[started], NULL, thread_main, &workers[started]) != 0)
			break;
	}
	run(&(struct worker){.pool = &pool, .number = 0});
	for (unsigned i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
}
