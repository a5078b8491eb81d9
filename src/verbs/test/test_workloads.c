/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/test/test_workloads.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"

#define TEST_WORKLOADS_NOINLINE __attribute__((noinline))
/* Used after a call, so that the compiler does not turn it into a jump. */
#define KEEP_FRAME()		   __asm__ volatile("" ::: "memory")
#define TEST_WORKLOADS_MAX_THREADS 1000
#define BRANCHES		   999999
#define SHARE_TURN		   1000
#define LANDLOCK_ADD_RULE	   445 /* The number is the same on all architectures. */

static volatile sig_atomic_t test_workloads_over;
static volatile unsigned test_workloads_sink;

bool workload_ends(void)
{
	return test_workloads_over;
}

static void test_workloads_alarm(int signal)
{
	(void)signal;
	test_workloads_over = 1;
}

bool workload_start(int argc, char **argv)
{
	char *end = NULL;
	double seconds = argc > 0 ? strtod(argv[0], &end) : 1;
	if (argc > 0 && (end == argv[0] || *end || !(seconds > 0) || seconds > 1e6)) {
		fprintf(stderr, "the workload's argument '%s' is not a number of seconds\n", argv[0]);
		return false;
	}
	const struct itimerval timer = {
		.it_value = {(time_t)seconds, (suseconds_t)((seconds - floor(seconds)) * 1e6) + 1}};
	(void)signal(SIGALRM, test_workloads_alarm);
	(void)signal(SIGINT, test_workloads_alarm);
	return setitimer(ITIMER_REAL, &timer, NULL) == 0;
}

/* Parses argv[0] if there is one. Returns false after a message. */
static bool workload_turns(int argc, char **argv, int64_t *turns)
{
	char *end = NULL;
	if (argc == 0)
		return true;
	errno = 0;
	*turns = strtoll(argv[0], &end, 10);
	if (end != argv[0] && !*end && errno == 0 && *turns > 0)
		return true;
	fprintf(stderr, "the workload's argument '%s' is not a number of turns\n", argv[0]);
	return false;
}

/* ---- loops ---- */

TEST_WORKLOADS_NOINLINE void noploop(void)
{
	while (!test_workloads_over)
		;
}

static int test_workloads_noploop(int argc, char **argv)
{
	if (!workload_start(argc, argv))
		return 1;
	noploop();
	return 0;
}

TEST_WORKLOADS_NOINLINE void *test_loop(void *arg)
{
	while (!test_workloads_over)
		test_workloads_sink++;
	return arg;
}

static int test_workloads_thloop(int argc, char **argv)
{
	pthread_t threads[TEST_WORKLOADS_MAX_THREADS];
	int wanted = argc > 1 ? atoi(argv[1]) : 2, started = 0;
	if (wanted < 1 || wanted > TEST_WORKLOADS_MAX_THREADS) {
		fprintf(stderr, "the number of threads '%s' is not in the range 1 to %d\n", argv[1],
			TEST_WORKLOADS_MAX_THREADS);
		return 1;
	}
	if (!workload_start(MIN(argc, 1), argv))
		return 1;
	while (started + 1 < wanted && pthread_create(&threads[started], NULL, test_loop, NULL) == 0)
		started++;
	(void)test_loop(NULL);
	while (started > 0)
		(void)pthread_join(threads[--started], NULL);
	return 0;
}

static void *test_workloads_named(void *arg)
{
	char name[16];
	snprintf(name, sizeof(name), "thread%d", (int)(intptr_t)arg);
	(void)pthread_setname_np(pthread_self(), name);
	return test_loop(arg);
}

/* Starts threads with different names. The arguments are the number of threads and of seconds. */
static int test_workloads_named_threads(int argc, char **argv)
{
	pthread_t threads[TEST_WORKLOADS_MAX_THREADS];
	int wanted = argc > 0 ? atoi(argv[0]) : 1, started = 0;
	if (wanted < 1 || wanted > TEST_WORKLOADS_MAX_THREADS || !workload_start(argc - 1, argv + 1))
		return fprintf(stderr, "named_threads takes a number of threads and seconds\n"), 1;
	while (started < wanted &&
		pthread_create(&threads[started], NULL, test_workloads_named, (void *)(intptr_t)started) == 0)
		started++;
	while (started > 0)
		(void)pthread_join(threads[--started], NULL);
	return 0;
}

