/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_sampling.h"

#include <string.h>

#include "abi/names.h"
#include "unit_test.h"

static void test_words(void **state)
{
	struct simulation_sampling s = {0};
	struct tally_error err;
	(void)state;
	assert_int_equal(simulation_sampling_add(&s, "instructions,branch-misses:u", 0, &err), TALLY_OK);
	assert_int_equal(
		simulation_sampling_add(&s, "LLC-load-misses/period=77/,l2-loads/period=9/u", 5, &err), TALLY_INVALID);
	s.len = 2;
	assert_int_equal(simulation_sampling_add(&s, "LLC-load-misses/period=77/,l1d-load-misses", 5, &err), TALLY_OK);
	assert_int_equal(s.len, 4);
	assert_int_equal(s.events[0].event, SIM_INSTRUCTIONS);
	assert_int_equal(s.events[0].period, 1000003);
	assert_int_equal(s.events[1].event, SIM_BRANCH_MISSES);
	assert_int_equal(s.events[1].period, 10007);
	assert_int_equal(s.events[2].event, SIM_LLC_LOAD_MISSES);
	assert_int_equal(s.events[2].period, 77);
	assert_int_equal(s.events[3].event, SIM_L1D_LOAD_MISSES);
	assert_int_equal(s.events[3].period, 5);
}

static void expect_refused(const char *words, const char *why)
{
	struct simulation_sampling s = {0};
	struct tally_error err = {0};
	assert_true(simulation_sampling_add(&s, words, 0, &err) != TALLY_OK);
	assert_non_null(strstr(err.text, why));
}

static void test_refusals(void **state)
{
	(void)state;
	expect_refused("cycles", "'cycles' is not simulated");
	expect_refused("cpu-clock", "'cpu-clock' is not simulated");
	expect_refused("L1-dcache-prefetches", "not simulated");
	expect_refused("instructions:k", "no other modifier");
	expect_refused("instructions:", "no other modifier");
	expect_refused("instructions:uk", "no other modifier");
	expect_refused("instructions/period=0/", "/period=N/");
	expect_refused("instructions/period=/", "/period=N/");
	expect_refused("instructions/period=281474976710657/", "at most 2^48");
	expect_refused("instructions/freq=7/", "/period=N/");
	expect_refused("instructions/period=7", "/period=N/");
	expect_refused("instructions,branches,instructions", "instructions twice");
	expect_refused("branches,branch-instructions", "branches twice"); /* Another name of the same event. */
	expect_refused("0", "not simulated");
	expect_refused("L2-load", "not simulated"); /* In perf, L2 is an alias of LLC. */
	expect_refused("instructions,branches,branch-misses,L1-icache-loads,L1-icache-load-misses,L1-dcache-loads,"
		       "L1-dcache-load-misses,L1-dcache-stores,LLC-loads",
		"at most 8 events");
}

/* The attr of each event has the same name in perf, except for events that perf does not know. */
static void test_attrs(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < SIM_EVENT_COUNT; i++) {
		struct perf_attr attr = simulation_event_attr(i);
		struct text name = {0};
		uint32_t found = SIM_EVENT_COUNT;
		event_name_append(&name, attr.type, attr.config);
		if (attr.type == EVENT_RAW)
			assert_int_equal(attr.config, i);
		else
			assert_true(simulation_event_find(text_view(&name), &found) && found == i);
		assert_true(simulation_event_find(str_from(simulation_event_name(i)), &found));
		assert_int_equal(found, i);
		assert_true(simulation_event_period(i) > 10000);
		text_deinit(&name);
	}
	assert_int_equal(simulation_event_attr(SIM_INSTRUCTIONS).type, EVENT_HARDWARE);
	assert_int_equal(simulation_event_attr(SIM_LLC_LOAD_MISSES).type, EVENT_HW_CACHE);
	assert_int_equal(simulation_event_attr(SIM_L2_LOADS).type, EVENT_RAW);
	assert_string_equal(simulation_event_kind(SIM_INSTRUCTIONS), "instructions");
	assert_string_equal(simulation_event_kind(SIM_BRANCH_MISSES), "branches");
	assert_string_equal(simulation_event_kind(SIM_LLC_LOADS), "caches");
	assert_string_equal(simulation_event_kind(SIM_DTLB_LOADS), "tlb");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_attrs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
