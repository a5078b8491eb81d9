/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_simulated_events.h"

#include <string.h>

#include "base/text.h"
#include "unit_test.h"

static void expect_kinds(const char *words, const char *kinds)
{
	struct stat_simulated_events events = {0};
	struct tally_error err;
	struct text text = {0};
	assert_int_equal(stat_simulated_events_add(&events, words, &err), TALLY_OK);
	stat_simulated_events_kinds(&events, &text);
	text_char(&text, '\0');
	assert_string_equal(text.data, kinds);
	text_deinit(&text);
	stat_simulated_events_deinit(&events);
}

static void only_what_the_events_need_is_simulated(void **state)
{
	expect_kinds("instructions", "instructions");
	expect_kinds("branch-misses,instructions:u", "instructions,branches");
	expect_kinds("dTLB-load-misses,cache-misses", "caches,tlb");
	expect_kinds("{instructions,branches}:u,LLC-loads", "instructions,branches,caches");
}

static void expect_refused(const char *words, const char *says)
{
	struct stat_simulated_events events = {0};
	struct tally_error err;
	assert_int_equal(stat_simulated_events_add(&events, words, &err), TALLY_INVALID);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
	stat_simulated_events_deinit(&events);
}

static void what_cannot_be_simulated_is_explained(void **state)
{
	expect_refused("instructions,cycles", "'cycles' cannot be simulated");
	expect_refused("stalled-cycles-frontend", "not how long a CPU takes");
	expect_refused("page-faults", "without --simulate");
	expect_refused("nonsense", "'nonsense' is not simulated: -e takes");
	expect_refused("instructions:k", "no other modifier than :u");
	expect_refused("L1-dcache-prefetches", "is not simulated");
}

static uint64_t value_of(const char *name, const struct simulation_counts *counts, bool *is_supported)
{
	struct stat_simulated_events events = {0};
	struct tally_error err;
	uint64_t value = 0;
	assert_int_equal(stat_simulated_events_add(&events, name, &err), TALLY_OK);
	assert_int_equal(events.list.len, 1);
	assert_string_equal(events.list.specs[0].name, name);
	*is_supported = stat_simulated_value(&events, 0, counts, &value);
	stat_simulated_events_deinit(&events);
	return value;
}

static void names_of_perf_stand_for_sums(void **state)
{
	struct simulation_counts counts = {.model = "valgrind=3.19.0 l2=1,1,1"};
	bool is_supported;
	for (size_t i = 0; i < SIM_EVENT_COUNT; i++) {
		counts.values[i] = UINT64_C(1) << i;
		counts.is_counted[i] = true;
	}
	assert_true(value_of("branch-instructions:u", &counts, &is_supported) == 1u << SIM_BRANCHES);
	assert_true(value_of("cache-misses", &counts, &is_supported) ==
		    (1u << SIM_LLC_LOAD_MISSES | 1u << SIM_LLC_STORE_MISSES | 1u << SIM_LLC_CODE_MISSES));
	assert_true(value_of("cache-references", &counts, &is_supported) ==
		    (1u << SIM_LLC_LOADS | 1u << SIM_LLC_STORES | 1u << SIM_L2_CODE_MISSES));
	assert_true(value_of("l2-loads", &counts, &is_supported) == 1u << SIM_L2_LOADS);
	assert_true(is_supported);
	strcpy(counts.model, "valgrind=3.19.0");
	assert_true(value_of("cache-references", &counts, &is_supported) ==
		    (1u << SIM_LLC_LOADS | 1u << SIM_LLC_STORES | 1u << SIM_L1I_LOAD_MISSES));
	value_of("l2-loads", &counts, &is_supported);
	assert_false(is_supported);
	counts.is_counted[SIM_L1I_LOAD_MISSES] = false;
	value_of("cache-references", &counts, &is_supported);
	assert_false(is_supported);
}

static void the_default_has_all_levels(void **state)
{
	struct stat_simulated_events events = {0}, all = {0};
	struct tally_error err;
	assert_int_equal(stat_simulated_events_add_default(&events, 0, &err), TALLY_OK);
	assert_int_equal(events.list.len, 11);
	assert_string_equal(events.list.specs[0].name, "instructions");
	assert_int_equal(stat_simulated_events_add_default(&all, 1, &err), TALLY_OK);
	assert_int_equal(all.list.len, SIM_EVENT_COUNT);
	stat_simulated_events_deinit(&events);
	stat_simulated_events_deinit(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_the_events_need_is_simulated),
		cmocka_unit_test(what_cannot_be_simulated_is_explained),
		cmocka_unit_test(names_of_perf_stand_for_sums),
		cmocka_unit_test(the_default_has_all_levels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
