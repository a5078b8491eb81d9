/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/standin/standin_refusal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/array.h"
#include "fake_root.h"
#include "kernel/standin/thread_status.h"
#include "unit_test.h"

#define OWN_STATUS(capabilities, seccomp) \
	"/proc/self/status: Name: x\\nCapEff: " capabilities "\\nSeccomp: " seccomp "\n"
#define THREAD(tracer, user) "/proc/12/status: Name: x\\nTgid: 12\\nPPid: 1\\nTracerPid: " tracer "\\nUid: " user "\n"
#define YAMA		     "/proc/sys/kernel/yama/ptrace_scope: "
#define NO_USER		     "4000000000 0 0 0"

struct refused_trace {
	const char *root; /* In the format of fake_root.h. */
	pid_t tid;
	int errnum;
	const char *words[3]; /* Parts of the message; empty if it is the same as for perf events. */
};

/* clang-format off */
static const struct refused_trace refused_traces[] = {
	{"/proc/x: x\n", 12, ENOENT, {"cpu-clock and task-clock can be sampled in user mode"}},
	{"/proc/x: x\n", 12, EACCES, {"user mode alone", ":u"}},
	{"/proc/x: x\n", -1, EACCES, {"not whole CPUs"}},
	{"/proc/x: x\n", 12, ESRCH, {0}},
	{"/proc/x: x\n", 12, EMFILE, {0}},
	{OWN_STATUS("0", "0") THREAD("7", "0") "/proc/7/comm: gdb\\n\n", 12, EPERM,
		{"process 12 is traced by process 7 (gdb) already", "end that one first"}},
	{OWN_STATUS("0", "0") THREAD("7", "0"), 12, EPERM, {"traced by process 7 already"}},
	{OWN_STATUS("0", "0") THREAD("0", NO_USER), 12, EPERM, {"belongs to another user (4000000000)", "SYS_PTRACE"}},
	{OWN_STATUS("0", "0") YAMA "1\n", 12, EPERM,
		{"ptrace_scope is 1, which allows ptrace only of programs that the tracer starts", "let tally start the program",
			"kernel.yama.ptrace_scope=0"}},
	{OWN_STATUS("0", "0") YAMA "2\n", 12, EPERM, {"to no program without CAP_SYS_PTRACE", "ptrace_scope=1"}},
	{OWN_STATUS("80000", "0") YAMA "3\n", 12, EPERM, {"forbids ptrace to everybody until the next boot"}},
	{OWN_STATUS("80000", "0") YAMA "1\n", 12, EPERM, {"process 12 may not be traced"}},
	{OWN_STATUS("0", "2"), 12, EPERM, {"a seccomp filter", "forbids ptrace"}},
	{OWN_STATUS("0", "2"), 12, ENOSYS, {"a seccomp filter", "hides ptrace"}},
	{OWN_STATUS("0", "0"), 12, EPERM, {"process 12 may not be traced"}},
};
/* clang-format on */

static void gates_of_ptrace_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused_traces); i++) {
		const struct refused_trace *r = &refused_traces[i];
		char *root = fake_root_make(r->root);
		const struct kernel_seam seam = {.root = root};
		struct text reason = {0};
		assert_int_equal(standin_refusal(&seam, r->tid, r->errnum, &reason), r->words[0] != NULL);
		text_char(&reason, '\0');
		for (size_t k = 0; k < ARRAY_LEN(r->words) && r->words[k]; k++)
			if (!strstr(reason.data, r->words[k]))
				fail_msg("refusal %zu: '%s' is not in '%s'", i, r->words[k], reason.data);
		text_deinit(&reason);
		fake_root_remove(root);
	}
}

static void a_status_is_read(void **state)
{
	struct thread_status s = {0};
	(void)state;
	assert_true(thread_status_parse(
		STR("Name:\tx: y\nState:\tR (running)\nTgid:\t12\nPid:\t13\nPPid:\t1\nTracerPid:\t7\n"
		    "Uid:\t1000\t0\t0\t0\nNSpid:\t13\t5\t2\nSigIgn:\t0000000008000000\n"
		    "SigBlk:\tfffffffe7ffbfeff\nSigCgt:\t0000000000400000\nSeccomp:\t1\n"
		    "Seccomp_filters:\t3\n"),
		&s));
	assert_int_equal(s.pid, 12);
	assert_int_equal(s.parent, 1);
	assert_int_equal(s.tracer, 7);
	assert_int_equal(s.inner_tid, 2);
	assert_int_equal(s.user, 1000);
	assert_int_equal(s.state, 'R');
	assert_true(s.ignored & signal_bit(SIGWINCH));
	assert_true(s.blocked & signal_bit(SIGURG));
	assert_true(s.caught & signal_bit(SIGURG));
	assert_int_equal(s.filters, 3);
	assert_true(s.is_strict);
}

static void hostile_statuses_are_refused(void **state)
{
	static const char *const texts[] = {"", "\n", "Tgid:", "Tgid:\t-1\n", "Tgid:\t99999999999999999999\n",
		"Tgid 12\n", "Pid:\t12\n", "Tgid:\t4294967296\n"};
	struct thread_status s = {.pid = 1};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_false(thread_status_parse(str_from(texts[i]), &s));
	assert_int_equal(s.pid, 1);
	assert_true(thread_status_parse(STR("State:\nTgid:\t3\nNSpid:\nSigIgn:\tzz\nUid:\t\n"), &s));
	assert_int_equal(s.state, '?');
	assert_int_equal(s.ignored, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gates_of_ptrace_are_named),
		cmocka_unit_test(a_status_is_read),
		cmocka_unit_test(hostile_statuses_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
