/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_freq.h - determines the sampling rate of record and top from -F, -c and the kernel's limit.
 *
 *	int code = record_freq_find(kernel, &settings, &rate);	// 0, or the exit status after a message
 */
#ifndef TASKS_RECORDING_RECORD_FREQ_H
#define TASKS_RECORDING_RECORD_FREQ_H

#include "tasks/recording/record_options.h"

#define EXIT_OF(errnum) \
	(256 - (errnum)) /* Exit status that a shell shows for a negative errno. Scripts know it from perf. */

/* Returns the highest frequency that the kernel currently allows; the kernel lowers it on slow machines. */
uint64_t record_freq_limit(const struct kernel_seam *kernel);
int record_freq_find(
	const struct kernel_seam *kernel, const struct record_settings *settings, struct record_rate *rate);

#endif
