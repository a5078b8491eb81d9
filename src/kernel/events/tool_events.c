/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/tool_events.h"

#include <stdlib.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "kernel/system/cpu_topology.h"
#include "kernel/system/kernel_files.h"

#define CPUID_TSC 0x15 /* CPUID leaf of the time stamp counter and the crystal clock (Intel SDM). */

static const struct {
	const char *name, *description;
} tool_events[TOOL_EVENTS] = {
	[TOOL_NONE] = {NULL, NULL},
	[TOOL_DURATION_TIME] = {"duration_time", "Time from the start of the measurement to its end, in nanoseconds"},
	[TOOL_USER_TIME] = {"user_time",
		"Time that the command, the processes or the CPUs spent in user mode, in nanoseconds"},
	[TOOL_SYSTEM_TIME] = {"system_time",
		"Time that the command, the processes or the CPUs spent in the kernel, in nanoseconds"},
	[TOOL_CORE_WIDE] = {"core_wide", "1 if all hardware threads of each core are measured"},
	[TOOL_HAS_PMEM] = {"has_pmem", "1 if the machine has persistent memory"},
	[TOOL_NUM_CORES] = {"num_cores", "Number of cores"},
	[TOOL_NUM_CPUS] = {"num_cpus", "Number of CPUs that Linux knows"},
	[TOOL_NUM_CPUS_ONLINE] = {"num_cpus_online", "Number of CPUs that are online"},
	[TOOL_NUM_DIES] = {"num_dies", "Number of dies"},
	[TOOL_NUM_PACKAGES] = {"num_packages", "Number of packages"},
	[TOOL_SMT_ON] = {"smt_on", "1 if cores run several hardware threads"},
	[TOOL_SYSTEM_TSC_FREQ] = {"system_tsc_freq", "Steps of the time stamp counter in a second"},
	[TOOL_TARGET_CPU] = {"target_cpu", "1 if CPUs are measured, 0 if tasks are"},
};

enum tool_event tool_event_find(struct tally_str name)
{
	for (enum tool_event tool = TOOL_NONE + 1; tool < TOOL_EVENTS; tool++)
		if (str_equal(name, str_from(tool_events[tool].name)))
			return tool;
	return TOOL_NONE;
}

const char *tool_event_name(enum tool_event tool)
{
	return tool_events[tool].name;
}

const char *tool_event_description(enum tool_event tool)
{
	return tool_events[tool].description;
}

bool tool_event_is_constant(enum tool_event tool)
{
	return tool > TOOL_SYSTEM_TIME;
}

bool tool_event_is_shared(enum tool_event tool)
{
	return tool == TOOL_DURATION_TIME || tool_event_is_constant(tool);
}

/* Number of distinct packages, dies or cores (as kind says) among the CPUs. */
static uint64_t places_distinct(const struct cpu_place *places, size_t count, enum tool_event kind)
{
	uint64_t found = 0;
	for (size_t i = 0; i < count; i++) {
		bool is_new = true;
		for (size_t k = 0; k < i && is_new; k++)
			is_new = places[k].socket != places[i].socket ||
				 (kind != TOOL_NUM_PACKAGES && places[k].die != places[i].die) ||
				 (kind == TOOL_NUM_CORES && places[k].core != places[i].core);
		found += is_new;
	}
	return found;
}

/* Only CPUs that are online count. */
static bool topology_constant(const struct kernel_seam *kernel, enum tool_event tool, uint64_t *value)
{
	int *cpus = NULL;
	size_t count = 0;
	struct cpu_place *places = NULL;
	if (cpu_list_online(kernel, &cpus, &count, NULL) != TALLY_OK)
		return false;
	bool is_known = true;
	if (tool == TOOL_NUM_CPUS_ONLINE)
		*value = count;
	else if (cpu_places(kernel, cpus, count, &places, NULL) == TALLY_OK)
		*value = places_distinct(places, count, tool);
	else
		is_known = false;
	free(cpus);
	free(places);
	return is_known;
}

static bool cpus_present(const struct kernel_seam *kernel, uint64_t *value)
{
	char *text;
	int *cpus = NULL;
	size_t count = 0;
	if (kernel_text(kernel, &text, NULL, "/sys/devices/system/cpu/present") != TALLY_OK)
		return topology_constant(kernel, TOOL_NUM_CPUS_ONLINE, value);
	bool is_known = cpu_list_parse(str_from(text), &cpus, &count, NULL) == TALLY_OK && count > 0;
	free(text);
	free(cpus);
	*value = is_known ? count : *value;
	return is_known;
}

static bool has_threaded_cores(const struct kernel_seam *kernel)
{
	return kernel_number(kernel, 0, "/sys/devices/system/cpu/smt/active") == 1;
}

static bool tsc_frequency(uint64_t *value)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned denominator = 0, numerator = 0, crystal = 0, reserved = 0;
	if (__get_cpuid_count(CPUID_TSC, 0, &denominator, &numerator, &crystal, &reserved) && denominator &&
		numerator && crystal) {
		*value = (uint64_t)crystal * numerator / denominator;
		return true;
	}
#endif
	(void)value;
	return false;
}

bool tool_event_constant(const struct kernel_seam *kernel, enum tool_event tool, bool is_system_wide, uint64_t *value)
{
	switch (tool) {
	case TOOL_NONE:
	case TOOL_DURATION_TIME:
	case TOOL_USER_TIME:
	case TOOL_SYSTEM_TIME:
	case TOOL_EVENTS:
		return false;
	case TOOL_NUM_CPUS:
		return cpus_present(kernel, value);
	case TOOL_NUM_CPUS_ONLINE:
	case TOOL_NUM_CORES:
	case TOOL_NUM_DIES:
	case TOOL_NUM_PACKAGES:
		return topology_constant(kernel, tool, value);
	case TOOL_SMT_ON:
		*value = has_threaded_cores(kernel);
		return true;
	case TOOL_CORE_WIDE:
		*value = is_system_wide || !has_threaded_cores(kernel);
		return true;
	case TOOL_HAS_PMEM: /* NVDIMM Firmware Interface Table of ACPI. */
		*value = kernel_has(kernel, "/sys/firmware/acpi/tables/NFIT");
		return true;
	case TOOL_TARGET_CPU:
		*value = is_system_wide;
		return true;
	case TOOL_SYSTEM_TSC_FREQ:
		return tsc_frequency(value);
	}
	return false;
}
