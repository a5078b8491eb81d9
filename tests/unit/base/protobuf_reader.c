/* SPDX-License-Identifier: Apache-2.0 */
#include "base/protobuf_reader.h"

#include "base/protobuf_writer.h"
#include "unit_test.h"

static struct protobuf_reader reader_of(const char *data, size_t len)
{
	return protobuf_reader_make((struct tally_bytes){(const uint8_t *)data, len});
}
#define READER(literal) reader_of(literal, sizeof(literal) - 1)

static void each_type_of_field(void **state)
{
	struct protobuf_reader r = READER("\x08\x96\x01\x11\x01\x02\x03\x04\x05\x06\x07\x08\x1a\x03"
					  "abc\x25\x0a\x0b\x0c\x0d\xf8\xff\xff\xff\x0f\x01");
	struct protobuf_field f;
	assert_true(protobuf_next(&r, &f));
	assert_int_equal(f.number, 1);
	assert_int_equal(f.wire, PROTOBUF_VARINT);
	assert_int_equal(f.value, 150);
	assert_int_equal(f.bytes.len, 2);
	assert_int_equal(protobuf_text(&f).len, 0);
	assert_true(protobuf_next(&r, &f));
	assert_int_equal(f.number, 2);
	assert_int_equal(f.wire, PROTOBUF_FIXED64);
	assert_int_equal(f.value, UINT64_C(0x0807060504030201));
	assert_true(protobuf_next(&r, &f));
	assert_int_equal(f.number, 3);
	assert_int_equal(f.wire, PROTOBUF_BYTES);
	assert_int_equal(f.offset, 14);
	assert_true(str_equal(protobuf_text(&f), STR("abc")));
	assert_true(protobuf_next(&r, &f));
	assert_int_equal(f.number, 4);
	assert_int_equal(f.wire, PROTOBUF_FIXED32);
	assert_int_equal(f.value, 0x0d0c0b0a);
	assert_true(protobuf_next(&r, &f)); /* The largest valid field number. */
	assert_int_equal(f.number, (1u << 29) - 1);
	assert_false(protobuf_next(&r, &f));
	assert_int_equal(f.number, (1u << 29) - 1);
	assert_int_equal(protobuf_check(&r, NULL), TALLY_OK);
}

static void what_the_writer_wrote(void **state)
{
	struct text t = {0};
	protobuf_u64(&t, 1, UINT64_MAX);
	size_t outer = protobuf_open(&t);
	protobuf_string(&t, 1, STR("name"));
	size_t packed = protobuf_open(&t);
	protobuf_varints(&t, (const uint32_t[]){0, 300, UINT32_MAX}, 3);
	protobuf_close(&t, 2, packed);
	protobuf_u64(&t, 2, 5);
	protobuf_close(&t, 7, outer);
	struct protobuf_reader r = reader_of(t.data, t.len);
	struct protobuf_field f;
	assert_true(protobuf_next(&r, &f));
	assert_int_equal(f.value, UINT64_MAX);
	assert_true(protobuf_next(&r, &f));
	assert_int_equal(f.number, 7);
	struct protobuf_reader inner = protobuf_nested(&r, &f);
	assert_true(protobuf_next(&inner, &f));
	assert_true(str_equal(protobuf_text(&f), STR("name")));
	assert_ptr_equal(f.bytes.data, t.data + f.offset);
	uint64_t sum = 0, value;
	unsigned count = 0;
	while (protobuf_next(&inner, &f)) {
		assert_int_equal(f.number, 2);
		struct protobuf_reader numbers = protobuf_numbers(&inner, &f, PROTOBUF_VARINT);
		for (; protobuf_next_varint(&numbers, &value); count++)
			sum += value;
		assert_int_equal(protobuf_check(&numbers, NULL), TALLY_OK);
	}
	assert_int_equal(count, 4);
	assert_int_equal(sum, UINT64_C(0xffffffff) + 300 + 5);
	assert_false(protobuf_next(&r, &f));
	assert_int_equal(protobuf_check(&r, NULL), TALLY_OK);
	text_deinit(&t);
}

static void packed_fixed_numbers(void **state)
{
	struct protobuf_reader r =
		READER("\x0a\x10\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x12\x04\x02\0\0\0\x1d\x03\0\0\0");
	struct protobuf_field f;
	uint64_t value = 0;
	uint32_t word = 0;
	assert_true(protobuf_next(&r, &f));
	struct protobuf_reader numbers = protobuf_numbers(&r, &f, PROTOBUF_FIXED64);
	assert_true(protobuf_next_fixed64(&numbers, &value));
	assert_int_equal(value, 1);
	assert_true(protobuf_next_fixed64(&numbers, &value));
	assert_int_equal(value, UINT64_C(1) << 63);
	assert_false(protobuf_next_fixed64(&numbers, &value));
	assert_int_equal(protobuf_check(&numbers, NULL), TALLY_OK);
	for (uint32_t want = 2; want <= 3; want++) { /* Field 2 is packed, field 3 is not. */
		assert_true(protobuf_next(&r, &f));
		numbers = protobuf_numbers(&r, &f, PROTOBUF_FIXED32);
		assert_true(protobuf_next_fixed32(&numbers, &word));
		assert_int_equal(word, want);
		assert_false(protobuf_next_fixed32(&numbers, &word));
	}
}

