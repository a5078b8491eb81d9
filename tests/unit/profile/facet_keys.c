/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/facet_keys.h"

#include "base/array.h"
#include "profile/flat/flat_table.h"
#include "profile/profile_builder.h"
#include "unit_test.h"

/* Makes three samples of one address: two with branches from one function, one with a branch from an unknown address;
 * with times and texts. */
static struct profile *made(void)
{
	struct profile_builder *b = profile_builder_create();
	struct profile *p;
	struct tally_error err;
	profile_builder_keep_facets(b, UINT64_C(1) << FACET_TIME | UINT64_C(1) << FACET_BRANCH_FROM |
					       UINT64_C(1) << FACET_BRANCH_FLAGS | UINT64_C(1) << FACET_MEM_LEVEL);
	uint32_t name = profile_builder_string(b, STR("prog"));
	profile_builder_event(b, &(struct profile_event){.name = name});
	uint32_t binary = profile_builder_binary(b, &(struct profile_binary){.name = name, .long_name = name});
	uint32_t function = profile_builder_function(
		b, &(struct profile_function){.name = name, .binary = binary, .start = 0x1000, .size = 0x100});
	uint32_t thread = profile_builder_thread(b, &(struct profile_thread){.comm = name, .last_comm = name});
	uint32_t first = profile_builder_frame(
		b, &(struct profile_frame){.function = function, .binary = binary, .address = 0x1010});
	uint32_t second = profile_builder_frame(
		b, &(struct profile_frame){.function = function, .binary = binary, .address = 0x1050});
	uint32_t nowhere = profile_builder_frame(
		b, &(struct profile_frame){.function = PROFILE_NONE, .binary = PROFILE_NONE, .address = 0x99});
	uint32_t hit = profile_builder_string(b, STR("L1 hit"));
	const struct profile_value rows[3][4] = {
		{{100, PROFILE_NONE, PROFILE_NONE}, {0x1010, PROFILE_NONE, first},
			{BRANCH_FLAG_PREDICTED | BRANCH_FLAG_IN_TX, PROFILE_NONE, PROFILE_NONE},
			{1, hit, PROFILE_NONE}},
		{{100, PROFILE_NONE, PROFILE_NONE}, {0x1050, PROFILE_NONE, second},
			{BRANCH_FLAG_PREDICTED, PROFILE_NONE, PROFILE_NONE}, {2, hit, PROFILE_NONE}},
		{{200, PROFILE_NONE, PROFILE_NONE}, {0x99, PROFILE_NONE, nowhere},
			{BRANCH_FLAG_MISPREDICTED, PROFILE_NONE, PROFILE_NONE}, {3, hit, PROFILE_NONE}},
	};
	for (unsigned i = 0; i < 3; i++)
		profile_builder_sample(b, &(struct profile_sample){.thread = thread,
						  .leaf = first,
						  .stack = PROFILE_NONE,
						  .cpu = -1,
						  .facets = profile_builder_facets(b, rows[i]),
						  .count = 1,
						  .period = 1,
						  .first_order = i});
	assert_int_equal(profile_builder_finish(b, &p, &err), TALLY_OK);
	return p;
}

static size_t row_count(const struct profile *p, const enum profile_key *keys, size_t count)
{
	struct flat_table table;
	struct tally_error err;
	struct flat_options options = {.keys = keys, .key_count = count, .member_count = 1};
	assert_int_equal(flat_table_init(&table, p, &options, &err), TALLY_OK);
	assert_int_equal(flat_table_sort(&table, keys, count, &err), TALLY_OK);
	size_t rows = table.shown_count;
	flat_table_deinit(&table);
	return rows;
}

static void keys_group_by_what_they_show(void **state)
{
	static const struct {
		enum profile_key keys[2];
		size_t count, rows;
	} cases[] = {{{KEY_TIME}, 1, 2}, {{KEY_SYMBOL_FROM}, 1, 2}, {{KEY_DSO_FROM}, 1, 2}, {{KEY_ADDRESS_FROM}, 1, 3},
		{{KEY_MISPREDICT}, 1, 2}, {{KEY_IN_TX}, 1, 2}, {{KEY_ABORT}, 1, 1}, {{KEY_IN_TX, KEY_TIME}, 2, 3},
		{{KEY_MEM}, 1, 1}, {{KEY_COMM}, 1, 1}};
	struct profile *p = made();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(row_count(p, cases[i].keys, cases[i].count), cases[i].rows);
	profile_destroy(p);
}

static void facets_that_were_not_kept_are_none(void **state)
{
	struct profile *p = made();
	uint64_t words[FACET_KEY_WORDS] = {1, 1};
	assert_null(profile_facet(p, 0, FACET_WEIGHT));
	assert_null(profile_facet(p, 3, FACET_TIME));
	assert_int_equal(profile_facet(p, 2, FACET_TIME)->number, 200);
	facet_key_words(&(struct flat_table){.profile = p}, KEY_WEIGHT, NULL, words);
	assert_int_equal(words[0] | words[1], 0);
	const enum profile_key weight = KEY_WEIGHT;
	assert_int_equal(row_count(p, &weight, 1), 1);
	profile_destroy(p);
}

static int order_of(const struct profile *p, enum profile_key key, uint32_t a, uint32_t b)
{
	uint32_t ranks[16] = {0};
	assert_true(p->strings.len <= 16);
	for (uint32_t i = 0; i < 16; i++)
		ranks[i] = i;
	return facet_key_compare(&(struct flat_table){.profile = p}, key, profile_facet(p, a, profile_key_facet(key)),
		profile_facet(p, b, profile_key_facet(key)), ranks);
}

static void rows_are_ordered_as_perf_has_them(void **state)
{
	struct profile *p = made();
	assert_true(order_of(p, KEY_TIME, 0, 2) < 0);
	assert_int_equal(order_of(p, KEY_TIME, 0, 1), 0);
	assert_true(order_of(p, KEY_DSO_FROM, 2, 0) < 0); /* Samples without an object come first. */
	assert_true(order_of(p, KEY_SYMBOL_FROM, 0, 2) < 0); /* Symbols come before addresses. */
	assert_true(order_of(p, KEY_IN_TX, 0, 1) < 0);
	assert_true(order_of(p, KEY_MEM, 0, 1) < 0);
	assert_int_equal(facet_cacheline(0x107f), 0x1040);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_group_by_what_they_show),
		cmocka_unit_test(facets_that_were_not_kept_are_none),
		cmocka_unit_test(rows_are_ordered_as_perf_has_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
