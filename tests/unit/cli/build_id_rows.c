/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/build_id_rows.h"

#include <string.h>

#include "unit_test.h"

static void hex_has_two_digits_a_byte(void **state)
{
	(void)state;
	char hex[BUILD_ID_HEX_BYTES];
	struct record_build_id id = {.size = 3, .bytes = {0x00, 0xab, 0x9f}};
	build_id_to_hex(&id, hex);
	assert_string_equal(hex, "00ab9f");
	id.size = 0;
	build_id_to_hex(&id, hex);
	assert_string_equal(hex, "");
	id.size = 255; /* A size from a damaged file is limited to the size of the array. */
	build_id_to_hex(&id, hex);
	assert_int_equal(strlen(hex), 40);
}

static void rows_are_listed_once_and_padded(void **state)
{
	(void)state;
	struct build_id_rows rows;
	struct text t = {0};
	struct record_build_id none = {.size = 0}, some = {.size = 2, .bytes = {0x12, 0x34}};
	char name[] = "/bin/x";
	build_id_rows_init(&rows);
	assert_true(build_id_rows_add(&rows, str_from(name), &some));
	assert_true(build_id_rows_add(&rows, str_from(name), &some));
	assert_true(build_id_rows_add(&rows, str_from(name), &none));
	memset(name, 'Z', sizeof(name) - 1); /* The rows have copies of the names. */
	build_id_rows_print(&rows, &t);
	text_char(&t, '\0');
	assert_string_equal(t.data, "1234                                     /bin/x\n"
				    "                                         /bin/x\n");
	text_deinit(&t);
	build_id_rows_deinit(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hex_has_two_digits_a_byte),
		cmocka_unit_test(rows_are_listed_once_and_padded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
