/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/metrics/metric_machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernel/events/event_listing.h"
#include "kernel/events/event_parser.h"
#include "kernel/events/tool_events.h"
#include "kernel/system/kernel_files.h"

/* Slots per cycle, if an Arm core reports them. */
static bool slots_constant(const struct event_catalogue *catalogue, double *value)
{
	for (size_t i = 0; i < catalogue->pmu_count; i++) {
		char *text;
		uint64_t slots;
		if (!catalogue->pmus[i].is_core ||
			kernel_text(catalogue->kernel, &text, NULL, "/sys/bus/event_source/devices/%s/caps/slots",
				catalogue->pmus[i].name) != TALLY_OK)
			continue;
		bool is_number = str_to_u64(str_from(text), 0, &slots) && slots > 0;
		free(text);
		if (is_number) {
			*value = (double)slots;
			return true;
		}
	}
	return false;
}

static bool metric_machine_constant(void *context, struct tally_str name, double *value)
{
	const struct metric_machine *machine = context;
	const struct kernel_seam *kernel = machine->catalogue->kernel;
	if (str_equal(name, STR("slots")))
		return slots_constant(machine->catalogue, value);
	uint64_t number;
	if (!tool_event_constant(kernel, tool_event_find(name), machine->is_system_wide, &number))
		return false;
	*value = (double)number;
	return true;
}

static bool metric_machine_has_event(void *context, const char *name)
{
	const struct metric_machine *machine = context;
	struct event_listing listing;
	struct event_opening opening;
	const struct listed_event event = {.kind = LISTED_HARDWARE, .name = name};
	event_listing_init(&listing, machine->catalogue);
	bool opens = event_opening_try(&listing, &event, true, &opening, NULL) == TALLY_OK && opening.opens;
	event_opening_deinit(&opening);
	event_listing_deinit(&listing);
	return opens;
}

enum tally_status metric_machine_expr(
	struct metric_machine *machine, const struct metric *metric, struct metric_expr *expr, struct tally_error *err)
{
	const struct metric_facts facts = {machine, metric_machine_constant, metric_machine_has_event};
	struct metric_expr made;
	enum tally_status status = metric_expr_parse(metric->expression, &facts, &made, err);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < made.name_count && status == TALLY_OK; i++) {
		struct event_list events = {0};
		struct tally_error why = {0};
		status = event_parse(machine->catalogue, made.names[i], &events, &why);
		event_list_deinit(&events);
		if (status != TALLY_OK && status != TALLY_NOMEM)
			status = error_set(
				err, TALLY_NOT_FOUND, "no PMU of this machine has the event '%s'", made.names[i]);
		else if (status == TALLY_NOMEM)
			error_nomem(err);
	}
	if (status == TALLY_OK && made.name_count == 0)
		status = error_set(err, TALLY_NOT_FOUND, "no event of metric '%s' opens on this machine", metric->name);
	if (status == TALLY_OK)
		*expr = made;
	else
		metric_expr_deinit(&made);
	return status;
}

const struct metric *metric_machine_find(
	struct metric_machine *machine, const char *name, struct metric_expr *expr, struct tally_error *err)
{
	bool is_first = true;
	for (size_t i = 0; i < metric_table_len; i++) {
		if (strcmp(metric_table[i].name, name) != 0)
			continue;
		enum tally_status status = metric_machine_expr(machine, &metric_table[i], expr, is_first ? err : NULL);
		is_first = false;
		if (status == TALLY_OK)
			return &metric_table[i];
		if (status == TALLY_NOMEM) {
			error_nomem(err);
			break;
		}
	}
	return NULL;
}
