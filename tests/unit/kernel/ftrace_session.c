/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/ftrace/ftrace_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_root.h"
#include "kernel/system/kernel_files.h"
#include "unit_test.h"

#define T "/sys/kernel/tracing/"
#define TOP                                                                                              \
	T "events/: \n" T "available_tracers: function_graph function nop\n" T "current_tracer: nop\n" T \
	  "tracing_on: 1\n" T "trace: # tracer: x\\n#\\n 0) old\n" T "trace_pipe: line\n" T              \
	  "set_ftrace_filter: #### all functions enabled ####\n" T "set_ftrace_pid: no pid\n" T          \
	  "max_graph_depth: 0\n" T "buffer_size_kb: 7 (expanded: 1408)\n" T "options/sleep-time: 1\n"
#define DEAD "2147483647" /* No process has this PID. */

static struct kernel_seam seam;

static void ftrace_session_expect(const char *file, const char *value)
{
	char *text;
	assert_int_equal(kernel_text(&seam, &text, NULL, T "%s", file), TALLY_OK);
	assert_string_equal(text, value);
	free(text);
}

static void the_top_is_as_before(void **state)
{
	char *root = fake_root_make(TOP), *heading;
	struct ftrace_session *session;
	struct tally_error err = {0};
	seam.root = root;
	assert_int_equal(ftrace_open(&seam, "function_graph", NULL, &session, &err), TALLY_OK);
	assert_int_equal(ftrace_set(session, "set_ftrace_filter", "a", "-T", &err), TALLY_OK);
	assert_int_equal(ftrace_set(session, "set_ftrace_filter", "b*", "-T", &err), TALLY_OK);
	assert_int_equal(ftrace_set(session, "max_graph_depth", "5", "depth", &err), TALLY_OK);
	assert_int_equal(ftrace_set(session, "max_graph_depth", "6", "depth", &err), TALLY_OK);
	assert_int_equal(ftrace_set(session, "buffer_size_kb", "64", "-m", &err), TALLY_OK);
	assert_int_equal(ftrace_set(session, "options/sleep-time", "1", "sleep", &err), TALLY_OK);
	assert_int_equal(ftrace_set(session, "options/new", "1", "--graph-opts new", &err), TALLY_UNSUPPORTED);
	assert_string_equal(
		err.text, "--graph-opts new is not supported by this kernel: tracefs has no file options/new");
	ftrace_session_expect("tracing_on", "0");
	assert_int_equal(ftrace_heading(session, &heading, &err), TALLY_OK);
	assert_string_equal(heading, "# tracer: x\n#\n");
	free(heading);
	assert_int_equal(ftrace_prepare(session, &err), TALLY_OK);
	assert_int_equal(ftrace_start(session, &err), TALLY_OK);
	ftrace_session_expect("current_tracer", "function_graph");
	ftrace_session_expect("tracing_on", "1");
	ftrace_session_expect("max_graph_depth", "6");
	ftrace_session_expect("trace", "");
	char room[8];
	assert_int_equal(read(ftrace_pipe(session), room, sizeof(room)), 5);
	ftrace_stop(session);
	ftrace_session_expect("tracing_on", "0");
	ftrace_close(session);
	ftrace_session_expect("current_tracer", "nop");
	ftrace_session_expect("tracing_on", "1");
	ftrace_session_expect("max_graph_depth", "0");
	ftrace_session_expect("buffer_size_kb", "7");
	ftrace_session_expect("set_ftrace_filter", "");
	fake_root_remove(root);
}

static void check_refusal(const char *root_text, const char *tracer, const char *said)
{
	char *root = fake_root_make(root_text);
	struct ftrace_session *session;
	struct tally_error err = {0};
	seam.root = root;
	enum tally_status status = ftrace_open(&seam, tracer, NULL, &session, &err);
	if (status == TALLY_OK) {
		status = ftrace_set(session, "set_ftrace_filter", "a", "-T", &err);
		ftrace_close(session);
	}
	assert_int_not_equal(status, TALLY_OK);
	assert_non_null(strstr(err.text, said));
	fake_root_remove(root);
}

