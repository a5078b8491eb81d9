/* SPDX-License-Identifier: Apache-2.0 */
#include "base/key_sort.h"

#include <stdlib.h>

#include "base/array.h"
#include "unit_test.h"

#define COUNT 5000

#define LARGE 300000 /* More keys than are sorted at once by their lowest digits. */

static struct sort_key keys[LARGE], room[LARGE];

/* Returns pseudo-random numbers, the same in each run. */
static uint64_t next_number(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state ^ *state >> 29;
}

static void check_order(size_t count)
{
	for (size_t i = 1; i < count; i++) {
		assert_true(keys[i - 1].key <= keys[i].key);
		if (keys[i - 1].key == keys[i].key)
			assert_true(keys[i - 1].index < keys[i].index);
	}
}

static void sorts_all_bits(void **state)
{
	static uint64_t before[COUNT];
	uint64_t number = 1;
	for (size_t i = 0; i < COUNT; i++)
		before[i] = i == 7 ? 0 : i == 8 ? UINT64_MAX : next_number(&number);
	for (size_t i = 0; i < COUNT; i++)
		keys[i] = (struct sort_key){before[i], i};
	key_sort(keys, room, COUNT);
	check_order(COUNT);
	assert_int_equal(keys[0].index, 7);
	assert_int_equal(keys[COUNT - 1].index, 8);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(keys[i].key, before[keys[i].index]);
		before[keys[i].index] = ~keys[i].key; /* Each key occurs once. */
	}
}

/* Up to a few more keys than the limit of the simple algorithm. */
static void few_keys_are_sorted(void **state)
{
	uint64_t number = 5;
	for (size_t count = 0; count < 100; count++) {
		for (size_t i = 0; i < count; i++)
			keys[i] = (struct sort_key){next_number(&number) % 20 << 40, i};
		key_sort(keys, room, count);
		check_order(count);
	}
}

static void equal_keys_stay_in_order(void **state)
{
	uint64_t number = 2;
	/* Keys of one digit, of two digits, and with differences only in distant digits. */
	static const uint64_t masks[] = {3, 0xffff, UINT64_C(0xf00000000000000f)};
	for (size_t m = 0; m < ARRAY_LEN(masks); m++) {
		for (size_t i = 0; i < COUNT; i++)
			keys[i] = (struct sort_key){next_number(&number) & masks[m], i};
		key_sort(keys, room, COUNT);
		check_order(COUNT);
	}
}

/* Times of some minutes, nearly in order; keys of which half are equal; and keys with three bits far apart. */
static void many_keys_are_sorted(void **state)
{
	uint64_t number = 4;
	for (unsigned kind = 0; kind < 3; kind++) {
		uint64_t sum = 0;
		for (size_t i = 0; i < LARGE; i++) {
			uint64_t any = next_number(&number);
			uint64_t key = UINT64_C(1700000000000000000) + i * 70000 + any % 200000000;
			if (kind == 1)
				key = any % 2 ? UINT64_C(1) << 40 : any >> 20;
			else if (kind == 2)
				key = any & (UINT64_C(1) << 63 | UINT64_C(1) << 31 | 1);
			keys[i] = (struct sort_key){key, i};
		}
		key_sort(keys, room, LARGE);
		check_order(LARGE);
		for (size_t i = 0; i < LARGE; i++)
			sum += keys[i].index;
		assert_int_equal(sum, (uint64_t)LARGE * (LARGE - 1) / 2);
	}
}

static void few_are_sorted_too(void **state)
{
	key_sort(keys, room, 0);
	keys[0] = (struct sort_key){5, 0};
	key_sort(keys, room, 1);
	assert_int_equal(keys[0].key, 5);
	keys[1] = (struct sort_key){4, 1};
	key_sort(keys, room, 2);
	assert_int_equal(keys[0].key, 4);
	assert_int_equal(keys[0].index, 1);
	assert_int_equal(keys[1].index, 0);
}

