/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/slab_usage.h"

#include "unit_test.h"

static void alloc(struct slab_usage *u, uint64_t address, uint64_t site, uint64_t requested, int32_t cpu)
{
	const struct slab_alloc a = {
		.address = address, .call_site = site, .requested = requested, .allocated = 16, .cpu = cpu};
	assert_true(slab_usage_alloc(u, &a));
}

static void objects_and_callers_add_up(void **state)
{
	struct slab_usage u;
	slab_usage_init(&u);
	alloc(&u, 0x100, 0xa, 11, 0);
	slab_usage_free(&u, 0x100, 1);
	alloc(&u, 0x100, 0xb, 16, 0);
	alloc(&u, 0x200, 0xa, 8, 1);
	slab_usage_free(&u, 0x200, 1);
	assert_int_equal(u.allocations, 3);
	assert_int_equal(u.requested, 35);
	assert_int_equal(u.allocated, 48);
	assert_int_equal(u.freed, 32);
	assert_int_equal(u.objects.len, 2);
	assert_int_equal(u.objects.items[0].hits, 2);
	assert_int_equal(u.objects.items[0].ping_pongs, 1);
	assert_int_equal(u.callers.items[0].hits, 2);
	assert_int_equal(u.callers.items[0].requested, 19);
	assert_int_equal(u.callers.items[0].ping_pongs, 1);
	assert_int_equal(u.callers.items[1].ping_pongs, 0);
	slab_usage_deinit(&u);
}

static void frees_of_older_objects_are_counted_apart(void **state)
{
	struct slab_usage u;
	slab_usage_init(&u);
	slab_usage_free(&u, 0x100, 0);
	alloc(&u, 0x200, 0xa, 8, 0);
	slab_usage_free(&u, 0x200, 0);
	slab_usage_free(&u, 0x200, 0);
	assert_int_equal(u.unknown_frees, 2);
	assert_int_equal(u.freed, 16);
	slab_usage_deinit(&u);
}

static void fragmentation_is_what_was_not_asked_for(void **state)
{
	assert_true(slab_fragmentation(0, 0) == 0);
	assert_true(slab_fragmentation(12, 16) == 25);
	assert_true(slab_fragmentation(16, 16) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_and_callers_add_up),
		cmocka_unit_test(frees_of_older_objects_are_counted_apart),
		cmocka_unit_test(fragmentation_is_what_was_not_asked_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
