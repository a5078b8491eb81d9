/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_threads.h"

#include "unit_test.h"

static void name_thread(struct trace_threads *threads, uint32_t pid, uint32_t tid, const char *name, bool is_exec)
{
	const struct record record = {.type = RECORD_COMM};
	const struct record_fields fields = {.comm = {pid, tid, is_exec, str_from(name)}};
	assert_true(trace_threads_apply(threads, &record, &fields));
}

static void change_thread(struct trace_threads *threads, uint32_t type, struct record_task task)
{
	const struct record record = {.type = type};
	const struct record_fields fields = {.task = task};
	assert_true(trace_threads_apply(threads, &record, &fields));
}

static void assert_name(const struct trace_threads *threads, int32_t tid, const char *name)
{
	char room[TRACE_COMM_BYTES];
	const struct trace_thread *thread = trace_threads_find(threads, tid);
	assert_non_null(thread);
	struct tally_str shown = trace_thread_name(thread, room);
	assert_int_equal(shown.len, strlen(name));
	assert_memory_equal(shown.data, name, shown.len);
}

static void children_have_their_parents_names(void **state)
{
	struct trace_threads threads;
	trace_threads_init(&threads, false);
	name_thread(&threads, 10, 10, "a-name-longer-than-15", true);
	assert_name(&threads, 10, "a-name-longer-t");
	change_thread(&threads, RECORD_FORK, (struct record_task){.pid = 11, .tid = 11, .ppid = 10, .ptid = 10});
	assert_name(&threads, 11, "a-name-longer-t");
	name_thread(&threads, 11, 11, "child", true);
	assert_name(&threads, 11, "child");
	assert_non_null(trace_threads_get(&threads, 12, 11));
	assert_name(&threads, 12, ":12");
	trace_threads_deinit(&threads);
}

/* A TID is reused: the new thread has no state of the old one. */
static void ended_threads_are_forgotten(void **state)
{
	struct trace_threads threads;
	trace_threads_init(&threads, false);
	name_thread(&threads, 10, 10, "old", true);
	trace_threads_get(&threads, 10, 10)->events = 5;
	change_thread(&threads, RECORD_EXIT, (struct record_task){.pid = 10, .tid = 10, .ppid = 1, .ptid = 1});
	assert_null(trace_threads_find(&threads, 10));
	name_thread(&threads, 20, 20, "other", true); /* Uses the same slot. */
	assert_int_equal(threads.items.len, 1);
	assert_null(trace_threads_find(&threads, 10));
	assert_int_equal(trace_threads_get(&threads, 10, 10)->events, 0);
	trace_threads_deinit(&threads);
}

static void ended_threads_are_kept_for_sums(void **state)
{
	struct trace_threads threads;
	trace_threads_init(&threads, true);
	trace_threads_get(&threads, 10, 10)->events = 5;
	change_thread(&threads, RECORD_EXIT, (struct record_task){.pid = 10, .tid = 10});
	assert_ptr_equal(trace_threads_known(&threads, 10), threads.items.items[0]);
	assert_int_equal(trace_threads_get(&threads, 10, 10)->events, 0); /* This is a new thread. */
	assert_int_equal(threads.items.len, 2);
	assert_int_equal(threads.items.items[0]->events, 5);
	trace_threads_deinit(&threads);
}

static void files_are_of_processes(void **state)
{
	struct trace_threads threads;
	trace_threads_init(&threads, false);
	assert_true(trace_threads_set_file(&threads, 10, 3, STR("/etc/hosts")));
	assert_true(trace_threads_set_file(&threads, 10, 1 << 30, STR("/far"))); /* Too high a number to be stored. */
	assert_true(trace_threads_set_file(&threads, 10, 60000, (struct tally_str){NULL, 0})); /* Nothing to store. */
	assert_int_equal(trace_threads_find(&threads, 10)->files.len, 4);
	assert_string_equal(trace_threads_file(&threads, 10, 3), "/etc/hosts");
	assert_null(trace_threads_file(&threads, 10, 2));
	assert_null(trace_threads_file(&threads, 10, -100));
	assert_null(trace_threads_file(&threads, 11, 3));
	change_thread(&threads, RECORD_FORK, (struct record_task){.pid = 11, .tid = 11, .ppid = 10, .ptid = 10});
	assert_string_equal(trace_threads_file(&threads, 11, 3), "/etc/hosts");
	trace_threads_forget_files(&threads, 10, 0, UINT32_MAX);
	assert_null(trace_threads_file(&threads, 10, 3));
	assert_string_equal(trace_threads_file(&threads, 11, 3), "/etc/hosts");
	name_thread(&threads, 11, 11, "other", true); /* An exec may have closed the files. */
	assert_null(trace_threads_file(&threads, 11, 3));
	trace_threads_deinit(&threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_have_their_parents_names),
		cmocka_unit_test(ended_threads_are_forgotten),
		cmocka_unit_test(ended_threads_are_kept_for_sums),
		cmocka_unit_test(files_are_of_processes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
