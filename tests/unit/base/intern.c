/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <stdio.h>

#include "unit_test.h"

static void ids_are_dense_and_unique(void **state)
{
	struct intern in;
	intern_init(&in);
	assert_int_equal(intern_find(&in, "a", 1), INTERN_NONE);
	const char *first = NULL;
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 20000; i++) {
			char text[32];
			size_t len = (size_t)snprintf(text, sizeof(text), "symbol_%u", i * 7919);
			uint32_t id;
			assert_true(intern_add(&in, text, len, &id));
			assert_int_equal(id, i);
			assert_int_equal(intern_find(&in, text, len), i);
			if (i == 0 && round == 0)
				first = intern_get(&in, 0).data;
		}
	}
	assert_int_equal(in.len, 20000);
	assert_ptr_equal(intern_get(&in, 0).data, first);
	assert_string_equal(intern_get(&in, 3).data, "symbol_23757");
	assert_int_equal(intern_find(&in, "symbol_1", 8), INTERN_NONE);
	assert_int_equal(intern_get(&in, 20000).len, 0);
	assert_string_equal(intern_get(&in, INTERN_NONE).data, "");
	intern_deinit(&in);
}

static void bytes_with_nul_and_nothing(void **state)
{
	struct intern in;
	intern_init(&in);
	uint32_t empty, a, b, again;
	assert_true(intern_add(&in, NULL, 0, &empty));
	assert_true(intern_add(&in, "a\0b", 3, &a));
	assert_true(intern_add(&in, "a\0c", 3, &b));
	assert_true(intern_add(&in, "", 0, &again));
	assert_int_equal(empty, again);
	assert_int_not_equal(a, b);
	assert_int_equal(intern_get(&in, a).len, 3);
	assert_int_equal(intern_find(&in, "a", 1), INTERN_NONE);
	intern_deinit(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_dense_and_unique),
		cmocka_unit_test(bytes_with_nul_and_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
