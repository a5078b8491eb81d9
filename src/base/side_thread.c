/* SPDX-License-Identifier: Apache-2.0 */
#include "base/side_thread.h"

#include "base/helper_thread.h"
#include "base/thread_pool.h"

void side_thread_init(struct side_thread *side, void (*work)(void *context, void *item), void *context)
{
	*side = (struct side_thread){.work = work, .context = context};
	pthread_mutex_init(&side->mutex, NULL);
	pthread_cond_init(&side->is_changed, NULL);
}

/* Waits for an item. Returns NULL when the thread was closed. */
static void *next_item(struct side_thread *side)
{
	pthread_mutex_lock(&side->mutex);
	while (!side->is_closed && side->taken == side->items.len)
		pthread_cond_wait(&side->is_changed, &side->mutex);
	void *item = side->is_closed ? NULL : side->items.items[side->taken++];
	pthread_mutex_unlock(&side->mutex);
	return item;
}

static void *side_thread_run(void *argument)
{
	struct side_thread *side = argument;
	for (void *item; (item = next_item(side));)
		side->work(side->context, item);
	return NULL;
}

bool side_thread_add(struct side_thread *side, void *item)
{
	if (!side->is_running && thread_pool_workers(2, 0) < 2)
		return false;
	pthread_mutex_lock(&side->mutex);
	bool is_added = !side->is_closed && vec_push(&side->items, item);
	pthread_cond_signal(&side->is_changed);
	pthread_mutex_unlock(&side->mutex);
	if (is_added && !side->is_running) {
		side->is_running = helper_thread_create(&side->thread, side_thread_run, side);
		if (!side->is_running)
			side->items.len--; /* The caller handles the item itself. */
	}
	return is_added && side->is_running;
}

void side_thread_close(struct side_thread *side)
{
	pthread_mutex_lock(&side->mutex);
	side->is_closed = true;
	pthread_cond_signal(&side->is_changed);
	pthread_mutex_unlock(&side->mutex);
}

void side_thread_join(struct side_thread *side)
{
	side_thread_close(side);
	if (side->is_running)
		pthread_join(side->thread, NULL);
	side->is_running = side->is_closed = false;
	side->items.len = side->taken = 0;
}

void side_thread_deinit(struct side_thread *side)
{
	vec_free(&side->items);
	pthread_cond_destroy(&side->is_changed);
	pthread_mutex_destroy(&side->mutex);
}
