/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/exec_stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_root.h"
#include "unit_test.h"

static void threads_that_exit_are_known(void **state)
{
	char *root = fake_root_make("/proc/5/stat: 5 (a b) c) S 1 5 5 0 -1 4194304 0 0\n"
				    "/proc/6/stat: 6 (x) R 1 6 6 0 -1 4194308 0 0\n"
				    "/proc/7/stat: 7 (x) Z 1 7 7 0 -1 4194304 0 0\n"
				    "/proc/8/stat: nonsense\n"
				    "/proc/9/stat: 9 (x)\n"
				    "/proc/10/stat: 10 (x) R 1 6 6\n");
	struct kernel_seam seam = {.root = root};
	assert_false(thread_is_ending(&seam, 5));
	assert_true(thread_is_ending(&seam, 6)); /* The flag PF_EXITING is set. */
	assert_true(thread_is_ending(&seam, 7));
	assert_true(thread_is_ending(&seam, 8));
	assert_true(thread_is_ending(&seam, 9));
	assert_false(thread_is_ending(&seam, 10));
	assert_true(thread_is_ending(&seam, 11)); /* The thread does not exist. */
	fake_root_remove(root);
}

static void write_program(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static bool explains(const char *command, const char *word)
{
	struct text reason = {0};
	bool does = exec_stop_explain(command, &reason);
	text_char(&reason, '\0');
	bool has_word = does && strstr(reason.data, word);
	text_deinit(&reason);
	return has_word;
}

static void programs_are_looked_at(void **state)
{
	char folder[] = "/tmp/exec_stop_XXXXXX", plain[64], other[64];
	struct text reason = {0};
	assert_non_null(mkdtemp(folder));
	snprintf(plain, sizeof(plain), "%s/plain", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	write_program(plain, "\177ELF", 0755);
	assert_false(exec_stop_explain(plain, &reason));
	assert_false(exec_stop_explain("/nonexistent/program", &reason));
	assert_int_equal(reason.len, 0);
	write_program(other, "\177ELF", 0755);
	/* With no_new_privs, set-user-ID bits have no effect. */
	bool may_gain = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
	if (may_gain && geteuid() == 0 && chown(other, 65534, 65534) == 0) {
		assert_int_equal(chmod(other, 04755), 0);
		assert_true(explains(other, "it is set-user-ID"));
		assert_int_equal(chmod(other, 02755), 0);
		assert_true(explains(other, "it is set-group-ID"));
		assert_int_equal(setenv("PATH", folder, 1), 0);
		assert_true(explains("other", "set-group-ID")); /* execvp finds the program in PATH. */
		assert_int_equal(truncate(other, 0), 0);
		write_program(other, "#!/bin/sh\n", 04755);
		assert_false(explains(other, "")); /* Set-user-ID bits have no effect on scripts. */
	}
	unlink(plain);
	unlink(other);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_exit_are_known),
		cmocka_unit_test(programs_are_looked_at),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
