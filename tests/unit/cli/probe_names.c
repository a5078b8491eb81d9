/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/probe_names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "unit_test.h"

static void names_follow_from_functions(void **state)
{
	static const struct {
		const char *function, *suffix, *name;
	} cases[] = {
		{"add", "", "add"},
		{"add", "__return", "add__return"},
		{"add", "_L3", "add_L3"},
		{"_init", "", "init"},
		{"__bar", "", "bar"},
		{".plt", "", "plt"},
		{"baz_", "", "baz_"},
		{"printf@plt", "", "printf_plt"},
		{"foo_c.constprop.0", "", "foo_c_constprop_0"},
		{"shapes::Circle::area(int) const", "", "shapes_Circle_area_int_const"},
		{"twice<int>", "", "twice_int_"},
		{"operator+", "", "operator_"},
		{"operator()", "_L1", "operator_L1"},
		{"largest<int>", "_L3", "largest_int_L3"},
		{"baz_", "_L3", "baz__L3"},
		{"0day", "", "_0day"},
		{"___", "", "_"},
		{"a_function_whose_name_is_longer_than_what_the_kernel_takes_for_an_event", "",
			"a_function_whose_name_is_longer_than_what_the_kernel_takes_for_"},
		{"a_function_whose_name_is_longer_than_what_the_kernel_takes_for_an_event", "__return",
			"a_function_whose_name_is_longer_than_what_the_kernel_ta__return"},
	};
	struct arena arena;
	(void)state;
	arena_init(&arena);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct tally_str name = probe_name_of_function(
			&arena, str_from(cases[i].function), PROBE_NAME_STRIPPED, str_from(cases[i].suffix));
		assert_true(name.len < PROBE_EVENT_NAME_BYTES);
		assert_string_equal(name.data, cases[i].name);
	}
	assert_string_equal(probe_name_of_function(&arena, STR("__bar"), PROBE_NAME_WHOLE, STR("")).data, "__bar");
	assert_string_equal(probe_name_of_group(&arena, "/lib/libc.so.6").data, "probe_libc");
	assert_string_equal(probe_name_of_group(&arena, "/x/b.x-y.so.1").data, "probe_b");
	assert_string_equal(probe_name_of_group(&arena, "/x/-q").data, "probe_");
	arena_deinit(&arena);
}

struct probe_names_step {
	const char *line; /* The definition to add. */
	const char *name; /* The resulting name; "" if the probe exists already; NULL if the definition is refused. */
};

static void check_names(
	const struct probe_list *list, bool is_forced, const struct probe_names_step *steps, size_t count)
{
	struct probe_names names;
	struct arena arena;
	arena_init(&arena);
	assert_true(probe_names_init(&names, list, is_forced));
	for (size_t i = 0; i < count; i++) {
		struct probe_event event;
		struct tally_error err;
		bool is_double = false;
		assert_true(probe_event_parse(str_from(steps[i].line), true, &event));
		enum tally_status status = probe_names_choose(&names, &event, &arena, &is_double, &err);
		if (!steps[i].name) {
			assert_int_equal(status, TALLY_INVALID);
			assert_int_equal(err.errnum, EEXIST);
			continue;
		}
		assert_int_equal(status, TALLY_OK);
		assert_int_equal(is_double, steps[i].name[0] == 0);
		if (!is_double)
			assert_true(str_equal(event.event, str_from(steps[i].name)));
	}
	probe_names_deinit(&names);
	arena_deinit(&arena);
}

static void equal_arguments_share_an_event(void **state)
{
	static const struct probe_names_step steps[] = {
		{"p:g/e /x:0x10 a=%di:s32", "e"},
		{"p:g/e /x:0x20 a=%si:s32", "e"},
		{"p:g/e /x:0x20 a=%si:s32", ""},
		{"p:g/e /x:0x30 b=%si:s32", "e_1"},
		{"p:g/e /x:0x30 a=%si:s64", "e_2"},
		{"p:g/e /x:0x40 a=%dx:s64", "e_2"},
		{"r:g/e /x:0x10 a=%di:s32", "e_3"},
		{"p:h/e /x:0x10", "e"},
	};
	(void)state;
	check_names(NULL, false, steps, ARRAY_LEN(steps));
}

static void events_of_the_kernel_are_left_alone(void **state)
{
	struct probe_list list = {0};
	struct probe_event event;
	static const struct probe_names_step refused[] = {{"p:g/e /x:0x10", NULL}, {"p:h/e /x:0x10", "e"}};
	static const struct probe_names_step forced[] = {
		{"p:g/e /x:0x10", "e_2"}, {"p:g/e /x:0x20", "e_2"}, {"p:h/e /x:0x10", "e"}};
	(void)state;
	assert_true(probe_event_parse(STR("p:g/e /x:0x10"), true, &event) && vec_push(&list.events, event));
	assert_true(probe_event_parse(STR("p:g/e_1 /x:0x10"), true, &event) && vec_push(&list.events, event));
	check_names(&list, false, refused, ARRAY_LEN(refused));
	check_names(&list, true, forced, ARRAY_LEN(forced));
	vec_free(&list.events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names_follow_from_functions),
		cmocka_unit_test(equal_arguments_share_an_event),
		cmocka_unit_test(events_of_the_kernel_are_left_alone)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
