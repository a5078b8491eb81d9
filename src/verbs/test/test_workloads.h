/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_workloads.h - declares workloads with known behaviour and perf's names, for tests that record something (test -w
 * NAME). Their functions have the names that perf's test scripts search for.
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
	int (*run)(int argc, char **argv); /* argv has the argc words after the name. Returns the exit code. */
};

const struct workload *workloads_all(size_t *count);
/* Returns NULL if there is no such workload. */
const struct workload *workload_find(const char *name);
/* Starts the time for which the workload runs: argv[0] in seconds, or one second if argc is 0. Returns false after a
 * message. */
bool workload_start(int argc, char **argv);
/* Returns whether the workload's time is over. */
bool workload_ends(void);

/* The following functions and data are searched for by name in recordings. */
struct workload_datasym { /* perf's test scripts expect data1 at offset 0 and data2 at 0x38. */
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
