/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_test.h - includes cmocka and the standard headers that it needs before it, and makes a file of tests a module of
 * its folder's test program.
 *
 * A file of tests has a main, as a program of its own would have. The files of a folder are linked into one program,
 * so main is a macro here: it names a static function, and registers that under the name of the file. The program's
 * own main (unit_program.c) calls the function of the module that its argument names:
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

/* A test that this machine cannot run says why: tools/check shows the reason. */
#define skip_because(reason)                         \
	do {                                         \
		print_message("skip: %s\n", reason); \
		skip();                              \
	} while (0)

/* The "int" before main is that of a function which is declared and nowhere defined. */
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
