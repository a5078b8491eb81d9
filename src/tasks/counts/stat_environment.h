/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_environment.h - describes what simulated counts depend on besides the program: the CPU's features, which choose
 * functions of the C library, the C library, the kernel, and the environment variables, whose size moves the stack.
 *
 * A stored result carries it, and a comparison names what differs. Values.
 *
 *	struct stat_environment now;
 *	stat_environment_read(kernel, &now);
 *	if (!stat_environment_differences(&text, &before, &now)) ... they are alike
 */
#ifndef TASKS_COUNTS_STAT_ENVIRONMENT_H
#define TASKS_COUNTS_STAT_ENVIRONMENT_H

#include "base/json.h"
#include "kernel/system/kernel_seam.h"

#define STAT_ENVIRONMENT_BYTES 512 /* of a text */

struct stat_environment { /* "" or 0: not known */
	char machine[STAT_ENVIRONMENT_BYTES]; /* "x86_64" */
	char cpu_features
		[STAT_ENVIRONMENT_BYTES]; /* names with blanks: those that the C library chooses functions by */
	char libc[STAT_ENVIRONMENT_BYTES]; /* "glibc 2.36": of tally, and of programs that use the system's */
	char tunables[STAT_ENVIRONMENT_BYTES]; /* GLIBC_TUNABLES */
	char kernel[STAT_ENVIRONMENT_BYTES]; /* the release */
	char simulator[STAT_ENVIRONMENT_BYTES]; /* "valgrind=3.19.0"; the caller's */
	uint64_t variables_bytes; /* of the environment, as exec counts it */
};

void stat_environment_read(const struct kernel_seam *kernel, struct stat_environment *environment);
/* The member "environment" of an object. */
void stat_environment_json(struct json *json, const struct stat_environment *environment);
/* A member that stat_environment_json has written; others are left out. */
void stat_environment_set(struct stat_environment *environment, struct tally_str key, struct tally_str value);
/* "CPU features (only A: erms), kernel (6.1.0 and 6.12.5)"; false: nothing that both know differs. */
bool stat_environment_differences(struct text *t, const struct stat_environment *a, const struct stat_environment *b);

#endif
