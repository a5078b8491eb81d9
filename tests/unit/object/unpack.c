/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/unpack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tally_config.h"
#if HAVE_ZSTD
#include <zstd.h>
#endif

#include "unit_test.h"

#define PLAIN_BYTES 1000000
#define LIMIT	    (4u << 20)

struct packed {
	uint8_t bytes[PLAIN_BYTES];
	size_t len;
};

static uint8_t plain[PLAIN_BYTES];

static void gzip(struct packed *out)
{
	z_stream stream = {.next_in = plain, .avail_in = sizeof(plain), .next_out = out->bytes};
	stream.avail_out = sizeof(out->bytes);
	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	out->len = stream.total_out;
	deflateEnd(&stream);
}

static void check(const struct packed *packed)
{
	uint8_t *out;
	size_t len;
	struct tally_bytes bytes = {packed->bytes, packed->len};
	assert_true(unpack_is_packed(bytes));
	assert_int_equal(unpack(bytes, LIMIT, &out, &len, NULL), TALLY_OK);
	assert_int_equal(len, sizeof(plain));
	assert_memory_equal(out, plain, sizeof(plain));
	free(out);
	assert_int_equal(unpack(bytes, sizeof(plain) - 1, &out, &len, NULL), TALLY_LIMIT);
	for (bytes.len = packed->len - 1; bytes.len > 8; bytes.len /= 2)
		assert_int_equal(unpack(bytes, LIMIT, &out, &len, NULL), TALLY_CORRUPT);
}

static void unpacks_within_a_limit(void **state)
{
	struct packed *packed = test_malloc(sizeof(*packed));
	(void)state;
	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (uint8_t)(i * i >> 7);
	gzip(packed);
	check(packed);
#if HAVE_ZSTD
	packed->len = ZSTD_compress(packed->bytes, sizeof(packed->bytes), plain, sizeof(plain), 3);
	check(packed);
#endif
	assert_false(unpack_is_packed((struct tally_bytes){(const uint8_t *)"\x7f"
									    "ELF....",
		8}));
	test_free(packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(unpacks_within_a_limit)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
