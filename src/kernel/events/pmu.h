/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu.h - lists the PMUs in /sys/bus/event_source/devices: type, where each counts, formats and named events.
 *
 * The array and its strings live in the arena that is passed; formats and events are read from sysfs on demand. Source:
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events}.
 *
 *	const struct pmu *pmu = pmu_find(pmus, count, STR("msr"));
 *	pmu_term_set(kernel, pmu, STR("event"), 0x3c, &attr, err);   // spread over the bits that format/event names
 */
#ifndef KERNEL_EVENTS_PMU_H
#define KERNEL_EVENTS_PMU_H

#include "abi/attr.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "kernel/system/kernel_seam.h"

struct pmu {
	const char *name;
	uint32_t type;
	bool is_core; /* counts on CPU cores: takes the generic names too */
	bool is_hybrid; /* one of several kinds of core: generic events carry its type */
	bool is_left_out; /* generic events do not expand to it, because another kind of core was requested */
	const char *cpus; /* list from cpumask or cpus; NULL: any CPU, any task */
	bool is_uncore; /* has a cpumask: counts a CPU, not a task */
};

struct pmu_alias {
	char *terms; /* malloc; "event=0x3c,umask=0x01" */
	char *unit; /* malloc or NULL */
	double scale; /* 1 if the PMU names none */
};

TALLY_MUST_CHECK enum tally_status pmu_load_all(const struct kernel_seam *kernel, struct arena *arena,
	struct pmu **pmus, size_t *count, struct tally_error *err);
const struct pmu *pmu_find(const struct pmu *pmus, size_t count, struct tally_str name);
/* True if "imc" may stand for this PMU ("uncore_imc_0"): the uncore_ prefix and the _N at the end may be left out. */
bool pmu_matches(const struct pmu *pmu, struct tally_str name);
/* NOT_FOUND if the PMU has no such format. A value too wide for its bits: INVALID. */
TALLY_MUST_CHECK enum tally_status pmu_term_set(const struct kernel_seam *kernel, const struct pmu *pmu,
	struct tally_str term, uint64_t value, struct perf_attr *attr, struct tally_error *err);
/* NOT_FOUND if the PMU names no such event. */
TALLY_MUST_CHECK enum tally_status pmu_alias_find(const struct kernel_seam *kernel, const struct pmu *pmu,
	struct tally_str name, struct pmu_alias *alias, struct tally_error *err);
void pmu_alias_deinit(struct pmu_alias *alias);

#endif
