/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_test.h - includes cmocka, and the standard headers that it needs before it.
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

/* A test that this machine cannot run says why: tools/check shows the reason. */
#define skip_because(reason)                         \
	do {                                         \
		print_message("skip: %s\n", reason); \
		skip();                              \
	} while (0)

/* Who started the test may ignore or block signals (nohup, cron, a shell for what it runs in the background), and programs
 * inherit both. Tests of what signals do begin with neither. SIGPIPE stays as it is. */
__attribute__((constructor)) static void unit_test_reset_signals(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD};
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
}

#endif
