/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_read.h - reads an event of the calling thread by its mapped page and the CPU's counter registers.
 *
 * A pure function of the page and of the two instructions, which a test replaces. The caller owns the page. It returns
 * false, and the caller then uses read(2), whenever the page alone does not give the value: the event is not on a
 * counter now (index 0), the kernel's capability bits are ambiguous (Linux 3.4 to 3.11), the kernel does not allow it,
 * times are needed but the CPU has no steady clock, or the page keeps changing.
 *
 *	struct user_read read = {.registers = user_registers()};
 *	if (user_page_read(page, &read, &count)) ...
 *
 * Source: perf_event_open(2), "cap_user_rdpmc", "time_shift, time_mult, time_offset"; linux/perf_event.h.
 */
#ifndef KERNEL_COUNTING_USER_READ_H
#define KERNEL_COUNTING_USER_READ_H

#include <linux/perf_event.h>

#include "kernel/counting/counter.h"

struct user_registers {
	uint64_t (*counter)(uint32_t number); /* the page's index - 1 */
	uint64_t (*clock)(void);
};

struct user_read {
	const struct user_registers *registers;
	uint64_t cycles; /* the clock, read once for events that are read one after the other */
	bool has_cycles;
};

/* NULL where this CPU's counters cannot be read by a program. */
const struct user_registers *user_registers(void);
/* True if an event that is mapped here may ever be read by user_page_read. */
bool user_page_is_capable(const struct perf_event_mmap_page *page);
bool user_page_read(const struct perf_event_mmap_page *page, struct user_read *read, struct count *count);

#endif
