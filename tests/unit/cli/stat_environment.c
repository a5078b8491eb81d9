/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_environment.h"

#include <string.h>

#include "unit_test.h"

static struct stat_environment environment_of(const char *features, const char *kernel, const char *variables)
{
	struct stat_environment environment = {0};
	stat_environment_set(&environment, STR("cpu-features"), str_from(features));
	stat_environment_set(&environment, STR("kernel"), str_from(kernel));
	stat_environment_set(&environment, STR("variables-bytes"), str_from(variables));
	stat_environment_set(&environment, STR("unknown"), STR("x"));
	return environment;
}

static void expect_differences(struct stat_environment a, struct stat_environment b, const char *expected)
{
	struct text t = {0};
	assert_int_equal(stat_environment_differences(&t, &a, &b), expected[0] != '\0');
	text_char(&t, '\0');
	assert_string_equal(t.data, expected);
	text_deinit(&t);
}

static void differences_are_named(void **state)
{
	const struct stat_environment old = environment_of("avx2 erms", "6.1", "100");
	expect_differences(old, old, "");
	expect_differences(old, environment_of("avx2", "6.1", "100"), "CPU features (only A: erms)");
	expect_differences(old, environment_of("avx2 avx512f fsrm", "6.12", "120"),
		"CPU features (only A: erms; only B: avx512f fsrm), kernel (6.1 and 6.12), size of the environment "
		"variables "
		"(100 and 120 bytes)");
	expect_differences(old, (struct stat_environment){0}, ""); /* Unknown values are not differences. */
	struct stat_environment tuned = old;
	stat_environment_set(&tuned, STR("glibc-tunables"), STR("glibc.cpu.hwcaps=-ERMS"));
	expect_differences(old, tuned, "GLIBC_TUNABLES (none and glibc.cpu.hwcaps=-ERMS)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(differences_are_named)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
