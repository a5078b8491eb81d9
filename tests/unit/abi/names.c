/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the names of generic events, in both directions, and the names of attrs in recordings without names.
 */
#include "abi/names.h"

#include "abi/event_name.h"
#include "base/array.h"
#include "unit_test.h"

static void assert_text(struct text *t, const char *expected)
{
	text_char(t, '\0');
	assert_string_equal(t->data, expected);
	text_deinit(t);
}

static void test_symbols(void **state)
{
	assert_int_equal(event_symbol_find(STR("cycles"))->config, HW_CPU_CYCLES);
	assert_int_equal(event_symbol_find(STR("cpu-cycles"))->config, HW_CPU_CYCLES);
	assert_int_equal(event_symbol_find(STR("cs"))->type, EVENT_SOFTWARE);
	assert_int_equal(event_symbol_find(STR("cs"))->config, SW_CONTEXT_SWITCHES);
	/* The last entry of the table. */
	assert_int_equal(event_symbol_find(STR("cgroup-switches"))->config, SW_CGROUP_SWITCHES);
	assert_null(event_symbol_find(STR("cycle")));
	assert_null(event_symbol_find(STR("")));
}

static void test_caches(void **state)
{
	static const struct {
		const char *name;
		unsigned cache, op, result;
	} cases[] = {
		{"L1-dcache-loads", CACHE_L1D, CACHE_OP_READ, CACHE_RESULT_ACCESS},
		{"L1-dcache-load-misses", CACHE_L1D, CACHE_OP_READ, CACHE_RESULT_MISS},
		{"L1-dcache", CACHE_L1D, CACHE_OP_READ, CACHE_RESULT_ACCESS},
		{"l1d-WRITE-miss", CACHE_L1D, CACHE_OP_WRITE, CACHE_RESULT_MISS},
		{"l1-d-store", CACHE_L1D, CACHE_OP_WRITE, CACHE_RESULT_ACCESS},
		{"LLC-prefetches", CACHE_LL, CACHE_OP_PREFETCH, CACHE_RESULT_ACCESS},
		{"LLC-misses-stores", CACHE_LL, CACHE_OP_WRITE, CACHE_RESULT_MISS},
		{"L2-speculative-load-refs", CACHE_LL, CACHE_OP_PREFETCH, CACHE_RESULT_ACCESS},
		{"bpc-misses", CACHE_BPU, CACHE_OP_READ, CACHE_RESULT_MISS},
		{"node-prefetch-ops", CACHE_NODE, CACHE_OP_PREFETCH, CACHE_RESULT_ACCESS},
		{"Instruction-TLB-load", CACHE_ITLB, CACHE_OP_READ, CACHE_RESULT_ACCESS},
		{"L1-icache-prefetch-misses", CACHE_L1I, CACHE_OP_PREFETCH, CACHE_RESULT_MISS},
	};
	static const char *const none[] = {"", "L1", "L1-dcache-", "-", "L1-dcachey", "L1-dcache-loadsx", "loads",
		"L1-icache-stores", "iTLB-prefetches", "branch-stores", "LLC-loads-loads", "LLC-misses-misses",
		"LLC-loads-misses-x"};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t config = 0;
		assert_true(cache_event_find(str_from(cases[i].name), &config));
		assert_int_equal(config, cases[i].cache | cases[i].op << 8 | cases[i].result << 16);
	}
	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		uint64_t config = 7;
		assert_false(cache_event_find(str_from(none[i]), &config));
		assert_int_equal(config, 7);
	}
}

/* Every cache event is found by its printed name. */
static void test_caches_by_both_ways(void **state)
{
	for (uint64_t cache = 0; cache < CACHE_COUNT; cache++)
		for (uint64_t op = 0; op < CACHE_OP_COUNT; op++)
			for (uint64_t result = 0; result < CACHE_RESULT_COUNT; result++) {
				uint64_t config = cache | op << 8 | result << 16, found = UINT64_MAX;
				struct text t = {0};
				assert_true(cache_event_append(&t, config));
				bool is_found = cache_event_find((struct tally_str){t.data, t.len}, &found);
				assert_int_equal(is_found, cache_event_is_possible((unsigned)cache, (unsigned)op));
				assert_int_equal(found, is_found ? config : UINT64_MAX);
				text_deinit(&t);
			}
	struct text t = {0};
	assert_false(cache_event_append(&t, CACHE_COUNT));
	assert_false(cache_event_append(&t, CACHE_OP_COUNT << 8));
	assert_false(cache_event_append(&t, CACHE_RESULT_COUNT << 16));
	assert_false(cache_event_append(&t, 1 << 24));
	assert_int_equal(t.len, 0);
	text_deinit(&t);
	assert_false(cache_event_is_possible(CACHE_COUNT, 0));
	assert_false(cache_event_is_possible(0, CACHE_OP_COUNT));
}

