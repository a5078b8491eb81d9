/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - makes a file with LLVMFuzzerTestOneInput one of several targets of a program without libFuzzer.
 *
 * meson.build includes it before each of these files: the function becomes static, and is registered under the name of
 * the file.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include "driver.h"

/* The "int" before the name becomes the return type of a function that is declared and never defined. */
#define LLVMFuzzerTestOneInput(...)                                                              \
	fuzz_target_int(void);                                                                   \
	static int fuzz_target_run(__VA_ARGS__);                                                 \
	__attribute__((constructor)) static void fuzz_target_register(void)                      \
	{                                                                                        \
		static struct fuzz_target target = {.source = __FILE__, .run = fuzz_target_run}; \
		fuzz_target_add(&target);                                                        \
	}                                                                                        \
	static int fuzz_target_run(__VA_ARGS__)

#endif
