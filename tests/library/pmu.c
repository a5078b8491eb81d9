/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu.c - checks of the library on a PMU: reads without system calls beside read(2), exact regions, shared counters,
 * the error state. They are skipped if there is no PMU; on the emulated ARM PMU, none is skipped.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <tally/fd.h>
#include <tally/region.h>

#include "checks.h"

static struct tally_error err;

static struct tally_counter *open_or_skip(const char *events, const struct tally_counter_options *options)
{
	struct tally_counter *counter = tally_counter_open(events, options, &err);
	if (!counter && (err.status == TALLY_UNSUPPORTED || err.status == TALLY_DENIED))
		SKIP("%s", err.text);
	if (!counter)
		FAIL("%s", err.text);
	return counter;
}

static struct tally_counter *open_user_read(const char *events)
{
	struct tally_counter *counter = open_or_skip(events, NULL);
	struct tally_count counts[TALLY_MARK_EVENTS];
	EXPECT_OK(tally_counter_read(counter, counts, tally_counter_len(counter), &err));
	if (!tally_counter_is_user_read(counter, 0))
		SKIP("the kernel does not let programs read counters here");
	return counter;
}

static __attribute__((noinline)) void spin(unsigned long turns)
{
	for (unsigned long i = 0; i < turns; i++)
		__asm__ volatile("" ::: "memory");
}

static uint64_t by_system_call(const struct tally_counter *counter, size_t event)
{
	struct tally_reading reading;
	struct tally_reading_value values[TALLY_MARK_EVENTS];
	uint64_t format = 3 | (tally_counter_len(counter) > 1 ? 12 : 0); /* The times, and the IDs of a group. */
	EXPECT_OK(tally_fd_read(tally_counter_fd(counter, 0), format, &reading, values, TALLY_MARK_EVENTS, &err));
	return values[event].value;
}

CHECK(user_reads_agree_with_the_system_call)
{
	struct tally_counter *counter = open_user_read("{instructions,cycles}:u");
	struct tally_count before[2], after[2];
	for (int i = 0; i < 100; i++) {
		EXPECT_OK(tally_counter_read(counter, before, 2, &err));
		EXPECT(tally_counter_is_user_read(counter, 0) && tally_counter_is_user_read(counter, 1));
		uint64_t between = by_system_call(counter, 0);
		EXPECT_OK(tally_counter_read(counter, after, 2, &err));
		EXPECT(before[0].raw_value <= between && between <= after[0].raw_value);
		EXPECT(after[0].raw_value - before[0].raw_value < 20000);
		EXPECT(after[1].raw_value > before[1].raw_value);
		EXPECT(after[0].enabled_ns >= before[0].enabled_ns && after[0].enabled_ns == after[0].running_ns);
		EXPECT_EQ(after[0].state, TALLY_COUNT_EXACT);
		spin(1000 * (unsigned long)i);
	}
}

/* Twice as many iterations take exactly twice as many instructions, because begin and end of a region always cost the
 * same. */
CHECK(regions_count_to_the_unit)
{
	struct tally_counter *counter = open_user_read("instructions:u");
	struct tally_mark mark;
	uint64_t spent[4];
	/* The first call of each function goes through the dynamic linker. */
	EXPECT(tally_region_begin(counter, &mark) == TALLY_OK);
	EXPECT(tally_region_end(counter, &mark, spent, 1) == TALLY_OK);
	for (unsigned long i = 0; i < 4; i++) {
		EXPECT(tally_region_begin(counter, &mark) == TALLY_OK);
		spin(10000 * (i + 1));
		EXPECT(tally_region_end(counter, &mark, &spent[i], 1) == TALLY_OK);
		EXPECT(tally_counter_is_user_read(counter, 0));
	}
	EXPECT(spent[0] >= 20000 && spent[0] < 60000);
	EXPECT_EQ(spent[2] - spent[1], spent[1] - spent[0]);
	EXPECT_EQ(spent[3] - spent[2], spent[1] - spent[0]);
}

