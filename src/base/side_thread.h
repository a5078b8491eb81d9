/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_thread.h - processes items one after another in a thread beside its owner. It may process only some of the
 * items, and none with one CPU or if no thread can be started; so the owner checks which items have been processed, and
 * processes the others itself.
 *
 *	side_thread_init(&side, work, context);
 *	side_thread_add(&side, item);   ... side_thread_close(&side) ... side_thread_join(&side);
 */
#ifndef BASE_SIDE_THREAD_H
#define BASE_SIDE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include "base/vec.h"

struct side_thread {
	void (*work)(void *context, void *item);
	void *context;
	pthread_t thread;
	pthread_mutex_t mutex; /* Protects the members below. */
	pthread_cond_t is_changed;
	VEC(void *) items;
	size_t taken; /* Number of items that the thread has started to process. */
	bool is_running, is_closed;
};

void side_thread_init(struct side_thread *side, void (*work)(void *context, void *item), void *context);
/* Adds an item; the first one starts the thread. Returns false if that failed, or the item could not be added. */
bool side_thread_add(struct side_thread *side, void *item);
/* Drops items that are not being processed yet, without waiting for the current one. */
void side_thread_close(struct side_thread *side);
/* Closes and waits for the current item. Items may be added again afterwards. */
void side_thread_join(struct side_thread *side);
/* Must be called after side_thread_join. */
void side_thread_deinit(struct side_thread *side);

#endif
