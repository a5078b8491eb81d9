/* SPDX-License-Identifier: Apache-2.0 */
#include "base/helper_thread.h"

#include <signal.h>
#include <stddef.h>

#include "base/array.h"

bool helper_thread_create(pthread_t *thread, void *(*start)(void *context), void *context)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
	sigset_t others, before;
	sigfillset(&others);
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		sigdelset(&others, own[i]);
	pthread_sigmask(SIG_SETMASK, &others, &before);
	bool is_created = pthread_create(thread, NULL, start, context) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return is_created;
}
