/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/spawn.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_test.h"

static int run(char *const *argv, struct tally_error *err)
{
	struct spawn child;
	struct rusage usage;
	int status = -1;
	assert_int_equal(spawn_create(argv, &child, err), TALLY_OK);
	if (spawn_start(&child, err) != TALLY_OK) {
		spawn_cancel(&child);
		return -1;
	}
	assert_int_equal(spawn_wait(&child, &status, &usage, err), TALLY_OK);
	return status;
}

static void the_exit_status_comes_back(void **state)
{
	struct tally_error err;
	char *const seven[] = {"sh", "-c", "exit 7", NULL};
	int status = run(seven, &err);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	char *const killed[] = {"sh", "-c", "kill -9 $$", NULL};
	status = run(killed, &err);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void a_command_can_have_another_mask(void **state)
{
	struct tally_error err;
	struct spawn child;
	struct rusage usage;
	sigset_t blocked, before;
	int status = 0;
	char *const argv[] = {"sh", "-c", "kill -HUP $$; exit 7", NULL};
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGHUP);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	assert_int_equal(spawn_create_with_signals(argv, &before, &child, &err), TALLY_OK);
	assert_int_equal(spawn_start(&child, &err), TALLY_OK);
	assert_int_equal(spawn_wait(&child, &status, &usage, &err), TALLY_OK);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGHUP);
}

static void a_failing_exec_is_told(void **state)
{
	struct tally_error err;
	char *const missing[] = {"/no/such/command", NULL};
	assert_int_equal(run(missing, &err), -1);
	assert_int_equal(err.status, TALLY_NOT_FOUND);
	assert_int_equal(err.errnum, ENOENT);
	assert_non_null(strstr(err.text, "/no/such/command"));
	char *const directory[] = {"/tmp", NULL};
	assert_int_equal(run(directory, &err), -1);
	assert_int_equal(err.status, TALLY_DENIED);
}

static void nothing_runs_before_the_start(void **state)
{
	struct tally_error err;
	struct spawn child;
	char *const argv[] = {"sh", "-c", "kill -9 $PPID", NULL};
	assert_int_equal(spawn_create(argv, &child, &err), TALLY_OK);
	pid_t pid = child.pid;
	spawn_cancel(&child);
	assert_int_equal(kill(pid, 0), -1); /* The child has been reaped. */
	assert_int_equal(errno, ESRCH);
}

static void a_killed_child_is_no_broken_pipe(void **state)
{
	struct tally_error err;
	struct spawn child;
	struct rusage usage;
	bool has_ended = false;
	int status = 0;
	char *const argv[] = {"true", NULL};
	assert_int_equal(spawn_create(argv, &child, &err), TALLY_OK);
	kill(child.pid, SIGKILL);
	siginfo_t info;
	waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT);
	/* The kernel decides whether it fails; this process receives no signal. */
	enum tally_status started = spawn_start(&child, &err);
	assert_true(started == TALLY_OK || started == TALLY_IO);
	if (child.pid > 0) {
		assert_int_equal(spawn_try_wait(&child, &has_ended, &status, &usage, &err), TALLY_OK);
		assert_true(has_ended);
		assert_int_equal(WTERMSIG(status), SIGKILL);
	}
}

static void descriptors_do_not_leak_into_the_command(void **state)
{
	struct tally_error err;
	char *const argv[] = {
		"sh", "-c", "for f in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$f ] && exit 1; done; exit 0", NULL};
	int status = run(argv, &err);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exit_status_comes_back),
		cmocka_unit_test(a_command_can_have_another_mask),
		cmocka_unit_test(a_failing_exec_is_told),
		cmocka_unit_test(nothing_runs_before_the_start),
		cmocka_unit_test(a_killed_child_is_no_broken_pipe),
		cmocka_unit_test(descriptors_do_not_leak_into_the_command),
	};
	for (int fd = 3; fd < 10; fd++) /* The test harness may leave some open. */
		close(fd);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
