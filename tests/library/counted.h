/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted.h - gives checks two kinds of events that count exactly what the program does: breakpoints on writes to a
 * variable, which any user may open but some virtual machines never deliver, and tracepoints of two system calls,
 * which need tracefs and root. CHECK_BOTH defines two checks: NAME, and NAME_by_tracepoints.
 *
 *	CHECK_BOTH(counts_what_is_written)
 *	{
 *		struct tally_counter *counter = tally_counter_open(on_writes(&cell), NULL, &err);
 *		write_cell(3);
 *		EXPECT_EQ(tally_counter_value(counter), 3);
 *	}
 */
#ifndef TESTS_LIBRARY_COUNTED_H
#define TESTS_LIBRARY_COUNTED_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <tally/event.h>
#include <unistd.h>

#include "checks.h"

struct counted { /* Counted by a breakpoint on value, or by the tracepoint of the system call. */
	volatile uint64_t value;
	const char *tracepoint;
	long call;
};

static struct counted cell = {0, "syscalls:sys_enter_getppid", SYS_getppid};
static struct counted other = {0, "syscalls:sys_enter_getsid", SYS_getsid};
static bool is_by_tracepoints;

#define CHECK_BOTH(NAME)                  \
	static void NAME##_of_both(void); \
	CHECK(NAME)                       \
	{                                 \
		NAME##_of_both();         \
	}                                 \
	CHECK(NAME##_by_tracepoints)      \
	{                                 \
		is_by_tracepoints = true; \
		NAME##_of_both();         \
	}                                 \
	static void NAME##_of_both(void)

static inline void happen(struct counted *counted, int times)
{
	for (int i = 0; i < times; i++) {
		if (is_by_tracepoints)
			syscall(counted->call, 0);
		else
			counted->value = (uint64_t)i;
	}
}

static inline void write_cell(int times)
{
	happen(&cell, times);
}

static inline void write_other(void)
{
	happen(&other, 1);
}

/* Returns the name of the event, which is valid until the second next call. */
static inline const char *name_of_writes(const struct counted *counted)
{
	static char text[2][64];
	static int turn;
	char *made = text[turn++ % 2];
	if (is_by_tracepoints)
		return counted->tracepoint;
	snprintf(made, sizeof(text[0]), "mem:%#llx/8:w:u", (unsigned long long)(uintptr_t)&counted->value);
	return made;
}

/* Makes the event count writes to this variable, or its system call; all other fields stay. */
static inline void watch(struct perf_event_attr *attr, const struct counted *counted)
{
	struct tally_error why;
	struct perf_event_attr parsed;
	if (tally_event_attr(name_of_writes(counted), &parsed, sizeof(parsed), &why) != TALLY_OK)
		SKIP("%s", why.text);
	attr->type = parsed.type;
	attr->config = parsed.config;
	attr->bp_type = parsed.bp_type;
	attr->config1 = parsed.config1;
	attr->config2 = parsed.config2;
}

static inline struct perf_event_attr attr_of_writes(const struct counted *counted)
{
	struct perf_event_attr attr = {0};
	attr.size = sizeof(attr);
	attr.exclude_kernel = !is_by_tracepoints;
	attr.exclude_hv = !is_by_tracepoints;
	watch(&attr, counted);
	return attr;
}

/* Returns the data address of the samples; tracepoints have none. */
static inline uint64_t address_of(const struct counted *counted)
{
	return is_by_tracepoints ? 0 : (uintptr_t)&counted->value;
}

#endif
