/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/answer_json.h"

#include <stdlib.h>

#include "tasks/fleet/batch_post.h"
#include "unit_test.h"

#define ANSWER                                                                                                  \
	"{\"a\": [1, {\"stored\": true}, \"]\\\"\"], \"stored\" : true,\"duplicate\": false,\n\"samples\":12, " \
	"\"text\": "                                                                                            \
	"\"a\\\"b\\u00e9\\n\\/\", \"list\": [\"x\", \"y\\\\\"], \"none\": []}"

static void add_text(void *context, struct tally_str text)
{
	struct text *out = context;
	text_bytes(out, text.data, text.len);
	text_char(out, '|');
}

static void test_members(void **state)
{
	struct text out = {0};
	(void)state;
	assert_true(answer_json_bool(STR(ANSWER), STR("stored")));
	assert_false(answer_json_bool(STR(ANSWER), STR("duplicate")));
	assert_false(answer_json_bool(STR(ANSWER), STR("absent")));
	assert_int_equal(answer_json_u64(STR(ANSWER), STR("samples")), 12);
	assert_int_equal(answer_json_u64(STR(ANSWER), STR("text")), 0);
	assert_true(answer_json_string(STR(ANSWER), STR("text"), &out));
	assert_true(str_equal(text_view(&out), STR("a\"b\xc3\xa9\n/")));
	text_clear(&out);
	assert_true(answer_json_strings(STR(ANSWER), STR("list"), add_text, &out));
	assert_true(answer_json_strings(STR(ANSWER), STR("none"), add_text, &out));
	assert_true(str_equal(text_view(&out), STR("x|y\\|")));
	assert_false(answer_json_strings(STR(ANSWER), STR("a"), add_text, &out));
	assert_false(answer_json_string(STR(ANSWER), STR("samples"), &out));
	text_deinit(&out);
}

/* With any truncation or change, nothing is read past the end of the text. */
static void test_damage(void **state)
{
	static const struct tally_str whole = STR(ANSWER);
	(void)state;
	for (size_t len = 0; len < whole.len; len++) {
		struct text out = {0};
		char *cut = malloc(len ? len : 1);
		assert_non_null(cut);
		memcpy(cut, whole.data, len);
		answer_json_string((struct tally_str){cut, len}, STR("text"), &out);
		answer_json_strings((struct tally_str){cut, len}, STR("list"), add_text, &out);
		for (size_t i = 0; i < len; i++) {
			char before = cut[i];
			cut[i] = "\"[{}\\,:u"[i % 8];
			answer_json_string((struct tally_str){cut, len}, STR("text"), &out);
			cut[i] = before;
		}
		free(cut);
		text_deinit(&out);
	}
	char deep[200];
	memset(deep, '[', sizeof(deep));
	memcpy(deep, "{\"a\":", 5);
	struct tally_str value;
	assert_false(answer_json_member((struct tally_str){deep, sizeof(deep)}, STR("a"), &value));
}

static void test_sentences(void **state)
{
	char sentence[64];
	struct http_answer answer = {.status = 503};
	(void)state;
	batch_answer_sentence(&answer, sentence, sizeof(sentence));
	assert_string_equal(sentence, "the server answered 503");
	text_str(&answer.body, "{\"error\": \"no \\u001b[31m\"}");
	batch_answer_sentence(&answer, sentence, sizeof(sentence));
	assert_null(strchr(sentence, '\x1b'));
	text_deinit(&answer.body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_sentences),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
