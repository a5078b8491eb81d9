/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/batch_pack.h"

#include <stdlib.h>

#include "unit_test.h"

#define RAW_BYTES 300000

static void needs_zstd(void)
{
	if (!fleet_batch_can_compress())
		skip_because("this build has no zstd");
}

static struct tally_bytes bytes_of(const struct text *t)
{
	return (struct tally_bytes){(const uint8_t *)t->data, t->len};
}

static struct text packed_bytes(size_t len)
{
	struct text raw = {0}, packed = {0};
	for (uint32_t i = 0; raw.len < len; i++)
		text_printf(&raw, "%u", i * i % 977);
	raw.len = len;
	assert_int_equal(fleet_batch_compress(bytes_of(&raw), &packed, NULL), TALLY_OK);
	assert_true(packed.len < len);
	text_deinit(&raw);
	return packed;
}

static void bytes_come_back(void **state)
{
	needs_zstd();
	struct text raw = {0}, packed = {0}, again = {0};
	text_str(&again, "before");
	for (uint32_t i = 0; raw.len < RAW_BYTES; i++)
		text_printf(&raw, "%u", i * i % 977);
	assert_int_equal(fleet_batch_compress(bytes_of(&raw), &packed, NULL), TALLY_OK);
	assert_true(packed.len < raw.len / 2);
	assert_int_equal(fleet_batch_decompress(bytes_of(&packed), raw.len, &again, NULL), TALLY_OK);
	assert_int_equal(again.len, 6 + raw.len);
	assert_memory_equal(again.data + 6, raw.data, raw.len);
	text_clear(&packed);
	text_clear(&again);
	assert_int_equal(fleet_batch_compress((struct tally_bytes){NULL, 0}, &packed, NULL), TALLY_OK);
	assert_int_equal(fleet_batch_decompress(bytes_of(&packed), 0, &again, NULL), TALLY_OK);
	assert_int_equal(again.len, 0);
	text_deinit(&raw);
	text_deinit(&packed);
	text_deinit(&again);
}

static void check_refused(struct tally_bytes packed, size_t most, enum tally_status want, const char *words)
{
	struct text out = {0};
	struct tally_error err;
	text_str(&out, "kept");
	assert_int_equal(fleet_batch_decompress(packed, most, &out, &err), want);
	assert_non_null(strstr(err.text, words));
	assert_true(str_equal(text_view(&out), STR("kept")));
	text_deinit(&out);
}

static void bad_frames_are_refused(void **state)
{
	needs_zstd();
	struct text packed = packed_bytes(RAW_BYTES);
	for (size_t len = 1; len < packed.len; len += 1 + len / 3)
		check_refused(
			(struct tally_bytes){(uint8_t *)packed.data, len}, RAW_BYTES, TALLY_CORRUPT, "in the middle");
	check_refused((struct tally_bytes){NULL, 0}, RAW_BYTES, TALLY_CORRUPT, "is empty");
	check_refused(bytes_of(&packed), RAW_BYTES - 1, TALLY_LIMIT, "more than 299999 bytes");
	check_refused(bytes_of(&packed), 0, TALLY_LIMIT, "more than 0 bytes");
	text_char(&packed, 'x');
	check_refused(bytes_of(&packed), RAW_BYTES, TALLY_CORRUPT, "other bytes follow");
	packed.data[0] = 'x';
	check_refused(bytes_of(&packed), RAW_BYTES, TALLY_CORRUPT, "cannot decompress");
	text_deinit(&packed);
}

/* 200 MB of zeros in some 20 KB, and a frame that requires a window of 1 GiB. */
static void bombs_are_refused(void **state)
{
	needs_zstd();
	size_t len = (size_t)200 << 20;
	struct tally_bytes zeros = {calloc(1, len), len};
	struct text packed = {0};
	assert_non_null(zeros.data);
	assert_int_equal(fleet_batch_compress(zeros, &packed, NULL), TALLY_OK);
	free((void *)zeros.data);
	assert_true(packed.len < 100000);
	check_refused(bytes_of(&packed), (size_t)1 << 20, TALLY_LIMIT, "more than 1048576 bytes");
	text_deinit(&packed);
	const uint8_t wide[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 20 << 3, 0x01, 0x00, 0x00};
	check_refused((struct tally_bytes){wide, sizeof(wide)}, (size_t)1 << 20, TALLY_CORRUPT, "cannot decompress");
}

/* A server allocates memory before it decompresses: the size in the header, or the maximum that it accepts. */
static void sizes_are_known_before(void **state)
{
	needs_zstd();
	static const uint8_t no_size[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38};
	struct text packed = packed_bytes(RAW_BYTES);
	assert_int_equal(fleet_batch_unpacked_bytes(bytes_of(&packed), 1 << 20), RAW_BYTES);
	assert_int_equal(fleet_batch_unpacked_bytes(bytes_of(&packed), 1000), 1000);
	assert_int_equal(fleet_batch_unpacked_bytes((struct tally_bytes){no_size, sizeof(no_size)}, 1000), 1000);
	assert_int_equal(fleet_batch_unpacked_bytes((struct tally_bytes){no_size, 2}, 1000), 1000);
	text_deinit(&packed);
}

static void without_zstd(void **state)
{
	struct text out = {0};
	if (!fleet_batch_can_compress()) {
		assert_int_equal(fleet_batch_compress((struct tally_bytes){NULL, 0}, &out, NULL), TALLY_UNSUPPORTED);
		check_refused((struct tally_bytes){NULL, 0}, 1, TALLY_UNSUPPORTED, "this build has no zstd");
	}
	text_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_come_back),
		cmocka_unit_test(bad_frames_are_refused),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(sizes_are_known_before),
		cmocka_unit_test(without_zstd),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
