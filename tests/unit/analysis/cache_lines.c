/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cache_lines.h"

#include "base/array.h"
#include "unit_test.h"

/* Fields of a data source as defined in linux/perf_event.h. */
#define LOAD	    UINT64_C(2)
#define STORE	    UINT64_C(4)
#define HIT(level)  ((UINT64_C(2) | (level)) << 5)
#define MISS(level) ((UINT64_C(4) | (level)) << 5)
#define L1	    UINT64_C(8)
#define L3	    UINT64_C(64)
#define REMOTE	    UINT64_C(1024)
#define SNOOP_HIT   (UINT64_C(4) << 19)
#define HITM	    (UINT64_C(16) << 19)
#define PEER	    (UINT64_C(2) << 38)
#define IS_REMOTE   (UINT64_C(1) << 37)
#define HOPS(count) ((uint64_t)(count) << 43)

static struct access_counts count(uint64_t data_src, uint64_t address)
{
	struct access_counts c = {0};
	access_counts_add(&c, &(struct cache_access){.data_src = data_src, .address = address, .is_mapped = true});
	return c;
}

static void one_access_is_of_one_kind(void **state)
{
	static const struct {
		uint64_t data_src;
		enum access_kind kind;
	} cases[] = {
		{LOAD | HIT(L3) | HITM, ACCESS_LOCAL_HITM},
		{LOAD | HIT(L3) | SNOOP_HIT, ACCESS_LAST_LEVEL},
		{LOAD | HIT(REMOTE) | HITM, ACCESS_REMOTE_HITM},
		{LOAD | HIT(REMOTE) | SNOOP_HIT, ACCESS_REMOTE_HIT},
		{LOAD | HIT(REMOTE) | PEER, ACCESS_REMOTE_PEER},
		{LOAD | HIT(0) | IS_REMOTE, ACCESS_REMOTE_DRAM},
		{LOAD | HIT(L1) | IS_REMOTE | HOPS(1), ACCESS_L1},
		{LOAD | MISS(L1), ACCESS_LOAD_MISS},
		{STORE | HIT(L1), ACCESS_STORE_L1_HIT},
		{STORE | MISS(L1), ACCESS_STORE_L1_MISS},
		{1, ACCESS_UNKNOWN},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(count(cases[i].data_src, 0x1000).n[cases[i].kind], 1);
	assert_int_equal(count(LOAD | HIT(L1) | IS_REMOTE | HOPS(1), 0x1000).n[ACCESS_REMOTE_DRAM], 0);
	struct access_counts nowhere = count(LOAD | HIT(L3) | HITM, 0);
	assert_int_equal(nowhere.n[ACCESS_LOAD_NO_ADDRESS], 1);
	assert_int_equal(access_counts_hitms(&nowhere), 0);
}

static void accesses_add_up_by_line_and_offset(void **state)
{
	uint32_t entry;
	struct cache_lines c;
	cache_lines_init(&c, &(struct cache_lines_options){.line_bytes = 64});
	struct cache_access a = {.address = 0x1008, .place = 0x5008, .data_src = LOAD | HIT(L3) | HITM, .weight = 30};
	assert_true(cache_lines_add(&c, &a, &entry));
	a.weight = 50;
	a.cpu = 3;
	assert_true(cache_lines_add(&c, &a, &entry));
	a.address = 0x1010;
	a.place = 0x5010;
	assert_true(cache_lines_add(&c, &a, &entry));
	a.address = 0x2010; /* The same line at another virtual address. */
	assert_true(cache_lines_add(&c, &a, &entry));
	a.address = 0x1040;
	a.place = 0x5040;
	assert_true(cache_lines_add(&c, &a, &entry));
	a.memory = 7; /* The same address in other memory. */
	assert_true(cache_lines_add(&c, &a, &entry));
	assert_int_equal(c.lines.len, 3);
	assert_int_equal(c.entries.len, 4);
	assert_int_equal(c.uses.len, 5);
	assert_int_equal(c.lines.items[0].address, 0x1000);
	assert_int_equal(c.lines.items[0].counts.n[ACCESS_LOCAL_HITM], 4);
	assert_int_equal(c.entries.items[0].offset, 8);
	assert_int_equal(c.entries.items[0].local_hitm.count, 2);
	assert_true(c.entries.items[0].local_hitm.value == 40);
	assert_int_equal(c.total.samples, 6);
	cache_lines_deinit(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_access_is_of_one_kind),
		cmocka_unit_test(accesses_add_up_by_line_and_offset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