static void test_usual_names(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		const char *name;
	} cases[] = {
		{EVENT_HARDWARE, HW_CPU_CYCLES, "cycles"},
		{EVENT_HARDWARE, HW_COUNT, "unknown-hardware"},
		{EVENT_SOFTWARE, SW_CGROUP_SWITCHES, "cgroup-switches"},
		{EVENT_SOFTWARE, SW_COUNT, "unknown-software"},
		{EVENT_HW_CACHE, CACHE_LL | CACHE_RESULT_MISS << 16, "LLC-load-misses"},
		{EVENT_HW_CACHE, CACHE_LL | UINT64_C(8) << 32, "LLC-loads"},
		{EVENT_HW_CACHE, CACHE_COUNT, "unknown-ext-hardware-cache-type"},
		{EVENT_HW_CACHE, CACHE_OP_COUNT << 8, "unknown-ext-hardware-cache-op"},
		{EVENT_HW_CACHE, CACHE_RESULT_COUNT << 16, "unknown-ext-hardware-cache-result"},
		{EVENT_HW_CACHE, CACHE_L1I | CACHE_OP_WRITE << 8, "invalid-cache"},
		{EVENT_RAW, 0x1a8, "raw 0x1a8"},
		{8, 1, "unknown attr type: 8"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct text t = {0};
		event_name_append(&t, cases[i].type, cases[i].config);
		assert_text(&t, cases[i].name);
	}
}

#define PLAIN ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST) /* Recorders set this flag for an event without modifiers. */

static void test_names_of_attrs(void **state)
{
	static const struct {
		struct perf_attr attr;
		const char *name;
	} cases[] = {
		{{.type = EVENT_TRACEPOINT, .config = 7}, EVENT_NAME_UNKNOWN_TRACEPOINT},
		{{.type = EVENT_BREAKPOINT, .bp_type = BREAKPOINT_R, .config1 = 0x1000, .flags = PLAIN},
			"mem:0x1000:r"},
		{{.type = EVENT_BREAKPOINT, .bp_type = BREAKPOINT_W, .config1 = 0x1000, .flags = PLAIN},
			"mem:0x1000:w"},
		{{.type = EVENT_BREAKPOINT, .bp_type = BREAKPOINT_X, .config1 = 0x1000, .flags = PLAIN},
			"mem:0x1000:x"},
		{{.type = EVENT_BREAKPOINT, .bp_type = BREAKPOINT_R | BREAKPOINT_W, .config1 = 0x1000, .flags = PLAIN},
			"mem:0x1000:rw"},
		{{.type = EVENT_HARDWARE, .config = HW_INSTRUCTIONS, .flags = PLAIN}, "instructions"},
		{{.type = EVENT_HARDWARE, .config = HW_INSTRUCTIONS}, "instructions:HG"},
		{{.type = EVENT_HARDWARE, .flags = ATTR_FLAG(ATTR_BIT_EXCLUDE_HOST)}, "cycles:G"},
		{{.type = EVENT_HARDWARE, .flags = PLAIN | ATTR_FLAG(ATTR_BIT_EXCLUDE_USER)}, "cycles:khH"},
		{{.type = EVENT_HARDWARE, .flags = UINT64_C(2) << ATTR_BIT_PRECISE_IP}, "cycles:pp"},
		{{.type = EVENT_HARDWARE, .config = HW_INSTRUCTIONS | UINT64_C(4) << HW_PMU_TYPE_SHIFT, .flags = PLAIN},
			"cpu/instructions/"},
		{{.type = EVENT_SOFTWARE, .config = SW_DUMMY, .flags = ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL)}, "dummy:uh"},
		{{.type = EVENT_SOFTWARE, .config = SW_DUMMY, .flags = ATTR_FLAG(ATTR_BIT_EXCLUDE_HV)}, "dummy:ku"},
		{{.type = 8, .config = 3, .flags = ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL)}, "unknown attr type: 8"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct text t = {0};
		event_name_of_attr(&t, &cases[i].attr);
		assert_text(&t, cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_caches),
		cmocka_unit_test(test_caches_by_both_ways),
		cmocka_unit_test(test_usual_names),
		cmocka_unit_test(test_names_of_attrs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
