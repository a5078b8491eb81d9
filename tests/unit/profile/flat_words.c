/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/flat_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "profile_text.h"
#include "unit_test.h"

#define SAMPLES 3000 /* Each has two commands, so that their rows are sorted in parts. */

static char *many_samples(bool is_of_one_thread)
{
	struct text text = {0};
	uint32_t state = 7;
	text_str(&text, "event c\nevent d\n");
	for (uint32_t i = 0; i < SAMPLES; i++) {
		state = state * 1664525 + 1013904223;
		if (is_of_one_thread)
			text_printf(&text, "a 1/1 %u %u %u ", state >> 12 & 3, i & 1, 1 + (state >> 20 & 3));
		else
			text_printf(&text, "%c %u/%u %u %u %u ", 'a' + state % 3, state >> 8 & 3, i % 997,
				state >> 12 & 3, i & 1, 1 + (state >> 20 & 3));
		text_printf(
			&text, "m@x#s.c:%u;f%u@y#t.c:%u;g%u@z#u.c:%u\n", i % 7, state >> 5 & 31, i % 5, i % 37, i % 11);
	}
	text_char(&text, 0);
	assert_false(text.failed);
	return text.data;
}

static const struct flat_sort *by;

static int compare(const void *a, const void *b)
{
	return flat_sort_compare(by, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* The ranks from flat_table_sort do not matter here: any order of the strings is sufficient. */
static void assert_sorted_alike(const struct flat_table *table, const enum profile_key *columns, size_t count)
{
	size_t strings = table->profile->strings.len;
	uint32_t *ranks = malloc(strings * sizeof(*ranks));
	uint32_t *expected = malloc(table->shown_count * sizeof(*expected));
	assert_non_null(ranks);
	assert_non_null(expected);
	for (size_t i = 0; i < strings; i++)
		ranks[i] = (uint32_t)(strings - 1 - i);
	struct flat_sort sort = {.table = table, .columns = columns, .count = count, .ranks = ranks};
	memcpy(expected, table->order, table->shown_count * sizeof(*expected));
	by = &sort;
	qsort(expected, table->shown_count, sizeof(*expected), compare);
	assert_true(flat_words_sort(&sort));
	assert_memory_equal(table->order, expected, table->shown_count * sizeof(*expected));
	free(expected);
	free(ranks);
}

static void words_sort_as_comparisons_do(void **state)
{
	static const enum profile_key keys[] = {
		KEY_COMM, KEY_DSO, KEY_SYMBOL, KEY_PID, KEY_TGID, KEY_CPU, KEY_SRCLINE, KEY_SRCFILE, KEY_SYMBOL_SIZE};
	static const enum profile_key columns[] = {KEY_OVERHEAD_CHILDREN, KEY_OVERHEAD, KEY_SAMPLE, KEY_PERIOD,
		KEY_OVERHEAD_SYS, KEY_OVERHEAD_US, KEY_OVERHEAD_GUEST_SYS, KEY_OVERHEAD_GUEST_US, KEY_LATENCY, KEY_TGID,
		KEY_PID, KEY_CPU, KEY_WEIGHT1, KEY_WEIGHT2, KEY_WEIGHT3, KEY_COMM, KEY_DSO, KEY_SYMBOL, KEY_SRCLINE,
		KEY_SRCFILE, KEY_SYMBOL_SIZE};
	const size_t count = ARRAY_LEN(columns);
	char *text = many_samples(false);
	struct profile *p = profile_from_text(text);
	struct flat_options options = {.keys = keys, .key_count = 9, .with_children = true, .sort_member = 1};
	for (options.member_count = 1; options.member_count <= 2; options.member_count++) {
		struct flat_table table;
		assert_int_equal(flat_table_init(&table, p, &options, NULL), TALLY_OK);
		assert_true(table.shown_count > 4096);
		/* From one column, which leaves most of the order to the address and the index, to more columns than
		 * fit into words. */
		for (size_t first = 0; first < count; first += 3)
			for (size_t len = 1; first + len <= count; len += 4)
				assert_sorted_alike(&table, columns + first, len);
		flat_table_deinit(&table);
	}
	profile_destroy(p);
	free(text);
}

/* For a single thread, the depth of chains decides between equal sums. */
static void chains_depth_is_a_word_of_one_thread(void **state)
{
	static const enum profile_key keys[] = {KEY_COMM, KEY_CPU, KEY_SYMBOL};
	static const enum profile_key columns[] = {
		KEY_OVERHEAD_CHILDREN, KEY_OVERHEAD, KEY_COMM, KEY_CPU, KEY_SYMBOL, KEY_SYMBOL_SIZE};
	char *text = many_samples(true);
	struct profile *p = profile_from_text(text);
	struct flat_options options = {
		.keys = keys, .key_count = 3, .member_count = 1, .with_children = true, .with_chains = true};
	for (int i = 0; i < 2; i++) {
		struct flat_table table;
		options.is_caller_first = i;
		assert_int_equal(flat_table_init(&table, p, &options, NULL), TALLY_OK);
		for (size_t len = 1; len <= ARRAY_LEN(columns); len++)
			assert_sorted_alike(&table, columns, len);
		flat_table_deinit(&table);
	}
	profile_destroy(p);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_sort_as_comparisons_do),
		cmocka_unit_test(chains_depth_is_a_word_of_one_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
