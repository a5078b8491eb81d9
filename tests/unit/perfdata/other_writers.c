/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/other_writers.h"

#include "abi/record_table.h"
#include "perfdata/feature_table.h"
#include "unit_test.h"

static void test_names(void **state)
{
	assert_string_equal(other_writer_feature(129), "simpleperf feature META_INFO");
	assert_string_equal(other_writer_feature(192), "hiperf feature FILES_SYMBOL");
	assert_null(other_writer_feature(135));
	assert_null(other_writer_feature(0));
	assert_string_equal(other_writer_record(32775), "SIMPLEPERF_CALLCHAIN");
	assert_null(other_writer_record(0));
	assert_null(other_writer_record(OTHER_WRITERS_FIRST_RECORD));
	assert_null(other_writer_record(OTHER_WRITERS_FIRST_RECORD + OTHER_WRITERS_RECORDS));
	assert_null(other_writer_record(UINT32_MAX));
}

static void test_no_name_is_perfs(void **state)
{
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		assert_false(feature_name(bit) && other_writer_feature(bit));
	for (uint32_t type = 0; type < 2 * OTHER_WRITERS_FIRST_RECORD; type++)
		assert_false(record_type_name(type) && other_writer_record(type));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_no_name_is_perfs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
