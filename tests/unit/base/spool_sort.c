/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spool_sort.h"

#include <stdlib.h>

#include "base/array.h"
#include "unit_test.h"

struct item {
	uint64_t key;
	uint64_t number;
	uint64_t unused;
};

static int by_key(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	return (a->key > b->key) - (a->key < b->key);
}

static void put(struct spool *s, size_t count, uint64_t (*key_of)(uint64_t))
{
	for (uint64_t i = 0; i < count; i++) {
		const struct item item = {key_of(i), i, ~i};
		assert_true(spool_append(s, &item, sizeof(item)));
	}
}

/* Checks that all items are there, in order, and that the sort is stable. */
static void check(const struct spool *s, size_t count)
{
	const struct item *items = (const void *)spool_view(s).data;
	uint64_t sum = 0;
	assert_int_equal(spool_view(s).len, count * sizeof(*items));
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(items[i].unused, ~items[i].number);
		sum += items[i].number;
		if (i > 0)
			assert_true(items[i - 1].key < items[i].key ||
				    (items[i - 1].key == items[i].key && items[i - 1].number < items[i].number));
	}
	assert_int_equal(sum, (uint64_t)count * (count - (count > 0)) / 2);
}

static uint64_t rising(uint64_t i)
{
	return i;
}

static uint64_t falling(uint64_t i)
{
	return UINT64_MAX - i;
}

static uint64_t mixed(uint64_t i)
{
	return i * UINT64_C(0x9e3779b97f4a7c15) >> 44; /* Some keys are equal. */
}

static uint64_t constant(uint64_t i)
{
	return 7;
}

static void test_items_come_into_order(void **state)
{
	uint64_t (*const orders[])(uint64_t) = {rising, falling, mixed, constant};
	/* The last count needs several blocks, the last of them incomplete. */
	const size_t counts[] = {0, 1, 2, 1000, 2000003};
	for (size_t k = 0; k < ARRAY_LEN(orders); k++) {
		for (size_t n = 0; n < ARRAY_LEN(counts); n++) {
			struct spool s;
			spool_init(&s);
			put(&s, counts[n], orders[k]);
			assert_true(spool_sort(&s, sizeof(struct item), by_key));
			check(&s, counts[n]);
			spool_deinit(&s);
		}
	}
}

static void test_without_a_folder_it_is_sorted_in_memory(void **state)
{
	struct spool s;
	const char *before = getenv("TMPDIR");
	char *kept = before ? strdup(before) : NULL;
	setenv("TMPDIR", "/nonexistent", 1);
	spool_init(&s);
	put(&s, 400000, mixed);
	assert_true(spool_sort(&s, sizeof(struct item), by_key));
	check(&s, 400000);
	spool_deinit(&s);
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items_come_into_order),
		cmocka_unit_test(test_without_a_folder_it_is_sorted_in_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