static void zigzag(void **state)
{
	assert_int_equal(protobuf_zigzag(0), 0);
	assert_int_equal(protobuf_zigzag(1), -1);
	assert_int_equal(protobuf_zigzag(2), 1);
	assert_true(protobuf_zigzag(UINT64_MAX - 1) == INT64_MAX);
	assert_true(protobuf_zigzag(UINT64_MAX) == INT64_MIN);
}

/* Reads good fields, and then fails at the offset. */
static void check_failure(struct protobuf_reader r, unsigned good, uint64_t offset, const char *words)
{
	struct protobuf_field f = {.number = 77};
	struct tally_error err = {.status = TALLY_OK};
	for (unsigned i = 0; i < good; i++)
		assert_true(protobuf_next(&r, &f));
	struct protobuf_field before = f;
	assert_false(protobuf_next(&r, &f));
	assert_false(protobuf_next(&r, &f));
	assert_int_equal(f.number, before.number);
	assert_int_equal(protobuf_check(&r, &err), TALLY_CORRUPT);
	assert_int_equal(err.offset, offset);
	assert_non_null(strstr(err.text, words));
}

static void malformed_fields(void **state)
{
	check_failure(READER("\x08"), 0, 1, "a number ends in the middle");
	check_failure(READER("\x80"), 0, 0, "a number ends in the middle");
	check_failure(READER("\x08\x01\x08\xff\xff"), 1, 3, "a number ends in the middle");
	check_failure(READER("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0, 1, "more than 64 bits");
	check_failure(READER("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), 0, 1, "more than 64 bits");
	check_failure(READER("\x09\x01\x02\x03\x04\x05\x06\x07"), 0, 1, "a number ends in the middle");
	check_failure(READER("\x0d\x01\x02\x03"), 0, 1, "a number ends in the middle");
	check_failure(READER("\x08\x01\x12\x03"
			     "ab"),
		1, 3, "longer than its message");
	check_failure(READER("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0, 1, "longer than its message");
	check_failure(READER("\x00\x01"), 0, 0, "a number that is not allowed");
	check_failure(READER("\x80\x80\x80\x80\x10\x01"), 0, 0, "a number that is not allowed");
	check_failure(READER("\x0b\x0c"), 0, 0, "a type that is not supported");
	check_failure(READER("\x0c"), 0, 0, "a type that is not supported");
	check_failure(READER("\x0e\x01"), 0, 0, "a type that is not supported");
	check_failure(READER("\x08\x01\x0f\x01"), 1, 2, "a type that is not supported");
}

/* Offsets in nested messages count from the outermost message. */
static void malformed_inner_messages(void **state)
{
	struct protobuf_reader r = READER("\x08\x01\x12\x04\x08\x01\x12\x01\x18\x01");
	struct protobuf_field f;
	assert_true(protobuf_next(&r, &f));
	struct protobuf_reader number = protobuf_nested(&r, &f);
	check_failure(number, 0, 1, "where a message is expected");
	assert_true(protobuf_next(&r, &f));
	struct protobuf_reader inner = protobuf_nested(&r, &f);
	check_failure(inner, 1, 7, "longer than its message");
	assert_true(protobuf_next(&r, &f)); /* The outer message can still be read. */
	assert_int_equal(f.number, 3);
	assert_int_equal(protobuf_check(&r, NULL), TALLY_OK);
}

static void malformed_packed_numbers(void **state)
{
	struct protobuf_reader r = READER("\x0a\x02\x01\x80\x0d\0\0\0\0");
	struct protobuf_field f;
	struct tally_error err;
	uint64_t value;
	assert_true(protobuf_next(&r, &f));
	struct protobuf_reader numbers = protobuf_numbers(&r, &f, PROTOBUF_VARINT);
	assert_true(protobuf_next_varint(&numbers, &value));
	assert_false(protobuf_next_varint(&numbers, &value));
	assert_int_equal(protobuf_check(&numbers, &err), TALLY_CORRUPT);
	assert_int_equal(err.offset, 3);
	numbers = protobuf_numbers(&r, &f, PROTOBUF_FIXED64);
	assert_false(protobuf_next_fixed64(&numbers, &value));
	assert_int_equal(protobuf_check(&numbers, &err), TALLY_CORRUPT);
	assert_int_equal(err.offset, 2);
	assert_true(protobuf_next(&r, &f));
	numbers = protobuf_numbers(&r, &f, PROTOBUF_VARINT);
	assert_false(protobuf_next_varint(&numbers, &value));
	assert_int_equal(protobuf_check(&numbers, &err), TALLY_CORRUPT);
	assert_non_null(strstr(err.text, "of another type"));
}

static void an_empty_message(void **state)
{
	struct protobuf_reader r = protobuf_reader_make((struct tally_bytes){NULL, 0});
	struct protobuf_field f;
	assert_false(protobuf_next(&r, &f));
	assert_int_equal(protobuf_check(&r, NULL), TALLY_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_of_field),
		cmocka_unit_test(what_the_writer_wrote),
		cmocka_unit_test(packed_fixed_numbers),
		cmocka_unit_test(zigzag),
		cmocka_unit_test(malformed_fields),
		cmocka_unit_test(malformed_inner_messages),
		cmocka_unit_test(malformed_packed_numbers),
		cmocka_unit_test(an_empty_message),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