TEST_WORKLOADS_NOINLINE void leaf(void)
{
	/* The function uses its frame pointer, so that call graphs by frame pointers contain its caller. */
	__asm__ volatile("" ::"r"(__builtin_frame_address(0)));
	while (!test_workloads_over)
		test_workloads_sink++;
}

TEST_WORKLOADS_NOINLINE void parent(void)
{
	leaf();
	KEEP_FRAME();
}

TEST_WORKLOADS_NOINLINE void leafloop(void)
{
	parent();
	KEEP_FRAME();
}

static int test_workloads_leafloop(int argc, char **argv)
{
	if (!workload_start(argc, argv))
		return 1;
	leafloop();
	return 0;
}

TEST_WORKLOADS_NOINLINE void sqrtloop(void)
{
	volatile double sum = 0;
	for (unsigned i = 0; !test_workloads_over; i++)
		sum = sum + sqrt((double)i);
}

/* Runs sqrtloop in a child process. */
static int test_workloads_sqrtloop(int argc, char **argv)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!workload_start(argc, argv))
			_exit(1);
		sqrtloop();
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}

static int test_workloads_inlineloop(int argc, char **argv)
{
	if (!workload_start(argc, argv))
		return 1;
	workload_inlineloop_parent(1);
	return 0;
}

/* ---- branches ---- */

TEST_WORKLOADS_NOINLINE void brstack_bar(void)
{
	test_workloads_sink++;
}

TEST_WORKLOADS_NOINLINE void brstack_foo(void)
{
	brstack_bar();
	KEEP_FRAME();
}

TEST_WORKLOADS_NOINLINE void brstack_bench(void)
{
	void (*volatile indirect)(void) = brstack_foo;
	if (test_workloads_sink % 2 == 0)
		brstack_bar();
	brstack_foo();
	indirect();
	KEEP_FRAME();
}

TEST_WORKLOADS_NOINLINE void brstack(long turns)
{
	for (long i = 0; i < turns; i++)
		brstack_bench();
	KEEP_FRAME();
}

static int test_workloads_brstack(int argc, char **argv)
{
	brstack(argc > 0 ? atol(argv[0]) : BRANCHES);
	return 0;
}

/* Executes instructions that trap into the kernel, or into the hypervisor of a virtual machine. */
static int test_workloads_traploop(int argc, char **argv)
{
	long turns = argc > 0 ? atol(argv[0]) : 10000;
	for (long i = 0; i < turns; i++) {
#if defined(__x86_64__)
		unsigned a = 0, b, c = 0, d;
		__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
#elif defined(__aarch64__)
		unsigned long id;
		__asm__ volatile("mrs %0, ID_AA64ISAR0_EL1" : "=r"(id));
#endif
	}
	return 0;
}

/* ---- system calls ---- */

#define CONTEXT_TURNS 100 /* Default number of turns of each process. */
#define CONTEXT_WORK  10000

/* A chain of three calls, so that a call graph into the kernel grows and shrinks by one frame at a time. */
TEST_WORKLOADS_NOINLINE void callchain_do_syscall(void)
{
	(void)syscall(SYS_gettid);
	KEEP_FRAME();
}

TEST_WORKLOADS_NOINLINE void callchain_foo(void)
{
	callchain_do_syscall();
	KEEP_FRAME();
}

TEST_WORKLOADS_NOINLINE void callchain(void)
{
	callchain_foo();
	KEEP_FRAME();
}

static int test_workloads_callchain(int argc, char **argv)
{
	int64_t turns = 1;
	if (!workload_turns(argc, argv, &turns))
		return 1;
	for (int64_t i = 0; i < turns; i++)
		callchain();
	return 0;
}

/* Both functions work and then hand the turn to the other process. They return false if it has exited. */
TEST_WORKLOADS_NOINLINE bool context_switch_loop_proc1(int in, int out)
{
	char turn;
	for (unsigned i = 0; i < CONTEXT_WORK; i++)
		test_workloads_sink++;
	return read(in, &turn, 1) == 1 && write(out, &turn, 1) == 1;
}

TEST_WORKLOADS_NOINLINE bool context_switch_loop_proc2(int in, int out)
{
	char turn = 0;
	for (unsigned i = 0; i < CONTEXT_WORK; i++)
		test_workloads_sink++;
	return write(out, &turn, 1) == 1 && read(in, &turn, 1) == 1;
}

