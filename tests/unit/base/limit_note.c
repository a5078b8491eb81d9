/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limit_note.h"

#include "unit_test.h"

static void the_first_one_is_kept(void **state)
{
	assert_null(limit_noted());
	limit_note("%s is longer than %d MB", "/proc/1/maps", 64);
	limit_note("%s is longer, too", "another");
	assert_string_equal(limit_noted(), "/proc/1/maps is longer than 64 MB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_one_is_kept)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