struct item {
	uint32_t number;
	uint8_t kind;
	char name;
};

static uint64_t number_of(const void *item)
{
	return ((const struct item *)item)->number;
}

static uint64_t kind_of(const void *item)
{
	return ((const struct item *)item)->kind;
}

static void items_move_by_several_keys(void **state)
{
	static const key_of_item keys_of[] = {kind_of, number_of};
	struct item items[] = {{7, 2, 'e'}, {9, 1, 'c'}, {3, 1, 'a'}, {9, 1, 'd'}, {7, 2, 'f'}, {4, 1, 'b'}};
	const size_t count = ARRAY_LEN(items);
	struct sort_key *order = key_sort_order(items, count, sizeof(items[0]), keys_of, 2);
	assert_non_null(order);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(items[order[i].index].name, 'a' + (int)i);
	free(order);
	/* In the second round, the keys are already in order. */
	for (int turn = 0; turn < 2; turn++) {
		assert_true(key_sort_items(items, count, sizeof(items[0]), keys_of, 2));
		for (size_t i = 0; i < count; i++)
			assert_int_equal(items[i].name, 'a' + (int)i);
	}
	assert_true(key_sort_items(NULL, 0, sizeof(items[0]), keys_of, 2));
}

static uint64_t value_of(const void *item)
{
	return *(const uint64_t *)item >> 32;
}

static void many_items_move_where_they_lie(void **state)
{
	static uint64_t items[COUNT];
	uint64_t number = 3, sum = 0;
	for (uint32_t i = 0; i < COUNT; i++) /* Each item has a key, which some share, and a name. */
		items[i] = (next_number(&number) % 3000) << 32 | i;
	assert_true(key_sort_items(items, COUNT, sizeof(items[0]), &(key_of_item){value_of}, 1));
	for (size_t i = 0; i < COUNT; i++) {
		sum += (uint32_t)items[i];
		assert_true(i == 0 || items[i - 1] < items[i]);
	}
	assert_int_equal(sum, (uint64_t)COUNT * (COUNT - 1) / 2);
}

/* Mostly equal keys, few keys, and no keys. */
static void parts_hold_what_lies_between_their_neighbours(void **state)
{
	static const size_t counts[] = {0, 1, 15, 300, COUNT, LARGE};
	size_t ends[KEY_SORT_PARTS];
	for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
		uint64_t number = 5, highest = 0;
		for (size_t i = 0; i < counts[c]; i++)
			keys[i] = (struct sort_key){i % 3 ? 77 : next_number(&number), i};
		key_sort_divide(keys, room, counts[c], ends, 2);
		for (size_t part = 0, at = 0; part < KEY_SORT_PARTS; part++) {
			uint64_t before = highest;
			size_t last = 0;
			for (; at < ends[part]; at++) {
				assert_true(room[at].key >= before);
				assert_true(last == 0 || room[at].index > last);
				last = room[at].index;
				highest = room[at].key > highest ? room[at].key : highest;
			}
		}
		assert_int_equal(ends[KEY_SORT_PARTS - 1], counts[c]);
	}
}

static void several_workers_sort_the_same(void **state)
{
	for (unsigned workers = 0; workers < 4; workers++) {
		uint64_t number = 6;
		for (size_t i = 0; i < LARGE; i++)
			keys[i] = (struct sort_key){i % 2 ? next_number(&number) >> 50 : 5, i};
		key_sort_by_all(keys, room, LARGE, workers);
		check_order(LARGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_all_bits),
		cmocka_unit_test(few_keys_are_sorted),
		cmocka_unit_test(equal_keys_stay_in_order),
		cmocka_unit_test(many_keys_are_sorted),
		cmocka_unit_test(few_are_sorted_too),
		cmocka_unit_test(items_move_by_several_keys),
		cmocka_unit_test(many_items_move_where_they_lie),
		cmocka_unit_test(parts_hold_what_lies_between_their_neighbours),
		cmocka_unit_test(several_workers_sort_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
