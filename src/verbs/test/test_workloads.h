/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_workloads.h - programs of a known behaviour, by perf's names, for tests that record something (test -w NAME). What
 * they do is known by the names of their functions, which are those that perf's scripts look for.
 *
 *	const struct workload *workload = workload_find("noploop");
 *	code = workload->run(argc, argv);
 */
#ifndef VERBS_TEST_TEST_WORKLOADS_H
#define VERBS_TEST_TEST_WORKLOADS_H

#include <stdbool.h>
#include <stddef.h>

struct workload {
	const char *name;
	int (*run)(int argc, char **argv); /* argv: what follows the name */
};

const struct workload *workloads_all(size_t *count);
/* NULL: there is none. */
const struct workload *workload_find(const char *name);
/* Sets the workload's time: argv[0] in seconds, or one second, from now on. False after a message. */
bool workload_start(int argc, char **argv);
/* Whether the time of the workload is over. */
bool workload_ends(void);

/* Functions and data by the names that recordings show. */
struct workload_datasym { /* perf's scripts expect data1 at 0 and data2 at 0x38 */
	char data1;
	char reserved[55];
	char data2;
} __attribute__((aligned(64)));
extern struct workload_datasym workload_datasym_buf1;
extern volatile int workload_inlineloop_count;
void noploop(void);
void *test_loop(void *arg);
void leaf(void);
void parent(void);
void leafloop(void);
void sqrtloop(void);
void workload_inlineloop_parent(int c);
int workload_jitdump(int argc, char **argv);
int workload_deterministic(int argc, char **argv);
void callchain(void);
void callchain_foo(void);
void callchain_do_syscall(void);
bool context_switch_loop_proc1(int in, int out);
bool context_switch_loop_proc2(int in, int out);
void brstack(long turns);
void brstack_bar(void);
void brstack_foo(void);
void brstack_bench(void);
void workload_busy(void);
void workload_busier(void);

#endif
