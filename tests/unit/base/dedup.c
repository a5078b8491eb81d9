/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dedup.h"

#include <stdlib.h>

#include "base/id_table.h"
#include "unit_test.h"

struct words {
	const uint64_t *items;
	const uint32_t *hashes;
};

static uint32_t hash(const void *context, uint32_t item)
{
	const struct words *w = context;
	return w->hashes[item];
}

static bool equal(const void *context, uint32_t a, uint32_t b)
{
	const struct words *w = context;
	return w->items[a] == w->items[b];
}

static void expect(const void *context, uint32_t item)
{
	const struct words *w = context;
	__builtin_prefetch(&w->items[item]);
}

/* Checks the result for a caller that already knows all first items. */
static void check_known(const struct dedup *found, size_t count, unsigned threads)
{
	uint32_t *firsts = calloc(count + 1, sizeof(*firsts));
	struct dedup known;
	for (size_t i = 0; i < count; i++)
		firsts[i] = found->firsts[found->numbers[i]];
	assert_true(dedup_known(firsts, count, threads, &known));
	assert_int_equal(known.count, found->count);
	assert_memory_equal(known.numbers, found->numbers, count * sizeof(*known.numbers));
	assert_memory_equal(known.firsts, found->firsts, known.count * sizeof(*known.firsts));
	dedup_deinit(&known);
	free(firsts);
}

/* Compares the result with look-ups in a table, item by item. */
static void check(const uint64_t *items, const uint32_t *hashes, size_t count, unsigned threads)
{
	struct words words = {items, hashes};
	struct dedup_items of = {.count = count,
		.hash = hash,
		.equal = equal,
		.expect = threads == 1 ? NULL : expect,
		.context = &words};
	struct id_table known = {.words = 1};
	struct dedup found;
	assert_true(dedup_find(&of, threads, &found));
	for (size_t i = 0; i < count; i++) {
		bool is_new;
		uint32_t id = id_table_add(&known, &items[i], &is_new);
		assert_int_equal(found.numbers[i], id);
		if (is_new)
			assert_int_equal(found.firsts[id], i);
	}
	assert_int_equal(found.count, known.len);
	check_known(&found, count, threads);
	dedup_deinit(&found);
	id_table_deinit(&known);
}

static void check_many(size_t count, uint64_t different, uint32_t hash_mask)
{
	uint64_t *items = calloc(count, sizeof(*items));
	uint32_t *hashes = calloc(count, sizeof(*hashes));
	uint64_t seed = 1;
	for (size_t i = 0; i < count; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		items[i] = (seed >> 33) % different;
		hashes[i] = id_table_hash_words(&items[i], 1) & hash_mask;
	}
	for (unsigned threads = 1; threads <= 5; threads += 2)
		check(items, hashes, count, threads);
	free(items);
	free(hashes);
}

static void items_are_numbered_as_they_come(void **state)
{
	check_many(7, 3, UINT32_MAX);
	check_many(100000, 1000, UINT32_MAX);
	check_many(100000, 1000000000, UINT32_MAX);
}

static void hashes_that_collide_do_not_matter(void **state)
{
	check_many(3000, 500, 0);
	check_many(20000, 4000, 0xff0000ff);
}

static void nothing_has_no_numbers(void **state)
{
	struct dedup_items none = {.hash = hash, .equal = equal};
	struct dedup found;
	assert_true(dedup_find(&none, 0, &found));
	assert_int_equal(found.count, 0);
	check_known(&found, 0, 1);
	dedup_deinit(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_numbered_as_they_come),
		cmocka_unit_test(hashes_that_collide_do_not_matter),
		cmocka_unit_test(nothing_has_no_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
