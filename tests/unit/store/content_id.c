/* SPDX-License-Identifier: Apache-2.0 */
#include "store/content_id.h"

#include "unit_test.h"

/* Stores persist the IDs. The expected values were computed by another program, which reproduces the test vectors of
 * the paper. */
static void ids_never_change(void **state)
{
	struct content_id c = content_id_begin(CONTENT_NAME);
	assert_true(content_id_end(&c) == UINT64_C(0xc898e8f1779b2204));
	c = content_id_begin(CONTENT_NAME);
	content_id_text(&c, STR("main"));
	assert_true(content_id_end(&c) == UINT64_C(0x55e5034233b67357));
	c = content_id_begin(CONTENT_STACK);
	content_id_number(&c, 1);
	content_id_number(&c, UINT64_MAX);
	assert_true(content_id_end(&c) == UINT64_C(0xeedd1504dcff0b0c));
	c = content_id_begin(CONTENT_LABELS);
	content_id_text(&c, STR("host"));
	content_id_text(&c, STR("a"));
	content_id_text(&c, STR("region"));
	content_id_text(&c, STR("eu-1"));
	assert_true(content_id_end(&c) == UINT64_C(0x023a002234337a3f));
}

/* A number that begins inside a word. */
static void parts_need_no_alignment(void **state)
{
	struct content_id c = content_id_begin(CONTENT_LOCATION);
	content_id_text(&c, STR("abc"));
	content_id_number(&c, UINT64_C(0x0102030405060708));
	assert_true(content_id_end(&c) == UINT64_C(0x6dc37b5dd26fd59b));
}

static uint64_t id_of(struct tally_str a, struct tally_str b)
{
	struct content_id c = content_id_begin(CONTENT_LABELS);
	content_id_text(&c, a);
	content_id_text(&c, b);
	return content_id_end(&c);
}

static void parts_do_not_run_together(void **state)
{
	assert_true(id_of(STR("ab"), STR("c")) != id_of(STR("a"), STR("bc")));
	assert_true(id_of(STR(""), STR("")) != id_of(STR("\0"), STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_never_change),
		cmocka_unit_test(parts_need_no_alignment),
		cmocka_unit_test(parts_do_not_run_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
