/* SPDX-License-Identifier: Apache-2.0 */
/* Tests access to files as a process sees them: for this process, and for one that does not exist. */
#include "code/process_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "unit_test.h"

#define NOBODY INT32_MAX /* Larger than the maximum PID of the kernel. */

static void own_path(char path[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
	assert_true(len > 0);
	path[len] = '\0';
}

static void test_own_program_is_mapped(void **state)
{
	struct arena arena;
	struct process_mapping mapping;
	char path[PATH_MAX], link[64];
	(void)state;
	arena_init(&arena);
	own_path(path);
	assert_true(process_maps_find(&arena, getpid(), path, &mapping));
	assert_false(mapping.is_deleted);
	snprintf(link, sizeof(link), "/proc/%d/map_files/", (int)getpid());
	assert_memory_equal(mapping.link, link, strlen(link));
	struct stat st;
	assert_int_equal(lstat(mapping.link, &st), 0);
	assert_non_null(process_exe(&arena, getpid(), path));
	assert_null(process_exe(&arena, getpid(), "/bin/another"));
	assert_false(process_maps_find(&arena, getpid(), "/bin/another", &mapping));
	assert_false(process_is_elsewhere(getpid()));
	arena_deinit(&arena);
}

static void test_a_process_that_is_gone(void **state)
{
	struct arena arena;
	struct process_mapping mapping;
	int fd;
	(void)state;
	arena_init(&arena);
	assert_false(process_maps_find(&arena, NOBODY, "/bin/sh", &mapping));
	assert_null(process_exe(&arena, NOBODY, "/bin/sh"));
	assert_false(process_is_elsewhere(NOBODY));
	assert_int_equal(process_root_open(NOBODY, "/bin/sh", &fd, NULL), TALLY_NOT_FOUND);
	arena_deinit(&arena);
}

static void test_only_regular_files_are_opened(void **state)
{
	char folder[] = "/tmp/tally-process-XXXXXX", path[64], fifo[64], *text;
	size_t len;
	int fd;
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	int made = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(made >= 0);
	assert_int_equal(file_write_all(made, "inside", 6, NULL), TALLY_OK);
	close(made);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	enum tally_status status = process_root_open(getpid(), path, &fd, NULL);
	if (status == TALLY_OK) {
		assert_int_equal(file_read_fd(fd, 100, &text, &len, NULL), TALLY_OK);
		assert_string_equal(text, "inside");
		free(text);
		close(fd);
		assert_int_equal(process_root_open(getpid(), fifo, &fd, NULL), TALLY_INVALID);
		assert_int_equal(process_root_open(getpid(), folder, &fd, NULL), TALLY_INVALID);
		assert_int_equal(process_root_open(getpid(), "/dev/null", &fd, NULL), TALLY_INVALID);
	}
	unlink(path);
	unlink(fifo);
	rmdir(folder);
	if (status == TALLY_UNSUPPORTED)
		skip_because("this kernel has no openat2");
	assert_int_equal(status, TALLY_OK);
	assert_int_equal(process_root_open(getpid(), path, &fd, NULL), TALLY_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_program_is_mapped),
		cmocka_unit_test(test_a_process_that_is_gone),
		cmocka_unit_test(test_only_regular_files_are_opened),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
