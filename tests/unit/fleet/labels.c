/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/labels.h"

#include <stdio.h>

#include "unit_test.h"

static void names(void **state)
{
	char longest[LABEL_NAME_BYTES + 1];
	memset(longest, 'a', sizeof(longest));
	assert_true(label_name_is_valid(STR("service")));
	assert_true(label_name_is_valid(STR("_A9z")));
	assert_true(label_name_is_valid((struct tally_str){longest, LABEL_NAME_BYTES}));
	assert_false(label_name_is_valid((struct tally_str){longest, LABEL_NAME_BYTES + 1}));
	assert_false(label_name_is_valid(STR("")));
	assert_false(label_name_is_valid(STR("9a")));
	assert_false(label_name_is_valid(STR("a-b")));
	assert_false(label_name_is_valid(STR("a\0b")));
	assert_false(label_name_is_valid(STR("\xc3\xa4")));
}

static void values(void **state)
{
	char longest[LABEL_VALUE_BYTES + 1];
	memset(longest, 'a', sizeof(longest));
	assert_true(label_value_is_valid(STR("")));
	assert_true(label_value_is_valid(STR("any text: \xc3\xa4 \xf0\x9f\x98\x80 '\"<>")));
	assert_true(label_value_is_valid((struct tally_str){longest, LABEL_VALUE_BYTES}));
	assert_false(label_value_is_valid((struct tally_str){longest, LABEL_VALUE_BYTES + 1}));
	assert_false(label_value_is_valid(STR("a\nb")));
	assert_false(label_value_is_valid(STR("a\0b")));
	assert_false(label_value_is_valid(STR("\xff")));
	assert_false(label_value_is_valid(STR("\xe2\x80\xae"))); /* Right-to-left override. */
}

static void sorted_lists(void **state)
{
	struct fleet_label items[] = {{STR("unit"), STR("a")}, {STR("host"), STR("b")}, {STR("unit"), STR("a")},
		{STR("hos"), STR("")}, {STR("Z"), STR("z")}};
	struct fleet_labels labels;
	struct tally_error err;
	assert_int_equal(fleet_labels_make(items, 5, &labels, &err), TALLY_OK);
	assert_int_equal(labels.count, 4);
	assert_true(str_equal(labels.items[0].name, STR("Z")));
	assert_true(str_equal(labels.items[1].name, STR("hos")));
	assert_true(str_equal(fleet_labels_find(&labels, STR("host"))->value, STR("b")));
	assert_true(str_equal(fleet_labels_find(&labels, STR("unit"))->value, STR("a")));
	assert_null(fleet_labels_find(&labels, STR("uni")));
	assert_null(fleet_labels_find(&labels, STR("zz")));
	assert_null(fleet_labels_find(&labels, STR("A")));
	assert_int_equal(fleet_labels_make(NULL, 0, &labels, &err), TALLY_OK);
	assert_null(fleet_labels_find(&labels, STR("host")));
}

static void refused_lists(void **state)
{
	struct fleet_label two[] = {{STR("a"), STR("1")}, {STR("a"), STR("2")}};
	struct fleet_label name[] = {{STR("a b"), STR("1")}};
	struct fleet_label value[] = {{STR("a"), STR("1\n")}};
	struct fleet_label many[LABELS_MAX + 1];
	char names_of_many[LABELS_MAX + 1][4];
	struct fleet_labels labels = {0};
	struct tally_error err;
	for (size_t i = 0; i <= LABELS_MAX; i++) {
		snprintf(names_of_many[i], sizeof(names_of_many[i]), "a%zu", i);
		many[i] = (struct fleet_label){str_from(names_of_many[i]), STR("x")};
	}
	assert_int_equal(fleet_labels_make(two, 2, &labels, &err), TALLY_INVALID);
	assert_string_equal(err.text, "label 'a' has two values, '1' and '2'");
	assert_int_equal(fleet_labels_make(name, 1, &labels, &err), TALLY_INVALID);
	assert_non_null(strstr(err.text, "'a b' cannot be the name of a label"));
	assert_int_equal(fleet_labels_make(value, 1, &labels, &err), TALLY_INVALID);
	assert_non_null(strstr(err.text, "the value of label 'a' is not valid"));
	assert_int_equal(fleet_labels_make(many, LABELS_MAX + 1, &labels, &err), TALLY_INVALID);
	assert_string_equal(err.text, "65 labels are more than the limit of 64");
	assert_int_equal(labels.count, 0);
	assert_int_equal(fleet_labels_make(many, LABELS_MAX, &labels, &err), TALLY_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(values),
		cmocka_unit_test(sorted_lists),
		cmocka_unit_test(refused_lists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
