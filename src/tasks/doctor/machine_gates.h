/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_gates.h - lists the settings of this machine that decide what can be measured: their values, whether they are
 * in the way, the one command that changes them, and what that exposes.
 *
 * Reads /proc and /sys below the seam's root, and the limits of the process. Texts are allocated in the arena of the
 * gates, which the caller owns. Not thread-safe.
 *
 *	struct machine_gates gates;
 *	status = machine_gates_make(kernel, &checks, &gates, err); ... machine_gates_deinit(&gates);
 */
#ifndef TASKS_DOCTOR_MACHINE_GATES_H
#define TASKS_DOCTOR_MACHINE_GATES_H

#include "base/vec.h"
#include "kernel/system/surroundings.h"
#include "tasks/doctor/machine_checks.h"

/* A setting or property of the machine that decides what can be measured. */
struct machine_gate {
	const char *name; /* Name, such as "kernel.perf_event_paranoid". */
	const char *value; /* Value for display; "unknown" if it cannot be read. */
	bool is_in_the_way; /* It currently prevents what stops describes. */
	const char *stops; /* What the setting prevents now, or could prevent. */
	/* The smallest change that lifts the restriction, as a command or a setting; NULL if there is none, or if none
	 * is needed. */
	const char *remedy;
	const char *exposes; /* The protection that is lost by the remedy; NULL if none is. */
	/* Sysctl that lifts the restriction with the value sysctl_value; NULL if there is none, or if none is
	 * needed. */
	const char *sysctl;
	int64_t sysctl_value;
};

#define GATES_CAPABILITIES 4

struct machine_gates {
	struct arena arena;
	VEC(struct machine_gate) items;
	enum surroundings where;
	/* Names such as "PERFMON": the required capabilities that the process lacks, or all required ones if it lacks
	 * none. */
	const char *capabilities[GATES_CAPABILITIES];
	size_t capability_count;
	bool lacks_capabilities;
};

TALLY_MUST_CHECK enum tally_status machine_gates_make(const struct kernel_seam *kernel,
	const struct machine_checks *checks, struct machine_gates *gates, struct tally_error *err);
/* Appends the capabilities, each preceded by `before`, and separated by `between`: "cap_PERFMON,cap_BPF" for "cap_" and
 * ",". */
void machine_gates_put_capabilities(
	const struct machine_gates *gates, const char *before, const char *between, struct text *out);
/* Appends the quoted setcap command that grants the capabilities to the program. */
void machine_gates_put_setcap(const struct machine_gates *gates, struct text *out);
void machine_gates_deinit(struct machine_gates *gates);

#endif
