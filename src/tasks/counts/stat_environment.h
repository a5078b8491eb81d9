/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_environment.h - describes what simulated counts depend on besides the program: the CPU's features, by which the
 * C library selects functions; the C library; the kernel; and the environment variables, because their size moves the
 * stack.
 *
 * A stored result contains it, and a comparison names the differences. Values.
 *
 *	struct stat_environment now;
 *	stat_environment_read(kernel, &now);
 *	if (!stat_environment_differences(&text, &before, &now)) ... they are equal
 */
#ifndef TASKS_COUNTS_STAT_ENVIRONMENT_H
#define TASKS_COUNTS_STAT_ENVIRONMENT_H

#include "base/json.h"
#include "kernel/system/kernel_seam.h"

#define STAT_ENVIRONMENT_BYTES 512 /* Maximum size of a text, including the NUL byte. */

/* "" and 0 stand for unknown. */
struct stat_environment {
	char machine[STAT_ENVIRONMENT_BYTES]; /* Machine, such as "x86_64". */
	/* Blank-separated names of the features by which the C library selects functions. */
	char cpu_features[STAT_ENVIRONMENT_BYTES];
	char libc[STAT_ENVIRONMENT_BYTES]; /* The system's C library, which tally itself uses, such as "glibc 2.36". */
	char tunables[STAT_ENVIRONMENT_BYTES]; /* Value of GLIBC_TUNABLES. */
	char kernel[STAT_ENVIRONMENT_BYTES]; /* Kernel release. */
	char simulator[STAT_ENVIRONMENT_BYTES]; /* Simulator, such as "valgrind=3.19.0"; set by the caller. */
	uint64_t variables_bytes; /* Size of the environment variables, as exec counts it. */
};

void stat_environment_read(const struct kernel_seam *kernel, struct stat_environment *environment);
/* Writes the member "environment" of the open object. */
void stat_environment_json(struct json *json, const struct stat_environment *environment);
/* Sets a member from what stat_environment_json has written. Ignores unknown keys. */
void stat_environment_set(struct stat_environment *environment, struct tally_str key, struct tally_str value);
/* Appends text such as "CPU features (only A: erms), kernel (6.1.0 and 6.12.5)". Values that are unknown in one of them
 * do not count as different, except GLIBC_TUNABLES, for which "" stands for none. Returns false if nothing differs. */
bool stat_environment_differences(struct text *t, const struct stat_environment *a, const struct stat_environment *b);

#endif
