/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/keys.h"

#include <string.h>

#include "base/array.h"
#include "unit_test.h"

static void prefixes_find_the_first_key_in_order(void **state)
{
	static const struct {
		const char *text;
		enum profile_key key;
	} cases[] = {{"comm", KEY_COMM}, {"c", KEY_COMM}, {"DSO", KEY_DSO}, {"sym", KEY_SYMBOL}, {"s", KEY_SYMBOL},
		{"symbol_size", KEY_SYMBOL_SIZE}, {"overhead", KEY_OVERHEAD}, {"overhead_c", KEY_OVERHEAD_CHILDREN},
		{"sam", KEY_SAMPLE}, {"period", KEY_PERIOD}, {"pid", KEY_PID}, {"tgid", KEY_TGID}, {"cpu", KEY_CPU},
		{"srcline", KEY_SRCLINE}, {"srcf", KEY_SRCFILE}, {"so", KEY_SOCKET}, {"weight", KEY_WEIGHT},
		{"local_w", KEY_LOCAL_WEIGHT}, {"dso_f", KEY_DSO_FROM}, {"mem", KEY_MEM},
		{"symbol_d", KEY_SYMBOL_DATA}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		enum profile_key key = PROFILE_KEY_COUNT;
		assert_true(profile_key_find(str_from(cases[i].text), &key));
		assert_int_equal(key, cases[i].key);
	}
}

static void fields_and_unknown_keys(void **state)
{
	enum profile_key key;
	assert_true(profile_key_find(STR("dtlb"), &key));
	assert_int_equal(key, KEY_PARTS + PART_TLB);
	assert_int_equal(profile_key_as_field(KEY_SNOOP), KEY_PARTS + PART_SNOOP);
	assert_true(profile_key_find(STR("typeoff"), &key));
	assert_int_equal(key, KEY_TYPE_OFFSET);
	assert_true(profile_key_find(STR("run_l"), &key));
	assert_int_equal(key, KEY_RUN_LATENCY);
	assert_true(profile_key_is_name(STR("sym")) && profile_key_is_name(STR("latency")));
	assert_false(profile_key_is_name(STR("state")) || profile_key_is_name(STR("waker")) ||
		     profile_key_is_name(STR("wait")) || profile_key_is_name(STR("run_latency")));
	assert_false(profile_key_find(STR("tid"), &key));
	assert_false(profile_key_find(STR("comms"), &key));
	assert_false(profile_key_find(STR(""), &key));
}

static void every_key_is_described(void **state)
{
	for (int key = 0; key < PROFILE_KEY_COUNT; key++) {
		const struct profile_key_info *info = profile_key_get((enum profile_key)key);
		enum profile_key found;
		if (key >= KEY_FIELD)
			continue; /* The recording determines the name of this key. */
		assert_true(strlen(info->header) > 0);
		assert_true(profile_key_find(str_from(info->name), &found));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes_find_the_first_key_in_order),
		cmocka_unit_test(fields_and_unknown_keys),
		cmocka_unit_test(every_key_is_described),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
