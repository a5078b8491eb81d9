/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the list of fuzz targets of a program without libFuzzer.
 */
#ifndef FUZZ_DRIVER_H
#define FUZZ_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *source; /* the path of its file, whose name without ".c" is the target's */
	int (*run)(const uint8_t *data, size_t size);
	struct fuzz_target *next;
};

/* The target stays in the list for the life of the program. */
void fuzz_target_add(struct fuzz_target *target);

#endif
