/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage_exit.h - lets a child that leaves by _exit, and a program that ends by the signal of its command, write their
 * counters first: tools/coverage.py includes it before each source file of its build.
 */
#ifndef COVERAGE_EXIT_H
#define COVERAGE_EXIT_H

#include <signal.h>
#include <unistd.h>

extern void __gcov_dump(void);

static inline __attribute__((noreturn)) void coverage_exit(int status)
{
	__gcov_dump();
	_exit(status);
}
#define _exit coverage_exit

static inline int coverage_raise(int signal_number)
{
	__gcov_dump();
	return raise(signal_number);
}
#define raise coverage_raise

#endif
