/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include "base/limits.h"
#include "unit_test.h"

static void equal_texts_are_counted(void **state)
{
	struct diag d;
	diag_init(&d);
	for (int i = 0; i < 5; i++)
		diag_add(&d, DIAG_WARNING, "ring halved to %d pages", 64);
	diag_add(&d, DIAG_NOTE, "ring halved to %d pages", 64);
	assert_int_equal(d.len, 2);
	assert_string_equal(d.entries[0].text, "ring halved to 64 pages");
	assert_int_equal(d.entries[0].count, 5);
	assert_int_equal(d.entries[1].level, DIAG_NOTE);
	assert_int_equal(d.dropped, 0);
	diag_deinit(&d);
	assert_int_equal(d.len, 0);
}

static void texts_beyond_the_limit_are_only_counted(void **state)
{
	struct diag d;
	diag_init(&d);
	for (int i = 0; i < LIMIT_DIAG_TEXTS + 10; i++)
		diag_add(&d, DIAG_ERROR, "%d", i);
	assert_int_equal(d.len, LIMIT_DIAG_TEXTS);
	assert_int_equal(d.dropped, 10);
	diag_add(&d, DIAG_ERROR, "%d", 0);
	assert_int_equal(d.entries[0].count, 2);
	diag_deinit(&d);
	diag_add(NULL, DIAG_ERROR, "dropped");
}

static void texts_of_another_are_added(void **state)
{
	struct diag d, other;
	diag_init(&d);
	diag_init(&other);
	diag_add(&d, DIAG_NOTE, "a");
	diag_add(&other, DIAG_NOTE, "a");
	diag_add(&other, DIAG_NOTE, "a");
	diag_add(&other, DIAG_WARNING, "100%%s");
	other.dropped = 3;
	diag_add_all(&d, &other);
	diag_add_all(NULL, &other);
	assert_int_equal(d.len, 2);
	assert_int_equal(d.entries[0].count, 3);
	assert_string_equal(d.entries[1].text, "100%s");
	assert_int_equal(d.dropped, 3);
	diag_deinit(&other);
	diag_deinit(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_are_counted),
		cmocka_unit_test(texts_beyond_the_limit_are_only_counted),
		cmocka_unit_test(texts_of_another_are_added),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
