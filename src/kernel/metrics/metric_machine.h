/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_machine.h - evaluates what metric expressions need of this machine: its constants, and whether it has the
 * events.
 *
 * It reads sysfs, and opens an event to evaluate has_event(). One thread; borrows the catalogue.
 *
 *	struct metric_machine machine = {.catalogue = catalogue, .is_system_wide = true};
 *	if (metric_machine_expr(&machine, &metric_table[0], &expr, err) == TALLY_OK) ...
 */
#ifndef KERNEL_METRICS_METRIC_MACHINE_H
#define KERNEL_METRICS_METRIC_MACHINE_H

#include "kernel/events/catalogue.h"
#include "kernel/metrics/metric_expr.h"
#include "kernel/metrics/metric_table.h"

struct metric_machine {
	struct event_catalogue *catalogue;
	bool is_system_wide; /* CPUs are counted, not tasks */
};

/* NOT_FOUND: an event or constant is missing; the message names it. */
TALLY_MUST_CHECK enum tally_status metric_machine_expr(
	struct metric_machine *machine, const struct metric *metric, struct metric_expr *expr, struct tally_error *err);
/* The first metric of this name that the machine supports. NULL: there is none; err says what the first one lacks. */
const struct metric *metric_machine_find(
	struct metric_machine *machine, const char *name, struct metric_expr *expr, struct tally_error *err);

#endif
