/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_gates.h - lists the settings of this machine that decide what may be measured: their values, whether they are
 * in the way, the one command that changes them, and what that exposes.
 *
 * Reads /proc and /sys below the seam's root, and the process's limits. Texts live in the arena of the gates, which the
 * caller owns. One thread.
 *
 *	struct machine_gates gates;
 *	status = machine_gates_make(kernel, &checks, &gates, err); ... machine_gates_deinit(&gates);
 */
#ifndef TASKS_DOCTOR_MACHINE_GATES_H
#define TASKS_DOCTOR_MACHINE_GATES_H

#include "base/vec.h"
#include "kernel/system/surroundings.h"
#include "tasks/doctor/machine_checks.h"

struct machine_gate {
	const char *name; /* "kernel.perf_event_paranoid" */
	const char *value; /* as people read it; "unknown" if it cannot be read */
	bool is_in_the_way; /* of what it stops */
	const char *stops; /* what it forbids now, or would forbid */
	const char *remedy; /* the least that opens it: a command or a setting; NULL: nothing does, or it is open */
	const char *exposes; /* what is lost by that; NULL: nothing */
	const char *sysctl; /* the one that opens it, with this value; NULL: none, or it is open */
	int64_t sysctl_value;
};

#define GATES_CAPABILITIES 4

struct machine_gates {
	struct arena arena;
	VEC(struct machine_gate) items;
	enum surroundings where;
	const char *capabilities[GATES_CAPABILITIES]; /* "PERFMON": those that it lacks; if it lacks none, all needed */
	size_t capability_count;
	bool lacks_capabilities;
};

TALLY_MUST_CHECK enum tally_status machine_gates_make(const struct kernel_seam *kernel,
	const struct machine_checks *checks, struct machine_gates *gates, struct tally_error *err);
/* "cap_PERFMON,cap_BPF": each with something before it. */
void machine_gates_put_capabilities(
	const struct machine_gates *gates, const char *before, const char *between, struct text *out);
/* The command, in quotes, that gives them to the program. */
void machine_gates_put_setcap(const struct machine_gates *gates, struct text *out);
void machine_gates_deinit(struct machine_gates *gates);

#endif
