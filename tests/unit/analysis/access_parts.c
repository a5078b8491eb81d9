/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/access_parts.h"

#include "profile/profile.h"
#include "unit_test.h"

static unsigned part(enum profile_part_kind kind, uint64_t data_src)
{
	return profile_part_get(kind, access_parts(data_src));
}

static void operations(void **state)
{
	static const uint8_t expected[] = {PART_OP_OTHER, PART_OP_OTHER, PART_OP_LOAD, PART_OP_OTHER, PART_OP_STORE,
		PART_OP_OTHER, PART_OP_BOTH, PART_OP_OTHER};
	for (uint64_t i = 0; i < 32; i++)
		assert_int_equal(part(PART_OPERATION, i), i & 8	   ? PART_OP_PREFETCH
							  : i & 16 ? PART_OP_EXEC
								   : expected[i]);
}

static void levels_are_caches_or_memories(void **state)
{
	for (uint64_t level = 0; level < 16; level++) {
		unsigned cache = part(PART_CACHE, level << 33), memory = part(PART_MEMORY, level << 33);
		assert_true(cache == PART_CACHE_OTHER || memory == PART_MEMORY_OTHER);
	}
	assert_int_equal(part(PART_CACHE, UINT64_C(1) << 33), PART_L1);
	assert_int_equal(part(PART_CACHE, UINT64_C(12) << 33), PART_L1_BUFFER);
	assert_int_equal(part(PART_MEMORY, UINT64_C(13) << 33), PART_RAM);
	assert_int_equal(part(PART_MEMORY, UINT64_C(9) << 33), PART_CXL);
	assert_int_equal(part(PART_CACHE, 0x1f << 5), PART_CACHE_OTHER); /* Only the older bits are set. */
}

static void snoops_and_translations(void **state)
{
	assert_int_equal(part(PART_SNOOP, 0x10 << 19), PART_SNOOP_HITM);
	assert_int_equal(part(PART_SNOOP, 0x18 << 19), PART_SNOOP_OTHER);
	assert_int_equal(part(PART_TLB, 0x0a << 26), PART_TLB_L1);
	assert_int_equal(part(PART_TLB, UINT64_C(0x1a) << 26), PART_TLB_ANY);
	assert_int_equal(part(PART_TLB, UINT64_C(0x1e) << 26), PART_TLB_MISS);
	assert_int_equal(part(PART_TLB, 0x08 << 26), PART_TLB_OTHER);
	/* All bits are set, including undefined ones. */
	uint64_t all = UINT64_MAX;
	assert_int_equal(part(PART_OPERATION, all), PART_OP_PREFETCH);
	assert_int_equal(part(PART_CACHE, all), PART_CACHE_OTHER);
	assert_int_equal(part(PART_SNOOP, all), PART_SNOOP_OTHER);
	assert_int_equal(part(PART_TLB, all), PART_TLB_MISS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations),
		cmocka_unit_test(levels_are_caches_or_memories),
		cmocka_unit_test(snoops_and_translations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
