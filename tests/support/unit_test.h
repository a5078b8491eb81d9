/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_test.h - includes cmocka, and the standard headers that it needs before it.
 */
#ifndef SUPPORT_UNIT_TEST_H
#define SUPPORT_UNIT_TEST_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/* A test that this machine cannot run says why: tools/check shows the reason. */
#define skip_because(reason)                         \
	do {                                         \
		print_message("skip: %s\n", reason); \
		skip();                              \
	} while (0)

#endif
