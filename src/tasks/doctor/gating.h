/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gating.h - declares the interface between machine_gates.c, which inspects the kernel's rules and limits, and
 * place_gates.c, which inspects the environment in which tally runs (container, hypervisor, file systems). It is
 * private to these two files.
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
/* Appends the gate. If is_in_the_way is false, its members remedy, exposes and sysctl are set to NULL before. */
void gating_add(struct gating *g, struct machine_gate gate);

/* Each of these functions appends the gates about its subject. */
void gate_container(struct gating *g);
void gate_hypervisor(struct gating *g);
void gate_tracefs(struct gating *g);
void gate_processes(struct gating *g);
void gate_btf(struct gating *g);
void gate_folders(struct gating *g);

#endif
