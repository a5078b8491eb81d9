/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu.h - lists the PMUs in /sys/bus/event_source/devices: type, where each counts, formats and named events.
 *
 * The array and its strings live in the arena of the caller; formats and events are read from sysfs on demand. Source:
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
	bool is_core; /* A PMU of CPU cores, which also accepts generic event names. */
	bool is_hybrid; /* The machine has several kinds of core, and generic events encode the type of this PMU. */
	bool is_left_out; /* Generic events do not use it, because another kind of core was requested. */
	const char *cpus; /* CPU list of the file cpumask or cpus; NULL if the PMU counts on every CPU. */
	bool is_uncore; /* The PMU has a cpumask: it counts CPUs, not tasks. */
};

/* A named event of a PMU. */
struct pmu_alias {
	char *terms; /* Such as "event=0x3c,umask=0x01"; allocated by malloc. */
	char *unit; /* Allocated by malloc; NULL if none. */
	double scale; /* 1 if sysfs has none. */
};

TALLY_MUST_CHECK enum tally_status pmu_load_all(const struct kernel_seam *kernel, struct arena *arena,
	struct pmu **pmus, size_t *count, struct tally_error *err);
/* Returns the PMU with exactly this name, or NULL. */
const struct pmu *pmu_find(const struct pmu *pmus, size_t count, struct tally_str name);
/* Returns whether name stands for this PMU; the prefix "uncore_" and the suffix "_N" may be left out. */
bool pmu_matches(const struct pmu *pmu, struct tally_str name);
/* Stores value in the bits of attr that the format called term describes. Returns TALLY_NOT_FOUND if the PMU has no
 * such format, and TALLY_INVALID if the value has too many bits. */
TALLY_MUST_CHECK enum tally_status pmu_term_set(const struct kernel_seam *kernel, const struct pmu *pmu,
	struct tally_str term, uint64_t value, struct perf_attr *attr, struct tally_error *err);
/* Reads a named event; TALLY_NOT_FOUND if the PMU has no event of this name. */
TALLY_MUST_CHECK enum tally_status pmu_alias_find(const struct kernel_seam *kernel, const struct pmu *pmu,
	struct tally_str name, struct pmu_alias *alias, struct tally_error *err);
void pmu_alias_deinit(struct pmu_alias *alias);

#endif
