/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_checks.h - tries each kind of event on this machine, and reports which ones can be opened and what refuses
 * the others.
 *
 * An event of each kind is opened. If tally can cause the event, it also checks the count (event_trials.h). There are
 * no side effects. Everything is allocated in the arena of the checks, which the caller owns. Not thread-safe; takes
 * some milliseconds.
 *
 *	struct machine_checks checks = {0};
 *	status = machine_checks_make(kernel, &checks, err);
 *	if (status == TALLY_OK && machine_checks_allow(&checks, CHECK_KERNEL_MODE)) ...
 *	machine_checks_deinit(&checks);
 */
#ifndef TASKS_DOCTOR_MACHINE_CHECKS_H
#define TASKS_DOCTOR_MACHINE_CHECKS_H

#include "base/arena.h"
#include "kernel/system/kernel_seam.h"

/* In the order of the output. */
enum machine_check_id {
	CHECK_SOFTWARE,
	CHECK_KERNEL_MODE,
	CHECK_ALL_PROCESSES,
	CHECK_RING,
	CHECK_HARDWARE,
	CHECK_CACHE,
	CHECK_RAW,
	CHECK_PRECISE,
	CHECK_BRANCHES,
	CHECK_AUX,
	CHECK_TRACEPOINT,
	CHECK_BREAKPOINT,
	CHECK_UPROBE,
	CHECK_KPROBE,
	CHECK_BPF,
	CHECK_COUNT
};

struct machine_check {
	const char *name; /* Stable identifier for JSON, such as "hardware". */
	const char *what; /* Description, such as "cycles, instructions, branch-misses". */
	const char *event; /* The event that was tried. */
	bool is_allowed;
	/* A sentence about what refused the event, and the smallest change that allows it; NULL if it is allowed. */
	const char *reason;
};

struct machine_checks {
	struct arena arena;
	struct machine_check items[CHECK_COUNT];
};

TALLY_MUST_CHECK enum tally_status machine_checks_make(
	const struct kernel_seam *kernel, struct machine_checks *checks, struct tally_error *err);
void machine_checks_deinit(struct machine_checks *checks);
static inline bool machine_checks_allow(const struct machine_checks *checks, enum machine_check_id id)
{
	return checks->items[id].is_allowed;
}

#endif