static void what_is_missing_or_used_is_named(void **state)
{
	check_refusal("/proc/: \n", "function", "tracefs, which is not mounted");
	check_refusal(T "events/: \n" T "available_tracers: blk nop\n", "function_graph",
		"no tracer 'function_graph': /sys/kernel/tracing/available_tracers lists 'blk nop'; function_graph "
		"needs");
	check_refusal(T "events/: \n" T "available_tracers: function nop\n" T "current_tracer: blk\n" T
			"tracing_on: 1\n",
		"function", "the tracer 'blk' runs already");
	check_refusal(TOP T "instances/tally-ftrace-1-top/: \n", "function",
		"another ftrace (PID 1) has changed the settings at the top of /sys/kernel/tracing; wait until it "
		"ends");
	check_refusal(T "events/: \n" T "available_tracers: function nop\n" T "current_tracer: nop\n" T
			"tracing_on: 1\n" T "set_ftrace_filter: vfs_read\n",
		"function", "set_ftrace_filter is not empty: somebody else traces there");
}

static void what_a_killed_session_left_is_removed(void **state)
{
	char *root = fake_root_make(TOP T "instances/tally-ftrace-" DEAD "-top/: \n" T "instances/tally-ftrace-1/: \n" T
					  "instances/tally-ftrace-x/: \n" T "instances/other/: \n");
	struct ftrace_session *session;
	struct tally_error err = {0};
	struct diag diag;
	seam.root = root;
	diag_init(&diag);
	/* The state of tracefs after a session was killed. */
	char command[600];
	snprintf(command, sizeof(command),
		"cd '%s" T "' && echo function_graph >current_tracer && echo 0 >tracing_on && echo 5 >max_graph_depth",
		root);
	assert_int_equal(system(command), 0);
	assert_int_equal(ftrace_open(&seam, "function", &diag, &session, &err), TALLY_OK);
	assert_int_equal(diag.len, 1);
	assert_non_null(strstr(diag.entries[0].text,
		"instances/tally-ftrace-" DEAD "-top, which a killed ftrace (PID " DEAD ") left behind"));
	assert_false(kernel_has(&seam, T "instances/tally-ftrace-" DEAD "-top"));
	assert_true(kernel_has(&seam, T "instances/tally-ftrace-1"));
	assert_true(kernel_has(&seam, T "instances/tally-ftrace-x"));
	assert_true(kernel_has(&seam, T "instances/other"));
	ftrace_session_expect("max_graph_depth", "0");
	ftrace_session_expect("current_tracer", "nop");
	assert_true(kernel_has(&seam, T "instances/tally-ftrace-%d-top", (int)getpid()));
	ftrace_close(session);
	assert_false(kernel_has(&seam, T "instances/tally-ftrace-%d-top", (int)getpid()));
	assert_false(kernel_has(&seam, T "instances/tally-ftrace-%d", (int)getpid()));
	ftrace_session_expect("tracing_on", "1");
	diag_deinit(&diag);
	fake_root_remove(root);
}

struct ftrace_names {
	unsigned count;
	char last[40];
};

static bool ftrace_session_note(void *context, const char *name)
{
	struct ftrace_names *names = context;
	names->count++;
	snprintf(names->last, sizeof(names->last), "%s", name);
	return names->count < 2;
}

static void functions_are_listed(void **state)
{
	char *root = fake_root_make(T "events/: \n" T "available_filter_functions: a\\nb [m]\\nc\\n\n");
	struct ftrace_names names = {0};
	struct tally_error err;
	seam.root = root;
	assert_int_equal(ftrace_functions(&seam, ftrace_session_note, &names, &err), TALLY_OK);
	assert_int_equal(names.count, 2);
	assert_string_equal(names.last, "b [m]");
	fake_root_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_top_is_as_before),
		cmocka_unit_test(what_is_missing_or_used_is_named),
		cmocka_unit_test(what_a_killed_session_left_is_removed),
		cmocka_unit_test(functions_are_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
