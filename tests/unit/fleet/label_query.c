/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "fleet/labels.h"
#include "unit_test.h"

/* Matches the labels of the thread first, then those of the batch. */
static bool matches(const char *text)
{
	struct fleet_label thread[] = {{STR("service"), STR("api")}, {STR("zone"), STR("a\"b\\c")}};
	struct fleet_label batch[] = {
		{STR("host"), STR("web-17")}, {STR("region"), STR("eu-west")}, {STR("service"), STR("host")}};
	struct fleet_labels lists[] = {{thread, 2}, {batch, 3}};
	struct label_query *query;
	struct tally_error err = {.text = ""};
	if (label_query_parse(str_from(text), &query, &err) != TALLY_OK)
		fail_msg("%s: %s", text, err.text);
	bool result = label_query_matches(query, lists, 2);
	label_query_destroy(query);
	return result;
}

static void comparisons(void **state)
{
	assert_true(matches(""));
	assert_true(matches("  \n"));
	assert_true(matches("service=\"api\""));
	assert_false(matches("service=\"host\"")); /* The labels of the thread take precedence. */
	assert_true(matches(" host = \"web-17\" "));
	assert_true(matches("host!=\"web-1\""));
	assert_false(matches("host!=\"web-17\""));
	assert_true(matches("absent=\"\""));
	assert_true(matches("absent!=\"x\""));
	assert_true(matches("zone=\"a\\\"b\\\\c\""));
	assert_true(label_query_matches(NULL, NULL, 0));
}

static void regular_expressions(void **state)
{
	assert_true(matches("region=~\"eu-.*\""));
	assert_false(matches("region=~\"eu\"")); /* The pattern must match the whole value. */
	assert_false(matches("region=~\"west\""));
	assert_true(matches("region=~\"eu|eu-west\""));
	assert_true(matches("region=~\"(us|eu)-(east|west)\""));
	assert_false(matches("region!~\"eu-.*\""));
	assert_true(matches("region!~\"us-.*\""));
	assert_true(matches("host=~\"web-[0-9]{1,3}\""));
	assert_true(matches("host=~\"[[:alpha:]]+-([0-9]+|x{2,}|\\\\+)\""));
	assert_true(matches("host=~\"(((w)+(e)+(b)+)+(-)+([]17]+)+)+\""));
	assert_true(matches("absent=~\".*\""));
	assert_false(matches("absent=~\".+\""));
	assert_false(matches("host=~\"web-17)|(x)\""));
}

static void operators(void **state)
{
	assert_true(matches("service=\"api\" and region=\"eu-west\""));
	assert_false(matches("service=\"api\" and region=\"us\""));
	assert_true(matches("service=\"x\" or region=\"eu-west\""));
	/* "and" binds more tightly than "or". */
	assert_true(matches("service=\"api\" or service=\"x\" and region=\"us\""));
	assert_false(matches("(service=\"api\" or service=\"x\") and region=\"us\""));
	assert_true(matches("not service=\"x\""));
	assert_false(matches("not not service=\"x\""));
	assert_true(matches("not (service=\"x\" or host=\"y\") and region=~\"e.*\""));
	assert_true(matches("service=\"a\"or(service=\"api\")and not(host=\"b\")"));
	assert_true(matches("a=\"1\" or b=\"1\" or c=\"1\" or service=\"api\""));
	assert_true(matches("android=\"\" and order=\"\" and nothing=\"\""));
}

static void check_wrong(const char *text, const char *message)
{
	struct label_query *query = NULL;
	struct tally_error err;
	assert_int_equal(label_query_parse(str_from(text), &query, &err), TALLY_INVALID);
	assert_string_equal(err.text, message);
	assert_null(query);
}

