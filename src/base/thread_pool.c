/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/helper_thread.h"

#define MAX_WORKERS 256 /* With more workers, memory limits the work, not the CPUs. */
/*
 * How long an idle thread polls for work, in nanoseconds: waking a thread takes about as long, or longer in a virtual
 * machine.
 */
#define LOOKED_NS    100000
#define LOOKS	     16 /* Number of polls between two readings of the clock. */
#define IDLE_SECONDS 1 /* A helper ends after so long without work. */

/*
 * The state of one call, on its stack: the call waits for the threads that help, and threads that arrive after its end
 * do not find it.
 */
struct pool {
	thread_pool_work work;
	void *context;
	size_t count;
	atomic_size_t next;
	atomic_uint inside; /* Number of helpers that have not finished; changes only under the mutex. */
	/* The mutex protects the members below. */
	unsigned offers; /* Number of helpers that may still enter. */
	unsigned entered; /* Number of helpers that have entered so far. */
	pthread_cond_t is_left;
	struct pool *next_offered;
};

/* Helpers are kept for later calls, because calls are many and short. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t is_offered;
	struct pool *offered; /* List of the calls that have offers. */
	unsigned offers; /* Total of all calls. */
	unsigned idle; /* Number of idle helpers, including those that have not started yet. */
	atomic_uint changes; /* Number of offers so far, which idle helpers poll. */
} crew = {.mutex = PTHREAD_MUTEX_INITIALIZER, .is_offered = PTHREAD_COND_INITIALIZER};

static unsigned cpus_allowed(void)
{
	/* Exceeds NR_CPUS of all current kernels. */
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
	workers = MIN(workers, MAX_WORKERS);
	return count < workers ? (unsigned)count : workers;
}

static void thread_pool_run(struct pool *pool, unsigned worker)
{
	size_t index;
	while ((index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed)) < pool->count)
		pool->work(pool->context, index, worker);
}

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Polls the number for a while, until it differs from was. */
static void thread_pool_look(const atomic_uint *number, unsigned was)
{
	uint64_t end = clock_ns() + LOOKED_NS;
	do {
		for (int i = 0; i < LOOKS; i++) {
			if (atomic_load_explicit(number, memory_order_acquire) != was)
				return;
			pause_cpu();
		}
	} while (clock_ns() < end);
}

/* Unless noted otherwise, the functions below are called with the crew's mutex held. */

static void take_offers(struct pool *pool, unsigned count)
{
	pool->offers -= count;
	crew.offers -= count;
	if (pool->offers > 0)
		return;
	struct pool **at = &crew.offered;
	while (*at != pool)
		at = &(*at)->next_offered;
	*at = pool->next_offered;
}

/* Unlocks the mutex while it polls and waits. Returns false if no offer arrived. */
static bool wait_for_offer(void)
{
	unsigned changes = atomic_load_explicit(&crew.changes, memory_order_relaxed);
	pthread_mutex_unlock(&crew.mutex);
	thread_pool_look(&crew.changes, changes);
	pthread_mutex_lock(&crew.mutex);
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until); /* Condition variables use this clock by default. */
	until.tv_sec += IDLE_SECONDS;
	int error = 0;
	while (!crew.offered && error == 0)
		error = pthread_cond_timedwait(&crew.is_offered, &crew.mutex, &until);
	return crew.offered != NULL;
}

static void *helper_main(void *argument)
{
	pthread_mutex_lock(&crew.mutex);
	while (crew.offered || wait_for_offer()) {
		crew.idle--;
		while (crew.offered) {
			/* The thread takes part in the call until its work is done, and unlocks the mutex meanwhile. */
			struct pool *pool = crew.offered;
			take_offers(pool, 1);
			unsigned worker = ++pool->entered;
			atomic_fetch_add_explicit(&pool->inside, 1, memory_order_relaxed);
			pthread_mutex_unlock(&crew.mutex);
			thread_pool_run(pool, worker);
			pthread_mutex_lock(&crew.mutex);
			if (atomic_fetch_sub_explicit(&pool->inside, 1, memory_order_release) == 1)
				pthread_cond_signal(&pool->is_left);
		}
		crew.idle++;
	}
	crew.idle--;
	pthread_mutex_unlock(&crew.mutex);
	return NULL;
}

/* Resets the crew in a forked child, which has none of the threads. */
static void forget_helpers(void)
{
	crew.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	crew.is_offered = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	crew.offered = NULL;
	crew.offers = crew.idle = 0;
}

static void forget_helpers_in_children(void)
{
	(void)pthread_atfork(NULL, NULL, forget_helpers);
}

static bool start_helper(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_t thread;
	pthread_once(&once, forget_helpers_in_children);
	if (!helper_thread_create(&thread, helper_main, NULL))
		return false;
	(void)pthread_detach(thread);
	return true;
}

static void thread_pool_offer(struct pool *pool, unsigned helpers)
{
	pool->offers = helpers;
	pool->next_offered = crew.offered;
	crew.offered = pool;
	crew.offers += helpers;
	atomic_fetch_add_explicit(&crew.changes, 1, memory_order_release);
	if (helpers > 1)
		pthread_cond_broadcast(&crew.is_offered);
	else
		pthread_cond_signal(&crew.is_offered);
	while (crew.idle < crew.offers && start_helper())
		crew.idle++;
}

/* Called without the mutex. */
static void wait_for_helpers(struct pool *pool)
{
	unsigned inside;
	while ((inside = atomic_load_explicit(&pool->inside, memory_order_acquire)) > 0) {
		thread_pool_look(&pool->inside, inside);
		if (atomic_load_explicit(&pool->inside, memory_order_acquire) == inside)
			break;
	}
	/* The last helper may still hold the mutex to signal is_left. */
	pthread_mutex_lock(&crew.mutex);
	while (atomic_load_explicit(&pool->inside, memory_order_relaxed) > 0)
		pthread_cond_wait(&pool->is_left, &crew.mutex);
	pthread_mutex_unlock(&crew.mutex);
}

void thread_pool_for(size_t count, unsigned max_workers, thread_pool_work work, void *context)
{
	unsigned wanted = thread_pool_workers(count, max_workers);
	if (wanted < 2) {
		for (size_t i = 0; i < count; i++)
			work(context, i, 0);
		return;
	}
	struct pool pool = {.work = work, .context = context, .count = count, .is_left = PTHREAD_COND_INITIALIZER};
	pthread_mutex_lock(&crew.mutex);
	thread_pool_offer(&pool, wanted - 1);
	pthread_mutex_unlock(&crew.mutex);
	thread_pool_run(&pool, 0); /* The caller is worker 0. */
	pthread_mutex_lock(&crew.mutex);
	if (pool.offers > 0)
		take_offers(&pool, pool.offers);
	pthread_mutex_unlock(&crew.mutex);
	wait_for_helpers(&pool);
	pthread_cond_destroy(&pool.is_left);
}
