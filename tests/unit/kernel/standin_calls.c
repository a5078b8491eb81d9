/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a program continues undisturbed if its tracer is killed while it makes system calls in the program. */
#include "kernel/standin/standin_calls.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit_test.h"

#define TARGET_RIGHT  7
#define TRACER_CANNOT 77
#define CHAIN_ROUNDS  40000000
#define SLEEP_MS      300
#define MS_PER_S      1000
#define NS_PER_MS     INT64_C(1000000)

enum target_state { COMPUTES, READS, SLEEPS, TARGET_STATES };

static uint64_t chain(uint64_t value)
{
	uint64_t a = value, b = 3, c = 5, d = 7;
	for (int i = 0; i < CHAIN_ROUNDS; i++) {
		a = a * UINT64_C(6364136223846793005) + (b ^ c);
		b += a >> 7;
		c ^= d << 3;
		d += c + (a & 1);
	}
	return a ^ b ^ c ^ d;
}

static int64_t test_now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * MS_PER_S + now.tv_nsec / NS_PER_MS;
}

static void run_target(enum target_state state, int in, uint64_t expected)
{
	sigset_t mask, now;
	char byte;
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	bool is_right = true;
	if (state == COMPUTES) {
		is_right = chain(1) == expected;
	} else if (state == READS) {
		is_right = read(in, &byte, 1) == 1 && byte == 'x';
	} else {
		const struct timespec pause = {0, SLEEP_MS * NS_PER_MS};
		int64_t start = test_now_ms();
		is_right = nanosleep(&pause, NULL) == 0 && test_now_ms() - start >= SLEEP_MS;
	}
	sigprocmask(SIG_SETMASK, NULL, &now);
	_exit(is_right && sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2) && !sigismember(&now, SIGTERM)
			? TARGET_RIGHT
			: 1);
}

/* The tracer dies after so many calls; 0 means before the first one. */
static void run_tracer(pid_t target, int calls)
{
	static const uint64_t none[STANDIN_CALL_ARGUMENTS];
	struct standin s = {.seam = {.root = ""}};
	const struct standin_process process = {.pid = target};
	struct standin_thread thread = {.tid = target, .pid = target};
	struct standin_calls c;
	siginfo_t info;
	long result = 0;
	if (!vec_push(&s.processes, process) ||
		ptrace(PTRACE_SEIZE, target, NULL, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD) != 0 ||
		ptrace(PTRACE_INTERRUPT, target, NULL, NULL) != 0 || waitid(P_PID, (id_t)target, &info, WSTOPPED) != 0)
		_exit(TRACER_CANNOT);
	if (!standin_calls_begin(&c, &s, &thread, false) || s.room_offset == 0)
		_exit(TRACER_CANNOT);
	for (int i = 0; i < calls; i++)
		if (!standin_call(&c, SYS_getpid, none, &result) || result != (long)target)
			_exit(1);
	_exit(0);
}

static void one_target(enum target_state state, int calls, uint64_t expected)
{
	int fds[2], status = 0, tracer_status = 0;
	const struct timespec pause = {0, 20 * NS_PER_MS};
	assert_int_equal(pipe(fds), 0);
	pid_t target = fork();
	assert_true(target >= 0);
	if (target == 0)
		run_target(state, fds[0], expected);
	nanosleep(&pause, NULL);
	pid_t tracer = fork();
	assert_true(tracer >= 0);
	if (tracer == 0)
		run_tracer(target, calls);
	assert_int_equal(waitpid(tracer, &tracer_status, 0), tracer);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(waitpid(target, &status, 0), target);
	close(fds[0]);
	close(fds[1]);
	if (WEXITSTATUS(tracer_status) == TRACER_CANNOT)
		skip(); /* ptrace is not permitted here, or the vDSO has no free space. */
	assert_int_equal(WEXITSTATUS(tracer_status), 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != TARGET_RIGHT)
		fail_msg("state %d, %d calls: the program ended with wait status %#x", (int)state, calls,
			(unsigned)status);
}

static void a_killed_tracer_leaves_the_program_as_it_was(void **unused)
{
	uint64_t expected = chain(1);
	(void)unused;
	for (enum target_state state = COMPUTES; state < TARGET_STATES; state++)
		for (int calls = 0; calls < 3; calls++)
			one_target(state, calls, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_tracer_leaves_the_program_as_it_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
