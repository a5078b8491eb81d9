/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_read.h - reads an event of the calling thread by its mapped page and the CPU's counter registers.
 *
 * The result depends only on the page and on the two instructions, which tests replace. The caller owns the page.
 * user_page_read returns false, and the caller then uses read(2), if the event is not on a counter at the moment (index
 * 0), the kernel's capability bits are ambiguous (Linux 3.4 to 3.11), the kernel does not allow it, times are needed
 * but the CPU has no steady clock, or the page changes again and again.
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

struct user_registers { /* The instructions that read the registers of this CPU. */
	uint64_t (*counter)(uint32_t number); /* Reads a counter; number is the index in the page minus 1. */
	uint64_t (*clock)(void); /* Reads the TSC or CNTVCT. */
};

struct user_read {
	const struct user_registers *registers;
	uint64_t cycles; /* Value of the clock, which is read once for all events that are read with this structure. */
	bool has_cycles; /* The clock was read. */
};

/* Returns NULL if programs cannot read the counters of this CPU. */
const struct user_registers *user_registers(void);
/* Returns whether user_page_read can ever succeed for the event of this page. */
bool user_page_is_capable(const struct perf_event_mmap_page *page);
bool user_page_read(const struct perf_event_mmap_page *page, struct user_read *read, struct count *count);

#endif
