/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_choice.h"

#include "unit_test.h"

static const struct cli cli = {.program = "tally"};
static const struct command command = {.name = "trace"};

static void choose(const char *text, const char *machine, struct trace_choice *choice)
{
	struct trace_word word = {TRACE_WORD_CHOICE, text};
	struct trace_settings settings = {0};
	if (text)
		assert_true(vec_push(&settings.words, word));
	assert_int_equal(trace_choice_make(&cli, &command, NULL, &settings, machine, choice), 0);
	vec_free(&settings.words);
}

static void assert_filter(const struct trace_choice *choice, const char *expected)
{
	struct text filter = {0};
	trace_choice_print_filter(choice, &filter);
	text_char(&filter, 0);
	assert_string_equal(filter.data, expected);
	text_deinit(&filter);
}

static void names_and_patterns_choose_calls(void **state)
{
	struct trace_choice choice;
	choose("read,clock_nano*", "x86_64", &choice);
	assert_true(choice.has_names && choice.traces_calls);
	assert_true(trace_choice_wants(&choice, SYSCALLS_X86_64, 0));
	assert_true(trace_choice_wants(&choice, SYSCALLS_I386, 3)); /* The read of i386. */
	assert_false(trace_choice_wants(&choice, SYSCALLS_X86_64, 1));
	assert_false(trace_choice_wants(&choice, SYSCALLS_X86_64, UINT32_MAX));
	assert_filter(&choice, "id == 0 || id == 230");
	trace_choice_deinit(&choice);
}

static void exclamation_leaves_out(void **state)
{
	struct trace_choice choice;
	choose("!read,write", "x86_64", &choice);
	assert_false(trace_choice_wants(&choice, SYSCALLS_X86_64, 0));
	assert_false(trace_choice_wants(&choice, SYSCALLS_X86_64, 1));
	assert_true(trace_choice_wants(&choice, SYSCALLS_X86_64, 2));
	assert_filter(&choice, "id != 0 && id != 1");
	trace_choice_deinit(&choice);
}

static void without_names_all_are_wanted(void **state)
{
	struct trace_choice choice;
	choose(NULL, "aarch64", &choice);
	assert_int_equal(choice.native, SYSCALLS_ARM64);
	assert_true(trace_choice_wants(&choice, SYSCALLS_ARM64, 63));
	assert_filter(&choice, "");
	trace_choice_deinit(&choice);
}

static void unknown_machines_are_refused(void **state)
{
	struct trace_choice choice;
	struct trace_settings settings = {0};
	assert_int_equal(trace_choice_make(&cli, &command, NULL, &settings, "vax", &choice), EXIT_FAILED);
	trace_choice_deinit(&choice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_patterns_choose_calls),
		cmocka_unit_test(exclamation_leaves_out),
		cmocka_unit_test(without_names_all_are_wanted),
		cmocka_unit_test(unknown_machines_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
