/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cursor.h"

#include "base/array.h"
#include "base/leb128.h"
#include "base/writer.h"
#include "unit_test.h"

/* Writes one value of each type in the given byte order and reads them back. */
static void round_trip(bool swap)
{
	struct writer w = {.swap = swap};
	writer_u8(&w, 0x12);
	writer_u16(&w, 0x3456);
	writer_u32(&w, 0x789abcde);
	writer_u64(&w, UINT64_C(0xf0e1d2c3b4a59687));
	writer_bytes(&w, "text\0\0", 6);
	writer_align(&w, 8);
	assert_int_equal(w.len, 24);
	writer_u32(&w, 0);
	writer_u64(&w, 0);
	writer_u16(&w, 0);
	writer_patch_u32(&w, 24, 1);
	writer_patch_u64(&w, 28, 2);
	writer_patch_u16(&w, 36, 3);
	assert_false(w.failed);

	struct cursor c = cursor_make(writer_view(&w), swap);
	assert_int_equal(cursor_u8(&c), 0x12);
	assert_int_equal(cursor_u16(&c), 0x3456);
	assert_int_equal(cursor_u32(&c), 0x789abcde);
	assert_int_equal(cursor_u64(&c), UINT64_C(0xf0e1d2c3b4a59687));
	assert_true(str_equal(cursor_text(&c, 9), STR("text")));
	assert_int_equal(cursor_u32(&c), 1);
	assert_int_equal(cursor_u64(&c), 2);
	assert_int_equal(cursor_u16(&c), 3);
	assert_int_equal(cursor_left(&c), 0);
	assert_false(c.failed);
	writer_deinit(&w);
}

static void both_byte_orders(void **state)
{
	round_trip(false);
	round_trip(true);
}

static void bytes_are_in_the_order_that_is_asked(void **state)
{
	static const uint8_t big[] = {1, 2, 3, 4, 5, 6, 7, 8};
	bool host_is_little = *(const uint8_t *)&(const uint16_t){1} == 1;
	struct cursor c = cursor_make((struct tally_bytes){big, 8}, host_is_little);
	assert_int_equal(cursor_u64(&c), UINT64_C(0x0102030405060708));
	struct writer w = {.swap = host_is_little};
	writer_u64(&w, UINT64_C(0x0102030405060708));
	assert_memory_equal(w.data, big, 8);
	writer_deinit(&w);
}

static void a_short_read_fails_for_good(void **state)
{
	static const uint8_t data[] = {1, 2, 3, 4, 5};
	for (size_t len = 0; len <= sizeof(data); len++) {
		struct cursor c = cursor_make((struct tally_bytes){data, len}, false);
		uint32_t first = cursor_u32(&c);
		assert_int_equal(c.failed, len < 4);
		assert_int_equal(first != 0, len >= 4);
		assert_int_equal(cursor_u64(&c), 0);
		assert_true(c.failed);
		assert_int_equal(cursor_u8(&c), 0);
		assert_int_equal(cursor_left(&c), 0);
		assert_int_equal(cursor_bytes(&c, 0).len, 0);
		assert_false(cursor_count(&c, 0, 8));
		assert_true(cursor_sub(&c, 0).failed);
		assert_int_equal(cursor_text(&c, 1).len, 0);
	}
}

static void counts_and_parts_stay_inside(void **state)
{
	static const uint8_t data[24] = {7};
	struct tally_bytes bytes = {data, sizeof(data)};
	struct cursor c = cursor_make(bytes, false);
	assert_true(cursor_count(&c, 3, 8));
	assert_false(cursor_count(&c, 4, 8));
	assert_true(c.failed);
	c = cursor_make(bytes, false);
	assert_false(cursor_count(&c, UINT64_MAX / 4, 8));
	c = cursor_make(bytes, true);
	struct cursor part = cursor_sub(&c, 8);
	assert_true(part.swap);
	assert_int_equal(cursor_left(&part), 8);
	assert_int_equal(cursor_left(&c), 16);
	cursor_skip(&part, 9);
	assert_true(part.failed);
	assert_false(c.failed);
	cursor_skip(&c, SIZE_MAX);
	assert_true(c.failed);
	c = cursor_make(bytes, false);
	(void)cursor_sub(&c, 25);
	assert_true(c.failed);
	c = cursor_make((struct tally_bytes){(const uint8_t *)"abc", 3}, false);
	assert_int_equal(cursor_text(&c, 3).len, 3);
}

static void a_patch_outside_fails(void **state)
{
	struct writer w = {0};
	writer_u32(&w, 1);
	writer_patch_u64(&w, 0, 1);
	assert_true(w.failed);
	writer_clear(&w);
	assert_false(w.failed);
	writer_patch_u16(&w, SIZE_MAX, 1);
	assert_true(w.failed);
	writer_deinit(&w);
}

/* DWARF 5, section 7.6. The last of ten bytes has bit 63, and sign bits beyond it. */
static void signed_numbers_of_variable_length(void **state)
{
	static const struct {
		struct tally_bytes bytes;
		int64_t value;
	} cases[] = {
		{{(const uint8_t *)"\x02", 1}, 2},
		{{(const uint8_t *)"\x7e", 1}, -2},
		{{(const uint8_t *)"\xff\x00", 2}, 127},
		{{(const uint8_t *)"\x80\x7f", 2}, -128},
		{{(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10}, INT64_MAX},
		{{(const uint8_t *)"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10}, INT64_MIN},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cursor c = cursor_make(cases[i].bytes, false);
		assert_true(cursor_sleb(&c) == cases[i].value);
		assert_int_equal(cursor_left(&c), 0);
		assert_false(c.failed);
	}
}

static void integers_of_three_bytes(void **state)
{
	const uint8_t bytes[] = {1, 2, 0x83};
	const struct tally_bytes whole = {bytes, sizeof(bytes)}, cut = {bytes, 2};
	bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	struct cursor c = cursor_make(whole, !is_little);
	assert_true(cursor_uint(&c, 3) == 0x830201 && cursor_left(&c) == 0 && !c.failed);
	c = cursor_make(whole, is_little);
	assert_true(cursor_uint(&c, 3) == 0x010283 && !c.failed);
	c = cursor_make(cut, false);
	assert_true(cursor_uint(&c, 3) == 0 && c.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_of_three_bytes),
		cmocka_unit_test(both_byte_orders),
		cmocka_unit_test(bytes_are_in_the_order_that_is_asked),
		cmocka_unit_test(a_short_read_fails_for_good),
		cmocka_unit_test(counts_and_parts_stay_inside),
		cmocka_unit_test(a_patch_outside_fails),
		cmocka_unit_test(signed_numbers_of_variable_length),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
