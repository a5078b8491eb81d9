/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the list of fuzz targets of a program without libFuzzer.
 */
#ifndef FUZZ_DRIVER_H
#define FUZZ_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *source; /* Path of the source file; its name without ".c" is the name of the target. */
	int (*run)(const uint8_t *data, size_t size);
	struct fuzz_target *next;
};

/* The target must be static: it stays in the list. */
void fuzz_target_add(struct fuzz_target *target);

#endif