/* Runs two processes with different names in turns, each in a function of its own. */
static int test_workloads_context_switch_loop(int argc, char **argv)
{
	int there[2], back[2], status = 0;
	int64_t turns = CONTEXT_TURNS;
	bool is_done = true;
	if (!workload_turns(argc, argv, &turns))
		return 1;
	if (pipe2(there, O_CLOEXEC) < 0 || pipe2(back, O_CLOEXEC) < 0)
		return perror("context_switch_loop has no pipe"), 1;
	pid_t pid = fork();
	if (pid < 0)
		return perror("context_switch_loop cannot make a process"), 1;
	const bool is_first = pid == 0;
	/* Each end is open in one process only, so that a process notices when the other one exits. */
	const int in = is_first ? there[0] : back[0], out = is_first ? back[1] : there[1];
	close(is_first ? there[1] : there[0]);
	close(is_first ? back[0] : back[1]);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)prctl(PR_SET_NAME, is_first ? "proc1" : "proc2");
	for (int64_t i = 0; i < turns && is_done; i++)
		is_done = is_first ? context_switch_loop_proc1(in, out) : context_switch_loop_proc2(in, out);
	if (is_first)
		_exit(is_done ? 0 : 1);
	close(in);
	close(out);
	return waitpid(pid, &status, 0) == pid && status == 0 && is_done ? 0 : 1;
}

/* ---- data ---- */

struct workload_datasym workload_datasym_buf1 = {.reserved = {1}};

static int test_workloads_datasym(int argc, char **argv)
{
	volatile struct workload_datasym *buffer = &workload_datasym_buf1;
	if (!workload_start(argc, argv))
		return 1;
	while (!test_workloads_over) {
		buffer->data1++;
		/* Two accesses to one cache line with some code between them. */
		if (buffer->data1 == 123)
			buffer->data1 += (char)argc;
		buffer->data2 = (char)(buffer->data2 + buffer->data1);
	}
	return 0;
}

/* Makes two system calls that fail, with arguments that a tracer can decode. */
static int test_workloads_landlock(int argc, char **argv)
{
	struct {
		uint64_t allowed;
		int32_t parent_fd;
	} __attribute__((packed)) beneath = {1, 14};
	struct {
		uint64_t allowed, port;
	} port = {1, 19};
	(void)argc;
	(void)argv;
	(void)syscall(LANDLOCK_ADD_RULE, 11, 1, &beneath, 45);
	(void)syscall(LANDLOCK_ADD_RULE, 11, 2, &port, 45);
	return 0;
}

/* ---- two functions of a known share ---- */

TEST_WORKLOADS_NOINLINE void workload_busy(void)
{
	for (unsigned i = 0; i < SHARE_TURN; i++)
		test_workloads_sink++;
}

TEST_WORKLOADS_NOINLINE void workload_busier(void)
{
	for (unsigned i = 0; i < 3 * SHARE_TURN; i++)
		test_workloads_sink++;
}

/* Spends three quarters of the time in one function and a quarter in the other. */
static int test_workloads_shares(int argc, char **argv)
{
	if (!workload_start(argc, argv))
		return 1;
	while (!test_workloads_over) {
		workload_busy();
		workload_busier();
	}
	return 0;
}

static const struct workload workloads[] = {
	{"noploop", test_workloads_noploop},
	{"thloop", test_workloads_thloop},
	{"named_threads", test_workloads_named_threads},
	{"leafloop", test_workloads_leafloop},
	{"sqrtloop", test_workloads_sqrtloop},
	{"brstack", test_workloads_brstack},
	{"datasym", test_workloads_datasym},
	{"landlock", test_workloads_landlock},
	{"traploop", test_workloads_traploop},
	{"inlineloop", test_workloads_inlineloop},
	{"jitdump", workload_jitdump},
	{"context_switch_loop", test_workloads_context_switch_loop},
	{"deterministic", workload_deterministic},
	{"callchain", test_workloads_callchain},
	{"shares", test_workloads_shares},
};

const struct workload *workloads_all(size_t *count)
{
	*count = ARRAY_LEN(workloads);
	return workloads;
}

const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(workloads); i++)
		if (strcmp(workloads[i].name, name) == 0)
			return &workloads[i];
	return NULL;
}