CHECK(system_calls_give_the_same_when_asked_for)
{
	struct tally_counter_options options;
	struct tally_mark mark;
	uint64_t spent[2];
	tally_counter_options_init(&options);
	options.never_user_reads = true;
	struct tally_counter *counter = open_or_skip("instructions:u", &options);
	EXPECT(tally_region_begin(counter, &mark) == TALLY_OK);
	EXPECT(tally_region_end(counter, &mark, spent, 1) == TALLY_OK);
	for (unsigned long i = 0; i < 2; i++) {
		EXPECT(tally_region_begin(counter, &mark) == TALLY_OK);
		spin(100000 * (i + 1));
		EXPECT(tally_region_end(counter, &mark, &spent[i], 1) == TALLY_OK);
		EXPECT(!tally_counter_is_user_read(counter, 0));
	}
	EXPECT((spent[1] - spent[0]) % 100000 == 0 && spent[1] > spent[0]);
}

CHECK(a_counter_that_stands_is_left_to_the_kernel)
{
	struct tally_counter *counter = open_user_read("instructions:u");
	tally_counter_disable(counter);
	uint64_t value = tally_counter_value(counter);
	EXPECT(!tally_counter_is_user_read(counter, 0));
	EXPECT_EQ(tally_counter_value(counter), value);
	tally_counter_enable(counter);
	EXPECT(tally_counter_value(counter) > value);
	EXPECT(tally_counter_is_user_read(counter, 0));
}

static void *read_elsewhere(void *counter)
{
	static uint64_t value;
	value = tally_counter_value(counter);
	EXPECT(!tally_counter_is_user_read(counter, 0));
	return &value;
}

CHECK(another_thread_reads_by_the_system_call)
{
	struct tally_counter *counter = open_user_read("instructions:u");
	pthread_t thread;
	void *value;
	uint64_t before = tally_counter_value(counter);
	EXPECT(pthread_create(&thread, NULL, read_elsewhere, counter) == 0 && pthread_join(thread, &value) == 0);
	EXPECT(*(uint64_t *)value >= before && *(uint64_t *)value <= tally_counter_value(counter));
}

CHECK(inherited_counters_are_read_by_the_system_call)
{
	struct tally_counter_options options;
	tally_counter_options_init(&options);
	options.inherit = true;
	struct tally_counter *counter = open_or_skip("instructions:u", &options);
	EXPECT(tally_counter_value(counter) > 0);
	EXPECT(!tally_counter_is_user_read(counter, 0));
}

CHECK(shared_counters_are_scaled)
{
	char events[400] = "instructions:u";
	struct tally_count counts[24];
	for (int i = 1; i < 24; i++)
		strcat(events, ",instructions:u");
	struct tally_counter *counter = open_or_skip(events, NULL);
	for (int i = 0; i < 50; i++) {
		spin(1000000);
		EXPECT_OK(tally_counter_read(counter, counts, 24, &err));
	}
	uint64_t most = 0, least = UINT64_MAX;
	size_t scaled = 0;
	for (int i = 0; i < 24; i++) {
		scaled += counts[i].state == TALLY_COUNT_SCALED;
		most = counts[i].value > most ? counts[i].value : most;
		least = counts[i].value < least ? counts[i].value : least;
	}
	if (scaled == 0)
		SKIP("24 counters fit on this PMU");
	EXPECT(most - least < most / 20);
}

CHECK(pinned_counters_without_room_are_in_error)
{
	struct tally_counter_options options;
	char events[400] = "instructions:u";
	struct tally_count counts[24];
	size_t in_error = 0;
	tally_counter_options_init(&options);
	options.is_pinned = true;
	for (int i = 1; i < 24; i++)
		strcat(events, ",instructions:u");
	struct tally_counter *counter = open_or_skip(events, &options);
	spin(1000000);
	EXPECT_OK(tally_counter_read(counter, counts, 24, &err));
	for (int i = 0; i < 24; i++) {
		in_error += counts[i].state == TALLY_COUNT_IN_ERROR;
		EXPECT((counts[i].value == 0) == (counts[i].state == TALLY_COUNT_IN_ERROR));
		EXPECT(counts[i].state == TALLY_COUNT_IN_ERROR || counts[i].state == TALLY_COUNT_EXACT);
	}
	if (in_error == 0)
		SKIP("24 counters fit on this PMU");
	EXPECT(in_error < 24);
}

int main(int argc, char **argv)
{
	return checks_main(argc, argv);
}
