/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gating.h - declares what machine_gates.c, for the kernel's rules and limits, and place_gates.c, for the environment
 * in which tally runs (container, hypervisor, file systems), have in common. Only these two include it.
 *
 *	gating_add(g, (struct machine_gate){.name = "lockdown", .value = "none", ...});
 */
#ifndef TASKS_DOCTOR_GATING_H
#define TASKS_DOCTOR_GATING_H

#include "base/text.h"
#include "tasks/doctor/machine_gates.h"

struct gating {
	const struct kernel_seam *kernel;
	const struct machine_checks *checks;
	struct machine_gates *gates;
	bool is_capable; /* This process may measure everything. */
	bool is_out_of_memory;
};

/* Frees the text, and returns a copy in the arena of the gates. */
const char *gating_keep(struct gating *g, struct text *text);
/* Appends the gate; if it is not in the way, without its remedy and what that exposes. */
void gating_add(struct gating *g, struct machine_gate gate);

void gate_container(struct gating *g);
void gate_hypervisor(struct gating *g);
void gate_tracefs(struct gating *g);
void gate_processes(struct gating *g);
void gate_btf(struct gating *g);
void gate_folders(struct gating *g);

#endif
