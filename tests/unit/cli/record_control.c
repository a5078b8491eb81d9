/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_control.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "unit_test.h"

static void test_specs(void **state)
{
	struct record_control_spec s;
	assert_true(record_control_parse("fd:3,4", &s));
	assert_true(s.is_given && !s.is_fifo);
	assert_int_equal(s.control_fd, 3);
	assert_int_equal(s.ack_fd, 4);
	assert_true(record_control_parse("fd:0", &s));
	assert_int_equal(s.control_fd, 0);
	assert_int_equal(s.ack_fd, -1);
	assert_true(record_control_parse("fifo:/a,/b", &s));
	assert_true(s.is_fifo && str_equal(s.control_path, STR("/a")) && str_equal(s.ack_path, STR("/b")));
	assert_true(record_control_parse("fifo:/a", &s));
	assert_int_equal(s.ack_path.len, 0);
	static const char *const bad[] = {"", "fd:", "fd:x", "fd:-1", "fd:1,", "fd:1,2,3", "fd:99999999999",
		"fifo:", "fifo:,b", "fifo:a,", "pipe:1"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (record_control_parse(bad[i], &s))
			fail_msg("'%s' is taken", bad[i]);
}

struct ends {
	int commands[2], answers[2];
	struct record_control control;
};

static void open_ends(struct ends *e)
{
	char text[64];
	struct record_control_spec spec;
	assert_int_equal(pipe(e->commands), 0);
	assert_int_equal(pipe(e->answers), 0);
	snprintf(text, sizeof(text), "fd:%d,%d", e->commands[0], e->answers[1]);
	assert_true(record_control_parse(text, &spec));
	assert_int_equal(record_control_open(&spec, &e->control, NULL), TALLY_OK);
}

static void close_ends(struct ends *e)
{
	record_control_close(&e->control);
	for (int i = 0; i < 2; i++) { /* The descriptors still belong to the test. */
		assert_int_equal(close(e->answers[i]), 0);
		if (e->commands[i] >= 0)
			assert_int_equal(close(e->commands[i]), 0);
	}
}

static void test_commands(void **state)
{
	static const char text[] =
		"ping\nenable\n\nenable cycles:u\ndisable\0evlist -v\nstop\nsnapshot\nstop it\nbogus\nping";
	static const struct {
		enum record_command command;
		const char *argument;
	} expected[] = {
		{COMMAND_PING, ""},
		{COMMAND_ENABLE, ""},
		{COMMAND_ENABLE, "cycles:u"},
		{COMMAND_UNKNOWN, NULL},
		{COMMAND_STOP, ""},
		{COMMAND_SNAPSHOT, ""},
		{COMMAND_UNKNOWN, "stop it"},
		{COMMAND_UNKNOWN, "bogus"},
		{COMMAND_PING, ""},
	};
	struct ends e;
	struct record_control_line line;
	open_ends(&e);
	assert_int_equal(write(e.commands[1], text, sizeof(text)), sizeof(text)); /* With the NUL at the end. */
	assert_true(record_control_read(&e.control));
	for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
		assert_true(record_control_next(&e.control, &line));
		assert_int_equal(line.command, expected[i].command);
		if (expected[i].argument)
			assert_true(str_equal(line.argument, str_from(expected[i].argument)));
	}
	assert_false(record_control_next(&e.control, &line));
	close(e.commands[1]);
	e.commands[1] = -1;
	assert_false(record_control_read(&e.control)); /* The other end was closed. */
	assert_false(record_control_next(&e.control, &line));
	close_ends(&e);
}

static size_t count_pings(struct ends *e)
{
	struct record_control_line line;
	size_t count = 0;
	assert_true(record_control_read(&e->control));
	for (; record_control_next(&e->control, &line); count++)
		assert_int_equal(line.command, COMMAND_PING);
	return count;
}

static void more_commands_than_the_buffer_holds(void **state)
{
	(void)state;
	enum { PINGS = 1900 };
	struct ends e;
	open_ends(&e);
	for (size_t i = 0; i < PINGS; i++)
		assert_int_equal(write(e.commands[1], "ping\n", 5), 5);
	assert_int_equal(count_pings(&e), PINGS);
	/* The last one has no newline and ends with the buffer. */
	char room[RECORD_CONTROL_BYTES];
	memset(room, '\n', sizeof(room));
	memcpy(room + sizeof(room) - 4, "ping", 4);
	assert_int_equal(write(e.commands[1], room, sizeof(room)), sizeof(room));
	assert_int_equal(count_pings(&e), 1);
	close_ends(&e);
}

static void test_answers(void **state)
{
	struct ends e;
	char answer[16];
	open_ends(&e);
	record_control_acknowledge(&e.control);
	assert_int_equal(read(e.answers[0], answer, sizeof(answer)), 5);
	assert_memory_equal(answer, "ack\n", 5);
	close_ends(&e);
}

static void test_fifos(void **state)
{
	char dir[] = "/tmp/tally-control-XXXXXX", path[64], text[80];
	struct record_control_spec spec;
	struct record_control control;
	struct tally_error err;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/ctl", dir);
	snprintf(text, sizeof(text), "fifo:%s", path);
	assert_true(record_control_parse(text, &spec));
	assert_int_equal(record_control_open(&spec, &control, &err), TALLY_IO);
	assert_non_null(strstr(err.text, "Failed to open"));
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(record_control_open(&spec, &control, &err), TALLY_OK);
	assert_true(control.control_fd >= 0 && control.ack_fd < 0);
	assert_true(record_control_read(&control)); /* Nobody has opened the FIFO for writing, which is not the end. */
	record_control_acknowledge(&control);
	record_control_close(&control);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	spec = (struct record_control_spec){0};
	assert_int_equal(record_control_open(&spec, &control, &err), TALLY_OK);
	assert_int_equal(control.control_fd, -1);
	spec = (struct record_control_spec){.is_given = true, .control_fd = 12345, .ack_fd = -1};
	assert_int_equal(record_control_open(&spec, &control, &err), TALLY_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_specs),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(more_commands_than_the_buffer_holds),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_fifos),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
