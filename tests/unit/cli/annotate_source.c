/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which source lines are shown before an instruction. */
#include "tasks/listing/annotate_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit_test.h"

static char folder[64], file[96];

static int set_up(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/tally-source-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/a.c", folder);
	FILE *out = fopen(file, "w");
	assert_non_null(out);
	for (unsigned i = 1; i <= 20; i++)
		fprintf(out, "\t line %u \r\n", i);
	assert_int_equal(fclose(out), 0);
	return 0;
}

static int tear_down(void **state)
{
	unlink(file);
	rmdir(folder);
	return 0;
}

static void check(struct annotate_source *source, uint32_t line, uint32_t wanted)
{
	uint32_t first = 0;
	assert_int_equal(annotate_source_move(source, file, line, &first), wanted != 0);
	assert_int_equal(first, wanted);
}

static void test_lines_that_were_not_shown(void **state)
{
	struct annotate_source source;
	annotate_source_init(&source, NULL, 0);
	check(&source, 10, 5); /* A few lines before the first one are shown. */
	check(&source, 10, 0);
	check(&source, 12, 11);
	check(&source, 11, 11); /* The line is earlier, so only it is shown. */
	check(&source, 13, 13);
	check(&source, 20, 15); /* The line is far ahead. */
	check(&source, 3, 3);
	check(&source, 0, 0);
	assert_string_equal(annotate_source_line(&source, 3), "line 3");
	assert_null(annotate_source_line(&source, 21));
	assert_null(annotate_source_line(&source, 0));
	annotate_source_restart(&source);
	check(&source, 3, 1);
	annotate_source_deinit(&source);
}

static void test_tabs_are_columns(void **state)
{
	struct annotate_source source;
	annotate_source_init(&source, NULL, 0);
	FILE *out = fopen(file, "w");
	assert_non_null(out);
	fputs("  \tint x\t= 3;\t/* a\tb */\ng[i] \t+= x;\n12345678\t\t9\t\n", out);
	assert_int_equal(fclose(out), 0);
	check(&source, 3, 1);
	assert_string_equal(annotate_source_line(&source, 1), "int x   = 3;    /* a    b */");
	assert_string_equal(annotate_source_line(&source, 2), "g[i]    += x;");
	assert_string_equal(annotate_source_line(&source, 3), "12345678                9");
	annotate_source_deinit(&source);
}

static void test_prefix_and_missing_files(void **state)
{
	struct annotate_source source;
	uint32_t first;
	annotate_source_init(&source, folder, 2);
	assert_true(annotate_source_move(&source, "/build/tree/a.c", 2, &first));
	assert_false(annotate_source_move(&source, "/build/tree/b.c", 2, &first));
	assert_false(annotate_source_move(&source, "/a", 2, &first)); /* The directory itself has no lines. */
	annotate_source_deinit(&source);
}

static void test_a_fifo_is_left_alone(void **state)
{
	struct annotate_source source;
	char path[96];
	uint32_t first;
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	annotate_source_init(&source, NULL, 0);
	assert_false(annotate_source_move(&source, path, 1, &first));
	annotate_source_deinit(&source);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines_that_were_not_shown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tabs_are_columns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_prefix_and_missing_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_fifo_is_left_alone, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
