/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_test.h - includes cmocka and the standard headers that cmocka requires, and makes a test file a module of the
 * test program of its folder.
 *
 * A test file has a main, like a separate program. The files of a folder are linked into one program, so main is a
 * macro here: it defines a static function and registers it under the name of the file. The real main
 * (unit_program.c) calls the function of the module that its argument names:
 *
 *	test_base arena
 */
#ifndef SUPPORT_UNIT_TEST_H
#define SUPPORT_UNIT_TEST_H

/* clang-format off */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "unit_program.h"

/* Nonzero in a build with the address sanitizer, where statistical tests repeat less often than in the plain build. */
#if defined(__has_feature)
#define IS_SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

/* A test that cannot run on this machine prints the reason, which tools/check shows. */
#define skip_because(reason)                         \
	do {                                         \
		print_message("skip: %s\n", reason); \
		skip();                              \
	} while (0)

/* The "int" before main becomes the return type of a function that is declared and never defined. */
#define main(parameters)                                                                         \
	unit_test_int(void);                                                                     \
	static int unit_test_main(parameters);                                                   \
	__attribute__((constructor)) static void unit_test_register(void)                        \
	{                                                                                        \
		static struct unit_module module = {.source = __FILE__, .main = unit_test_main}; \
		unit_program_add(&module);                                                       \
	}                                                                                        \
	static int unit_test_main(parameters)

#endif
