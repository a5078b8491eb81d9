/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/branch_words.h"

#include "abi/perf_constants.h"
#include "base/array.h"
#include "unit_test.h"

static void test_branches(void **state)
{
	uint64_t bits = 0;
	struct tally_str unknown;
	assert_true(branch_words_parse(str_from("any_call,u"), &bits, &unknown));
	assert_int_equal(bits, BRANCH_ANY_CALL | BRANCH_USER);
	static const char *const levels[] = {"k", "u", "hv", "u,k"};
	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		assert_true(branch_words_parse(str_from(levels[i]), &bits, &unknown));
		assert_int_equal(bits, BRANCH_ANY);
	}
	assert_false(branch_words_parse(str_from("any,nonsense"), &bits, &unknown));
	assert_true(str_equal(unknown, STR("nonsense")));
	assert_false(branch_words_parse(str_from("any,,u"), &bits, &unknown));
}

static void test_every_word_is_written_as_it_is_read(void **state)
{
	const char *all = "u,k,hv,any,any_call,any_ret,ind_call,ind_jmp,abort_tx,in_tx,no_tx,cond,call,stack,no_flags,"
			  "no_cycles,save_type,hw_index,priv,counter";
	uint64_t bits;
	struct tally_str unknown;
	struct text text = {0};
	assert_true(branch_words_parse(str_from(all), &bits, &unknown));
	branch_words_append(&text, bits);
	text_char(&text, '\0');
	assert_string_equal(text.data, all);
	text_clear(&text);
	branch_words_append(&text, 0);
	assert_int_equal(text.len, 0);
	text_deinit(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_every_word_is_written_as_it_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
