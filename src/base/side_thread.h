/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_thread.h - runs pieces of work, one after another, in a thread beside its owner. With one CPU, or if no thread
 * can be started, it does nothing: the owner checks each piece, and does the rest itself.
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
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t is_changed;
	VEC(void *) items;
	size_t taken; /* of items */
	bool is_running, is_closed;
};

void side_thread_init(struct side_thread *side, void (*work)(void *context, void *item), void *context);
/* The first item starts the thread. False: the thread could not be started, and the item was not added. */
bool side_thread_add(struct side_thread *side, void *item);
/* Work that has not begun is dropped; work that has begun continues. */
void side_thread_close(struct side_thread *side);
/* Closes, and waits for what has been begun. Items may be added again. */
void side_thread_join(struct side_thread *side);
/* After a join. */
void side_thread_deinit(struct side_thread *side);

#endif
