/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/page_usage.h"

#include "unit_test.h"

static void alloc(struct page_usage *u, uint64_t pfn, uint64_t site, uint32_t order)
{
	const struct page_alloc a = {.pfn = pfn, .call_site = site, .order = order, .migrate_type = 1, .gfp = 0xdc0};
	assert_true(page_usage_alloc(u, &a));
}

static void blocks_and_callers_add_up(void **state)
{
	struct page_usage u;
	page_usage_init(&u);
	alloc(&u, 0x100, 0xa, 0);
	page_usage_free(&u, 0x100, 0);
	alloc(&u, 0x100, 0xb, 0);
	alloc(&u, 0x200, 0xa, 2);
	alloc(&u, 0x300, 0xa, 0);
	assert_int_equal(u.blocks.len, 3);
	assert_int_equal(u.blocks.items[0].hits, 2);
	assert_int_equal(u.blocks.items[0].of.call_site, 0xb);
	assert_int_equal(u.blocks.items[1].pages, 4);
	assert_int_equal(u.callers.len, 3); /* Each order has a separate row. */
	assert_int_equal(u.callers.items[0].hits, 2);
	assert_int_equal(u.callers.items[0].pages, 2);
	assert_int_equal(u.allocated.requests, 4);
	assert_int_equal(u.allocated.pages, 7);
	assert_int_equal(u.freed.pages, 1);
	assert_int_equal(u.unknown_frees.requests, 0);
	assert_int_equal(u.by_order[0][1], 3);
	assert_int_equal(u.by_order[2][1], 1);
	page_usage_deinit(&u);
}

static void live_rows_lose_what_is_freed(void **state)
{
	struct page_usage u;
	page_usage_init(&u);
	u.is_live = true;
	alloc(&u, 0x100, 0xa, 3);
	alloc(&u, 0x200, 0xa, 3);
	alloc(&u, 0x200, 0xb, 3); /* The free of the page was lost. */
	page_usage_free(&u, 0x100, 3);
	page_usage_free(&u, 0x100, 3);
	assert_int_equal(u.blocks.items[0].hits, 0);
	assert_int_equal(u.blocks.items[1].hits, 1);
	assert_int_equal(u.callers.items[0].pages, 0);
	assert_int_equal(u.callers.items[1].pages, 8);
	assert_int_equal(u.unknown_frees.pages, 8);
	assert_int_equal(u.by_order[3][1], 1);
	page_usage_deinit(&u);
}

static void numbers_that_no_kernel_has(void **state)
{
	struct page_usage u;
	page_usage_init(&u);
	alloc(&u, PAGE_FAILED, 0xa, 4);
	assert_int_equal(u.failed.pages, 16);
	assert_int_equal(u.blocks.len, 0);
	const struct page_alloc odd = {.pfn = 1, .order = UINT32_MAX, .migrate_type = UINT32_MAX};
	assert_true(page_usage_alloc(&u, &odd));
	assert_int_equal(u.by_order[PAGE_ORDERS - 1][PAGE_MIGRATE_TYPES - 1], 1);
	assert_int_equal(u.blocks.items[0].pages, 0);
	page_usage_deinit(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_and_callers_add_up),
		cmocka_unit_test(live_rows_lose_what_is_freed),
		cmocka_unit_test(numbers_that_no_kernel_has),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
