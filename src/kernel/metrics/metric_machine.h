/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_machine.h - parses metric expressions for this machine: evaluates its constants and tests which events it has.
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
	bool is_system_wide; /* CPUs are counted, not tasks. */
};

/* Parses the expression of a metric. Returns TALLY_NOT_FOUND if it uses an event or a constant that the machine
 * lacks. */
TALLY_MUST_CHECK enum tally_status metric_machine_expr(
	struct metric_machine *machine, const struct metric *metric, struct metric_expr *expr, struct tally_error *err);
/* Returns the first metric of this name that the machine supports, or NULL; then err says what the machine lacks for
 * the first metric of this name. */
const struct metric *metric_machine_find(
	struct metric_machine *machine, const char *name, struct metric_expr *expr, struct tally_error *err);

#endif
