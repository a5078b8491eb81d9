/* SPDX-License-Identifier: Apache-2.0 */
#include "base/checksum.h"

#include <zlib.h>

#include "unit_test.h"

static void is_that_of_zlib(void **state)
{
	static uint8_t bytes[5000];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i >> 3);
	assert_int_equal(checksum_crc32((struct tally_bytes){(const uint8_t *)"123456789", 9}), 0xcbf43926);
	for (size_t len = 0; len < sizeof(bytes); len = len * 2 + 1)
		assert_int_equal(
			checksum_crc32((struct tally_bytes){bytes + len % 7, len}), crc32_z(0, bytes + len % 7, len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_that_of_zlib),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
