/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper_thread.h - starts threads that block signals, so that signals interrupt system calls of the other threads
 * only. Signals that a thread causes itself, such as SIGSEGV, are not blocked.
 *
 *	if (helper_thread_create(&thread, start, context)) ... pthread_join(thread, NULL);
 */
#ifndef BASE_HELPER_THREAD_H
#define BASE_HELPER_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Returns false if no thread could be started. */
bool helper_thread_create(pthread_t *thread, void *(*start)(void *context), void *context);

#endif
