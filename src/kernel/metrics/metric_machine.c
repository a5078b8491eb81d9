#include "kernel/metrics/metric_machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernel/events/event_listing.h"
#include "kernel/events/event_parser.h"
#include "kernel/system/cpu_topology.h"
#include "kernel/system/kernel_files.h"

/* How many different places of this kind the online CPUs have. */
static double distinct(const struct cpu_place *places, size_t count, char kind)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++) {
		bool is_new = true;
		for (size_t k = 0; k < i && is_new; k++)
			is_new = places[k].socket != places[i].socket ||
				 (kind != 'p' && places[k].die != places[i].die) ||
				 (kind == 'c' && places[k].core != places[i].core);
		found += is_new;
	}
	return (double)found;
}

static bool topology_constant(const struct kernel_seam *kernel, struct tally_str name, double *value)
{
	int *cpus = NULL;
	size_t count = 0;
	struct cpu_place *places = NULL;
	bool is_known = true;
	if (cpu_list_online(kernel, &cpus, &count, NULL) != TALLY_OK)
		return false;
	if (cpu_places(kernel, cpus, count, &places, NULL) != TALLY_OK)
		is_known = false;
	else if (str_equal(name, STR("num_cpus")) || str_equal(name, STR("num_cpus_online")))
		*value = (double)count;
	else if (str_equal(name, STR("num_cores")))
		*value = distinct(places, count, 'c');
	else if (str_equal(name, STR("num_dies")))
		*value = distinct(places, count, 'd');
	else if (str_equal(name, STR("num_packages")))
		*value = distinct(places, count, 'p');
	else
		is_known = false;
	free(cpus);
	free(places);
	return is_known;
}

/* Slots per cycle, where an Arm core says so. */
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

static bool constant(void *context, struct tally_str name, double *value)
{
	const struct metric_machine *machine = context;
	const struct kernel_seam *kernel = machine->catalogue->kernel;
	if (str_equal(name, STR("target_cpu"))) {
		*value = machine->is_system_wide ? 1 : 0;
		return true;
	}
	if (str_equal(name, STR("smt_on"))) {
		*value = kernel_number(kernel, 0, "/sys/devices/system/cpu/smt/active") == 1 ? 1 : 0;
		return true;
	}
	if (str_equal(name, STR("slots")))
		return slots_constant(machine->catalogue, value);
	return topology_constant(kernel, name, value);
}

static bool has_event(void *context, const char *name)
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
	const struct metric_facts facts = {machine, constant, has_event};
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