static void errors_have_a_column(void **state)
{
	check_wrong("service", "label query, column 8: one of =, !=, =~ and !~ is missing");
	check_wrong("service>\"a\"", "label query, column 8: one of =, !=, =~ and !~ is missing");
	check_wrong("service=api", "label query, column 9: a value in double quotes is missing");
	check_wrong("a=\"b", "label query, column 3: the value that begins here has no closing quote");
	check_wrong("a=\"b\\n\"", "label query, column 5: in a value, a backslash precedes \" or another backslash");
	check_wrong("a=\"b\" c=\"d\"", "label query, column 7: 'and', 'or' or the end of the query was expected");
	check_wrong("a=\"b\" and", "label query, column 10: a comparison such as service=\"api\" is missing");
	check_wrong("and", "label query, column 4: one of =, !=, =~ and !~ is missing");
	check_wrong("(a=\"b\"", "label query, column 1: the parenthesis that opens here is not closed");
	check_wrong("a=\"b\")", "label query, column 6: 'and', 'or' or the end of the query was expected");
	check_wrong("9a=\"b\"", "label query, column 1: this cannot be the name of a label");
	check_wrong("a-b=\"c\"", "label query, column 2: one of =, !=, =~ and !~ is missing");
	check_wrong("; DROP TABLE", "label query, column 1: a comparison such as service=\"api\" is missing");
	check_wrong("a=~\"(\"", "label query, column 4: wrong regular expression: Unmatched ( or \\(");
	check_wrong("a=~\"[b\"", "label query, column 4: a bracket expression is not closed, or has more than "
				 "characters, ranges and classes");
	check_wrong("a=~\"[[=b=]]\"", "label query, column 4: a bracket expression is not closed, or has more than "
				      "characters, ranges and classes");
	check_wrong("a=~\"(.)\\\\1\"", "label query, column 4: regular expressions may not refer back to groups");
}

static void check_too_much(struct text *t, const char *words)
{
	struct label_query *query;
	struct tally_error err;
	assert_int_equal(label_query_parse(text_view(t), &query, &err), TALLY_INVALID);
	if (!strstr(err.text, words))
		fail_msg("%s", err.text);
	text_clear(t);
}

static void queries_are_bounded(void **state)
{
	struct text t = {0};
	text_repeat(&t, '(', 33);
	check_too_much(&t, "may nest 32 deep at most");
	for (unsigned i = 0; i < 40; i++)
		text_str(&t, "not ");
	check_too_much(&t, "may nest 32 deep at most");
	text_repeat(&t, ' ', 4097);
	check_too_much(&t, "4,096 bytes at most");
	for (unsigned i = 0; i < 257; i++)
		text_str(&t, i ? " or a=\"\"" : "a=\"\"");
	check_too_much(&t, "256 comparisons at most");
	for (unsigned i = 0; i < 17; i++)
		text_str(&t, i ? " or a=~\"b\"" : "a=~\"b\"");
	check_too_much(&t, "16 regular expressions at most");
	text_str(&t, "a=~\"");
	text_repeat(&t, 'b', 513);
	text_str(&t, "\"");
	check_too_much(&t, "longer than 512 bytes");
	static const char *const patterns[] = {"((b{1,200}){1,200}){1,200}", "((b{15}){15}){15}",
		"b{99999999999999999999999}", "b++++++++++++", "((((((((((((b+)+)+)+)+)+)+)+)+)+)+)+",
		"((((((((((((b[)])+[)])+[)])+[)])+[)])+[)])+[)])+[)])+[)])+[)])+[)])+[)])+", "(b|[]+(]){1200}",
		"([[:alpha:])]x+[^](]+[[:digit:]]{300}){4}"};
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		text_printf(&t, "a=~\"%s\"", patterns[i]);
		check_too_much(&t, "repeats too much");
	}
	text_deinit(&t);
}

static void every_prefix_and_change(void **state)
{
	static const char whole[] = "a=\"x\\\"\" and not (b=~\"e.*|[a-c]{2,3}\" or c!=\"d\") or e!~\"f\"";
	char text[sizeof(whole)];
	struct label_query *query;
	for (size_t len = 0; len < sizeof(whole); len++)
		if (label_query_parse((struct tally_str){whole, len}, &query, NULL) == TALLY_OK)
			label_query_destroy(query);
	for (size_t i = 0; i + 1 < sizeof(whole); i++)
		for (int c = 0; c < 256; c++) {
			memcpy(text, whole, sizeof(whole));
			text[i] = (char)c;
			if (label_query_parse((struct tally_str){text, sizeof(whole) - 1}, &query, NULL) != TALLY_OK)
				continue;
			struct fleet_label label = {STR("b"), STR("ab")};
			(void)label_query_matches(query, &(struct fleet_labels){&label, 1}, 1);
			label_query_destroy(query);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparisons),
		cmocka_unit_test(regular_expressions),
		cmocka_unit_test(operators),
		cmocka_unit_test(errors_have_a_column),
		cmocka_unit_test(queries_are_bounded),
		cmocka_unit_test(every_prefix_and_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
