/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_losses.h - declares what a stand-in could not sample, and the side effects of tracing on programs.
 *
 *	const struct standin_losses losses = standin_get_losses(standin);
 */
#ifndef KERNEL_STANDIN_STANDIN_LOSSES_H
#define KERNEL_STANDIN_STANDIN_LOSSES_H

#include <stdint.h>

#define STANDIN_PATH_MAX 256

struct standin_losses {
	/* Number of threads that could not be sampled, because they run 32-bit code or ended immediately. */
	uint64_t refused;
	uint64_t unsampled; /* Number of missing samples of refused threads; the events count them as lost. */
	/* Number of threads without a timer, which are sampled when the engine checks their CPU clock. */
	uint64_t watched;
	/* Why the first watched thread has no timer: the system call that was denied, and its errno. NULL if the thread
	 * has a seccomp filter of its own. */
	const char *denied_call;
	int denied_errnum;
	uint64_t privileged; /* Number of programs that lack the privileges of their file because they are traced. */
	char privileged_path[STANDIN_PATH_MAX]; /* Path of the first privileged program. */
};

#endif
