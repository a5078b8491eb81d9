/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checks.h - provides the main function of a program with named checks that is built against an installed copy of the
 * library.
 *
 * usage of such a program: PROGRAM CHECK. Exits with 0, with 1 and an error message, or with 77 and the reason why
 * the check cannot run. Without CHECK it prints the names of all checks.
 *
 *	CHECK(a_name_of_two_or_more_words) { EXPECT_EQ(1 + 1, 2); }
 *	int main(int argc, char **argv) { return checks_main(argc, argv); }
 */
#ifndef TESTS_LIBRARY_CHECKS_H
#define TESTS_LIBRARY_CHECKS_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check {
	const char *name;
	void (*run)(void);
	struct check *next;
};
static struct check *checks_first;

#define CHECK(NAME)                                                    \
	static void NAME(void);                                        \
	__attribute__((constructor)) static void NAME##_register(void) \
	{                                                              \
		static struct check check = {#NAME, NAME, NULL};       \
		check.next = checks_first;                             \
		checks_first = &check;                                 \
	}                                                              \
	static void NAME(void)

#define FAIL(...)                                               \
	do {                                                    \
		fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
		fprintf(stderr, __VA_ARGS__);                   \
		fputc('\n', stderr);                            \
		exit(1);                                        \
	} while (0)
#define EXPECT(CONDITION)                       \
	do {                                    \
		if (!(CONDITION))               \
			FAIL("%s", #CONDITION); \
	} while (0)
#define EXPECT_EQ(A, B)                                                                               \
	do {                                                                                          \
		unsigned long long got_ = (unsigned long long)(A), wanted_ = (unsigned long long)(B); \
		if (got_ != wanted_)                                                                  \
			FAIL("%s is %llu, not %llu", #A, got_, wanted_);                              \
	} while (0)
/* For calls with &err as their last argument. */
#define EXPECT_OK(CALL)                                  \
	do {                                             \
		if ((CALL) != TALLY_OK)                  \
			FAIL("%s: %s", #CALL, err.text); \
	} while (0)
#define SKIP(...)                             \
	do {                                  \
		fprintf(stderr, __VA_ARGS__); \
		exit(77);                     \
	} while (0)

static int checks_main(int argc, char **argv)
{
	sigset_t none; /* The caller may have blocked some signals. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (struct check *check = checks_first; check; check = check->next) {
		if (argc != 2) {
			puts(check->name);
			continue;
		}
		if (strcmp(check->name, argv[1]) == 0) {
			check->run();
			return 0;
		}
	}
	if (argc != 2)
		return 0;
	fprintf(stderr, "no such check\n");
	return 1;
}

#endif
