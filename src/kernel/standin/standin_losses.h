/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_losses.h - what the samples of a stand-in lack, and what tracing has changed for the program: counts that its
 * engine keeps and its owner asks for.
 *
 *	const struct standin_losses losses = standin_get_losses(standin);
 */
#ifndef KERNEL_STANDIN_STANDIN_LOSSES_H
#define KERNEL_STANDIN_STANDIN_LOSSES_H

#include <stdint.h>

#define STANDIN_PATH_MAX 256

struct standin_losses {
	uint64_t refused; /* threads that could not be sampled: they run 32-bit code, or have ended at once */
	uint64_t unsampled; /* samples that these threads lack: the events count them as lost */
	uint64_t watched; /* threads without a timer, sampled as often as the engine looks at them */
	const char *denied_call; /* why the first of these has none, if a call was denied; NULL: a filter of its own */
	int denied_errnum;
	uint64_t privileged; /* programs that did not get the rights of their file, because they are traced */
	char privileged_path[STANDIN_PATH_MAX]; /* the first of these */
};

#endif
