/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/inject/address_remap.h"

#include "base/array.h"
#include "unit_test.h"

#define KERNEL ADDRESS_REMAP_KERNEL

static void add(struct address_remap *remap, int32_t pid, uint64_t start, uint64_t end)
{
	assert_true(address_remap_add(remap, pid, start, end));
}

static void finish(struct address_remap *remap)
{
	struct tally_error err;
	assert_int_equal(address_remap_finish(remap, &err), TALLY_OK);
}

static void test_places(void **state)
{
	struct address_remap remap = {0};
	add(&remap, 7, 0x7f0000003000, 0x7f0000005000);
	add(&remap, 7, 0x400000, 0x402000);
	add(&remap, 7, 0x402000, 0x403000); /* The range is adjacent. */
	add(&remap, 7, 0x401000, 0x402800); /* The range overlaps both. */
	add(&remap, 7, 0x500123, 0x500456); /* The range begins inside a page. */
	add(&remap, 7, 0x600000, 0x600000); /* The range is empty. */
	add(&remap, 9, 0x400000, 0x401000);
	add(&remap, KERNEL, 0xffffffff81000000, 0xffffffff82000000);
	finish(&remap);
	assert_int_equal(address_remap_find(&remap, 7, 0x400000), 0x200000);
	assert_int_equal(address_remap_find(&remap, 7, 0x402fff), 0x202fff);
	assert_int_equal(address_remap_find(&remap, 7, 0x403000), 0);
	assert_int_equal(address_remap_find(&remap, 7, 0x3fffff), 0);
	assert_int_equal(address_remap_find(&remap, 7, 0x500123), 0x204123);
	assert_int_equal(address_remap_find(&remap, 7, 0x600000), 0);
	assert_int_equal(address_remap_find(&remap, 7, 0x7f0000004010), 0x207010);
	assert_int_equal(address_remap_find(&remap, 9, 0x400010), 0x200010);
	assert_int_equal(address_remap_find(&remap, 9, 0x402000), 0);
	assert_int_equal(address_remap_find(&remap, 8, 0x400010), 0);
	assert_int_equal(address_remap_find(&remap, 8, 0xffffffff81000010), 0xffff800010000010);
	assert_int_equal(address_remap_find(&remap, KERNEL, 0xffffffff82000000), 0);
	address_remap_deinit(&remap);
}

static void test_children_have_their_parents_places(void **state)
{
	struct address_remap remap = {0};
	add(&remap, 12, 0x900000, 0x901000);
	assert_true(address_remap_fork(&remap, 12, 11));
	assert_true(address_remap_fork(&remap, 11, 10));
	assert_true(address_remap_fork(&remap, 10, 10)); /* The fork created a thread. */
	assert_true(address_remap_fork(&remap, 11, KERNEL));
	add(&remap, 10, 0x400000, 0x401000);
	add(&remap, 20, 0x900000, 0x901000);
	finish(&remap);
	for (int32_t pid = 10; pid <= 12; pid++) {
		assert_int_equal(address_remap_find(&remap, pid, 0x400010), 0x200010);
		assert_int_equal(address_remap_find(&remap, pid, 0x900010), 0x202010);
	}
	assert_int_equal(address_remap_find(&remap, 20, 0x900010), 0x200010);
	assert_int_equal(address_remap_find(&remap, KERNEL, 0x400010), 0);
	address_remap_deinit(&remap);
}

static void test_nothing(void **state)
{
	struct address_remap remap = {0};
	finish(&remap);
	assert_int_equal(address_remap_find(&remap, 1, 0x400000), 0);
	address_remap_deinit(&remap);
}

static void test_what_has_no_room(void **state)
{
	static const uint64_t long_ones[][2] = {
		{0, UINT64_MAX}, {0, UINT64_C(1) << 47}, {0x1000, UINT64_C(0xffffffff9fffffff)}};
	for (size_t i = 0; i < ARRAY_LEN(long_ones); i++)
		for (int32_t pid = KERNEL; pid <= 1; pid += 2) {
			struct address_remap remap = {0};
			struct tally_error err;
			add(&remap, pid, long_ones[i][0], long_ones[i][1]);
			assert_int_equal(address_remap_finish(&remap, &err), TALLY_LIMIT);
			address_remap_deinit(&remap);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_children_have_their_parents_places),
		cmocka_unit_test(test_what_has_no_room),
		cmocka_unit_test(test_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
