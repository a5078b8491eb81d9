/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page/page_data.h"

#include "unit_test.h"

static void strings_are_never_markup(void **state)
{
	(void)state;
	struct text t = {0};
	page_string(&t, STR("a\"b\\</script>&\n\x7f"));
	assert_int_equal(t.len, strlen("\"a\\u0022b\\u005c\\u003c/script\\u003e\\u0026\\u000a\\u007f\""));
	assert_memory_equal(t.data, "\"a\\u0022b\\u005c\\u003c/script\\u003e\\u0026\\u000a\\u007f\"", t.len);
	text_clear(&t);
	page_string(&t, STR("\xe2\x80\xa8\xc3\xa9\xff\xe2"));
	assert_memory_equal(t.data, "\"\\u2028\xc3\xa9\\ufffd\\ufffd\"", t.len);
	assert_false(t.failed);
	text_deinit(&t);
}

static void numbers_are_base64(void **state)
{
	(void)state;
	struct text t = {0};
	struct page_bytes b = {.out = &t};
	page_number(&b, 0);
	page_number(&b, 300); /* Bytes ac 02. */
	page_number(&b, UINT64_MAX);
	page_bytes_end(&b);
	assert_int_equal(t.len, 20); /* 13 bytes. */
	assert_memory_equal(t.data, "AKwC////////////AQ==", 20);
	text_deinit(&t);
}

static void many_numbers_are_one_text(void **state)
{
	(void)state;
	struct text t = {0}, wanted = {0};
	struct page_bytes b = {.out = &t};
	for (unsigned i = 0; i < 500; i++) { /* Numbers of one, two and three bytes, more than are buffered at once. */
		page_number(&b, 1);
		page_number(&b, 0x82);
		page_number(&b, 0x4004);
		text_str(&wanted, "AYIBhIAB");
	}
	page_number(&b, UINT64_MAX);
	text_str(&wanted, "////////////AQ==");
	page_bytes_end(&b);
	assert_int_equal(t.len, wanted.len);
	assert_memory_equal(t.data, wanted.data, t.len);
	text_deinit(&t);
	text_deinit(&wanted);
}

static void packed_numbers_are_base64_of_what_is_packed(void **state)
{
	(void)state;
	struct text t = {0};
	struct page_bytes b = {.out = &t, .is_packed = true};
	for (unsigned i = 0; i < 1000; i++)
		page_number(&b, 7);
	page_bytes_end(&b);
	assert_false(t.failed);
	assert_true(t.len < 60);
	assert_memory_equal(t.data, "eJ", 2); /* The beginning of the zlib format in base64. */
	text_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_never_markup),
		cmocka_unit_test(numbers_are_base64),
		cmocka_unit_test(many_numbers_are_one_text),
		cmocka_unit_test(packed_numbers_are_base64_of_what_is_packed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
