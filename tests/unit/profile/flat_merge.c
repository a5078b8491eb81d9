#include "unit_test.h"

#include "profile/flat_merge.h"
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX  8
#define MANY	   3000
#define ITEMS_MAX  70000 /* whose last merge is done in pieces */
#define DEPTH_BITS 25

/* A merge sort as one would write it first, of indexes. */
static bool comes_first(const struct flat_merge_order *order, const uint64_t *b, const uint64_t *a)
{
	unsigned last = order->words - 1;
	uint64_t b_tie = b[last] >> FLAT_MERGE_ROW_BITS, a_tie = a[last] >> FLAT_MERGE_ROW_BITS;
	if (order->tie_bits && b[0] >> (64 - order->tie_bits) == a[0] >> (64 - order->tie_bits) &&
		b_tie >> order->depth_bits == a_tie >> order->depth_bits && b_tie != a_tie)
		return order->is_deepest_first ? b_tie > a_tie : b_tie < a_tie;
	for (unsigned i = 0; i < last; i++)
		if (b[i] != a[i])
			return b[i] < a[i];
	return order->is_first_row(order->context, (uint32_t)b[last], (uint32_t)a[last]);
}

static void sort_indexes(const struct flat_merge_order *order, const uint64_t *items, uint32_t *indexes, size_t count)
{
	uint32_t *merged = malloc((count + 1) * sizeof(*merged));
	size_t half = count / 2, a = 0, b = half;
	assert_non_null(merged);
	if (count > 2) {
		sort_indexes(order, items, indexes, half);
		sort_indexes(order, items, indexes + half, count - half);
	}
	for (size_t i = 0; i < count; i++) {
		bool is_b = a == half || (b < count && comes_first(order, items + indexes[b] * (size_t)order->words,
							       items + indexes[a] * (size_t)order->words));
		merged[i] = is_b ? indexes[b++] : indexes[a++];
	}
	memcpy(indexes, merged, count * sizeof(*indexes));
	free(merged);
}

static bool is_first_row(const void *context, uint32_t b, uint32_t a)
{
	__atomic_fetch_add((size_t *)(uintptr_t)context, 1, __ATOMIC_RELAXED);
	return (b ^ 1) < (a ^ 1);
}

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

/* Few values, so that any number of words is the same; also those that have the highest bit. */
static void fill(uint64_t *items, size_t count, unsigned words, uint32_t *state)
{
	for (size_t i = 0; i < count * words; i++)
		items[i] = (uint64_t)(next(state) % 3) << 62 | next(state) % 2;
	for (size_t i = 0; i < count; i++)
		items[(i + 1) * words - 1] = (uint64_t)(next(state) % 3) << (FLAT_MERGE_ROW_BITS + DEPTH_BITS) |
					     (uint64_t)(next(state) % 5) << FLAT_MERGE_ROW_BITS | i;
}

static void assert_sorted_alike(const struct flat_merge_order *order, size_t count, uint32_t *state)
{
	static uint64_t items[ITEMS_MAX * WORDS_MAX], from[ITEMS_MAX * WORDS_MAX], to[ITEMS_MAX * WORDS_MAX];
	static uint32_t indexes[ITEMS_MAX];
	size_t words = order->words;
	fill(items, count, order->words, state);
	memcpy(from, items, count * words * sizeof(*items));
	memcpy(to, items, count * words * sizeof(*items));
	for (size_t i = 0; i < count; i++)
		indexes[i] = (uint32_t)i;
	sort_indexes(order, items, indexes, count);
	flat_merge_sort(order, from, to, count);
	for (size_t i = 0; i < count; i++)
		assert_memory_equal(to + i * words, items + indexes[i] * words, words * sizeof(*items));
	/* Both halves, then of them the rows. */
	static uint32_t rows[ITEMS_MAX];
	size_t half = count / 2;
	memcpy(from, items, count * words * sizeof(*items));
	memcpy(to, items, count * words * sizeof(*items));
	flat_merge_sort(order, from, to, half);
	flat_merge_sort(order, from + half * words, to + half * words, count - half);
	flat_merge_rows(order, to, rows, count);
	assert_memory_equal(rows, indexes, count * sizeof(*rows));
}

static void items_are_merged_as_one_after_another(void **state)
{
	uint32_t random = 5;
	size_t asked = 0;
	for (unsigned words = 2; words <= WORDS_MAX; words++) {
		for (unsigned form = 0; form < 6; form++) {
			struct flat_merge_order order = {.words = words,
				.tie_bits = form % 3 * 32,
				.depth_bits = DEPTH_BITS,
				.is_deepest_first = form >= 3,
				.is_first_row = is_first_row,
				.context = &asked};
			for (size_t count = 0; count < 40; count++)
				assert_sorted_alike(&order, count, &random);
			assert_sorted_alike(&order, MANY, &random);
			/* Without ties it is an order, so that the pieces of a merge fit together; with them they do not. */
			if (words == 3 || words == 4)
				assert_sorted_alike(&order, ITEMS_MAX, &random);
		}
	}
	assert_true(asked > 0);
}

static void halves_are_merged_the_first_one_first(void **state)
{
	size_t asked = 0;
	const struct flat_merge_order order = {
		.words = 2, .depth_bits = DEPTH_BITS, .is_first_row = is_first_row, .context = &asked};
	static const uint64_t from[] = {1, 0, 4, 1, 0, 2, 1, 3, 9, 4};
	static const uint64_t expected[] = {0, 2, 1, 0, 1, 3, 4, 1, 9, 4};
	uint64_t to[10];
	flat_merge_halves(&order, from, to, 5);
	assert_memory_equal(to, expected, sizeof(to));
	/* Rows 0 and 3, which have the same word, were asked for: 3 ^ 1 is not before 0 ^ 1. */
	assert_int_equal(asked, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_merged_as_one_after_another),
		cmocka_unit_test(halves_are_merged_the_first_one_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
