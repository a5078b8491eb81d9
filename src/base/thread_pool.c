#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define MAX_WORKERS 256 /* beyond it the work is bound by memory, not by CPUs */

/* Of one call. A thread that only starts when all is done finds it closed: nobody waits for it, so that a busy machine
 * costs nothing but the help. Who is last frees it. */
struct pool {
	thread_pool_work work;
	void *context;
	size_t count;
	atomic_size_t next;
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t is_left;
	unsigned users; /* threads that have not ended, the caller too */
	unsigned entered; /* threads, without the caller; the next one's number - 1 */
	unsigned inside; /* of these: not done yet */
	bool is_closed;
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

static void run(struct pool *pool, unsigned worker)
{
	size_t index;
	while ((index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed)) < pool->count)
		pool->work(pool->context, index, worker);
}

/* Unlocks the mutex. */
static void leave(struct pool *pool)
{
	bool is_last = --pool->users == 0;
	pthread_mutex_unlock(&pool->mutex);
	if (!is_last)
		return;
	pthread_mutex_destroy(&pool->mutex);
	pthread_cond_destroy(&pool->is_left);
	free(pool);
}

static void *thread_main(void *argument)
{
	struct pool *pool = argument;
	pthread_mutex_lock(&pool->mutex);
	if (!pool->is_closed) {
		unsigned worker = ++pool->entered;
		pool->inside++;
		pthread_mutex_unlock(&pool->mutex);
		run(pool, worker);
		pthread_mutex_lock(&pool->mutex);
		if (--pool->inside == 0)
			pthread_cond_signal(&pool->is_left);
	}
	leave(pool);
	return NULL;
}

static bool start_thread(struct pool *pool)
{
	pthread_t thread;
	pthread_mutex_lock(&pool->mutex);
	pool->users++;
	pthread_mutex_unlock(&pool->mutex);
	if (pthread_create(&thread, NULL, thread_main, pool) == 0) {
		(void)pthread_detach(thread);
		return true;
	}
	pthread_mutex_lock(&pool->mutex);
	pool->users--;
	pthread_mutex_unlock(&pool->mutex);
	return false;
}

void thread_pool_for(size_t count, unsigned max_workers, thread_pool_work work, void *context)
{
	unsigned wanted = thread_pool_workers(count, max_workers);
	struct pool *pool = wanted > 1 ? malloc(sizeof(*pool)) : NULL;
	if (!pool) {
		for (size_t i = 0; i < count; i++)
			work(context, i, 0);
		return;
	}
	*pool = (struct pool){.work = work,
		.context = context,
		.count = count,
		.mutex = PTHREAD_MUTEX_INITIALIZER,
		.is_left = PTHREAD_COND_INITIALIZER,
		.users = 1};
	for (unsigned i = 1; i < wanted && start_thread(pool); i++)
		;
	run(pool, 0); /* the caller is worker 0 */
	pthread_mutex_lock(&pool->mutex);
	pool->is_closed = true;
	while (pool->inside)
		pthread_cond_wait(&pool->is_left, &pool->mutex);
	leave(pool);
}
