/* SPDX-License-Identifier: Apache-2.0 */
#include "base/deflate.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/array.h"
#include "unit_test.h"

#define BYTES 300000 /* More than is written at once. */

static void what_comes_out_is_what_went_in(void **state)
{
	(void)state;
	uint8_t *bytes = malloc(BYTES), *back = malloc(BYTES);
	assert_true(bytes && back);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)(i * i >> 7);
	static const size_t sizes[] = {0, 1, 1000, BYTES};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct text t = {0};
		uLongf len = BYTES;
		deflate_append(&t, (struct tally_bytes){bytes, sizes[i]});
		assert_false(t.failed);
		assert_int_equal(uncompress(back, &len, (const Bytef *)t.data, t.len), Z_OK);
		assert_int_equal(len, sizes[i]);
		assert_memory_equal(back, bytes, sizes[i]);
		text_deinit(&t);
	}
	free(bytes);
	free(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_comes_out_is_what_went_in)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
