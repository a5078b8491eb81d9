/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_freq.h - determines how often record and top sample, from -F and -c and the kernel's limit.
 *
 *	int code = record_freq_find(kernel, &settings, &rate);	// 0, or the exit code after a message
 */
#ifndef TASKS_RECORDING_RECORD_FREQ_H
#define TASKS_RECORDING_RECORD_FREQ_H

#include "tasks/recording/record_options.h"

#define EXIT_OF(errnum) \
	(256 - (errnum)) /* the exit status that a shell shows for a negative errno, for scripts that know it from perf */

/* The highest frequency that the kernel allows now; it lowers that on slow machines. */
uint64_t record_freq_limit(const struct kernel_seam *kernel);
int record_freq_find(
	const struct kernel_seam *kernel, const struct record_settings *settings, struct record_rate *rate);

#endif
