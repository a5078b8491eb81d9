/* SPDX-License-Identifier: Apache-2.0 */
#include "base/protobuf_writer.h"

#include "unit_test.h"

static void check(struct text *t, const char *bytes, size_t len)
{
	assert_false(t->failed);
	assert_int_equal(t->len, len);
	assert_memory_equal(t->data, bytes, len);
	text_deinit(t);
}
#define CHECK(t, literal) check(t, literal, sizeof(literal) - 1)

static void numbers(void **state)
{
	struct text t = {0};
	protobuf_u64(&t, 1, 0);
	protobuf_u64(&t, 1, 150);
	protobuf_u64(&t, 16, 1);
	protobuf_u64(&t, 2, UINT64_MAX);
	protobuf_fixed64(&t, 3, UINT64_C(0x0807060504030201));
	CHECK(&t, "\x08\x00\x08\x96\x01\x80\x01\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
		  "\x19\x01\x02\x03\x04\x05\x06\x07\x08");
}

static void strings(void **state)
{
	struct text t = {0};
	protobuf_bytes(&t, 2, "testing", 7);
	protobuf_string(&t, 3, STR("a\xff\xc3\xa9"));
	protobuf_string(&t, 3, STR(""));
	protobuf_head(&t, 4, 300);
	CHECK(&t, "\x12\x07testing\x1a\x06"
		  "a\xef\xbf\xbd\xc3\xa9\x1a\x00\x22\xac\x02");
}

static void messages_in_messages(void **state)
{
	struct text t = {0};
	protobuf_u64(&t, 1, 7);
	size_t outer = protobuf_open(&t);
	protobuf_u64(&t, 1, 1);
	size_t inner = protobuf_open(&t);
	protobuf_varint(&t, 3);
	protobuf_varint(&t, 270);
	protobuf_close(&t, 4, inner);
	protobuf_close(&t, 3, outer);
	CHECK(&t, "\x08\x07\x1a\x07\x08\x01\x22\x03\x03\x8e\x02");
}

static void long_messages(void **state)
{
	struct text t = {0};
	size_t begin = protobuf_open(&t);
	text_repeat(&t, 'x', 300);
	protobuf_close(&t, 1, begin);
	assert_int_equal(t.len, 303);
	assert_memory_equal(t.data, "\x0a\xac\x02xxx", 6);
	text_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(strings),
		cmocka_unit_test(messages_in_messages),
		cmocka_unit_test(long_messages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
