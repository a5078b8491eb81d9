/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/kmem/gfp_flags.h"

#include "unit_test.h"

static void assert_short(const char *names, const char *letters)
{
	struct text out = {0};
	gfp_flags_short(str_from(names), &out);
	text_char(&out, 0);
	assert_string_equal(out.data, letters);
	text_deinit(&out);
}

static void letters(void **state)
{
	assert_short("GFP_KERNEL", "K");
	assert_short("GFP_HIGHUSER_MOVABLE|__GFP_ZERO|__GFP_COMP", "HUM|Z|C");
	assert_short("__GFP_COMP|0x200|__GFP_NEWEST", "C|0x200|__GFP_NEWEST");
	assert_short("", "");
	assert_short("none", "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(letters)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
