/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/package_hint.h"

#include <stdio.h>
#include <string.h>

#include "unit_test.h"

static void expect_hint(const struct package_hints *hints, const char *path, const char *build_id, const char *hint)
{
	struct text out = {0};
	package_hint_print(hints, &out, path, build_id);
	text_char(&out, '\0');
	assert_false(out.failed);
	assert_string_equal(out.data, hint);
	text_deinit(&out);
}

static void other_systems(void **state)
{
	const struct package_hints fedora = {.is_fedora = true}, unknown = {0};
	expect_hint(&fedora, "/usr/bin/x", "ab12", "dnf --enablerepo='*debug*' install 'debuginfo(build-id) = ab12'");
	expect_hint(&fedora, "/usr/bin/x", "", "dnf debuginfo-install /usr/bin/x");
	expect_hint(&unknown, "/usr/bin/x", "ab12",
		"the debug package of the one it comes from (PACKAGE-dbgsym, PACKAGE-debuginfo), or build it with -g "
		"and do not strip it");
}

static void files_of_no_package(void **state)
{
	const struct package_hints debian = {.is_debian = true};
	const char *hint = "no package owns it: build it with -g and do not strip it, or keep its debug file";
	expect_hint(&debian, "/home/me/program", "ab12", hint);
	expect_hint(&debian, "relative", "ab12", hint);
	expect_hint(&debian, "/", "ab12", hint);
}

/* dpkg finds the package of a file by itself. */
static void files_of_packages(void **state)
{
	struct package_hints hints;
	struct arena arena;
	char said[256] = "";
	FILE *dpkg = popen("dpkg -S /usr/bin/dpkg 2>/dev/null", "r");
	bool is_said = dpkg && fgets(said, sizeof(said), dpkg);
	if (dpkg)
		pclose(dpkg);
	package_hints_init(&hints);
	if (!is_said || !hints.is_debian) {
		skip_because("dpkg is not installed");
	}
	arena_init(&arena);
	said[strcspn(said, ":")] = '\0';
	assert_string_equal(package_of(&arena, "/usr/bin/dpkg"), said);
	assert_null(package_of(&arena, "/usr/bin/dpk"));
	assert_null(package_of(&arena, "/usr/bin/dpkg-none"));
	arena_deinit(&arena);
	expect_hint(&hints, "/usr/bin/dpkg", "",
		"apt-get install dpkg-dbgsym (from the debug archive of the distribution; or dpkg-dbg)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_systems),
		cmocka_unit_test(files_of_no_package),
		cmocka_unit_test(files_of_packages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
