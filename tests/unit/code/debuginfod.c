/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/debuginfod.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit_test.h"

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void names_the_cached_file(void **state)
{
	const struct elf_build_id id = {.size = 2, .bytes = {0xab, 0x01}}, none = {0};
	char root[] = "/tmp/tally-debuginfod-XXXXXX", folder[64], path[80];
	struct arena arena;
	(void)state;
	arena_init(&arena);
	assert_non_null(mkdtemp(root));
	snprintf(folder, sizeof(folder), "%s/ab01", root);
	snprintf(path, sizeof(path), "%s/debuginfo", folder);
	setenv("DEBUGINFOD_CACHE_PATH", root, 1);
	assert_string_equal(debuginfod_cached(&arena, id, "debuginfo"), path);
	assert_null(debuginfod_cached(&arena, none, "debuginfo"));
	assert_int_equal(mkdir(folder, 0700), 0);
	put(path, "");
	assert_null(debuginfod_cached(&arena, id, "debuginfo")); /* An empty file means that no server had it. */
	put(path, "x");
	assert_string_equal(debuginfod_cached(&arena, id, "debuginfo"), path);
	unlink(path);
	rmdir(folder);
	rmdir(root);
	assert_null(debuginfod_cached(&arena, id, "debuginfo")); /* The cache directory is missing. */
	arena_deinit(&arena);
}

static void needs_a_server(void **state)
{
	struct debuginfod_request request = {.id = {.size = 1}};
	struct debuginfod_job *job;
	struct tally_error err;
	(void)state;
	unsetenv("DEBUGINFOD_URLS");
	assert_int_equal(
		debuginfod_start(&(struct debuginfod_options){.urls = NULL}, &request, 1, &job, &err), TALLY_NOT_FOUND);
	assert_int_equal(debuginfod_start(&(struct debuginfod_options){.urls = "system"}, &request, 1, &job, &err),
		TALLY_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_the_cached_file),
		cmocka_unit_test(needs_a_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
