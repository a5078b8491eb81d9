/* SPDX-License-Identifier: Apache-2.0 */
#include "base/zeroed.h"

#include <stdlib.h>

#include "unit_test.h"

static void is_zeros_that_can_be_written(void **state)
{
	(void)state;
	for (size_t count = 0; count < 300; count = count * 2 + 1) {
		unsigned char *dirty = malloc(count + 64), *zeros;
		assert_non_null(dirty);
		for (size_t i = 0; i < count + 64; i++)
			dirty[i] = 0xff;
		free(dirty);
		zeros = zeroed_new(count, 1);
		assert_non_null(zeros);
		assert_int_equal((uintptr_t)zeros % 64, 0);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(zeros[i], 0);
			zeros[i] = 1;
		}
		free(zeros);
	}
}

static void too_much_is_refused(void **state)
{
	(void)state;
	assert_null(zeroed_new(SIZE_MAX, 2));
	assert_null(zeroed_new(SIZE_MAX, 1));
	assert_null(zeroed_new(SIZE_MAX / 8, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_zeros_that_can_be_written),
		cmocka_unit_test(too_much_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
