/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gating.h - what the makers of gates share: machine_gates.c has those of the kernel's rules and limits, place_gates.c
 * those of the place where tally runs (container, hypervisor, file systems). Only these two include it.
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
	bool is_capable; /* of measuring everything */
	bool is_out_of_memory;
};

/* Ends the text and keeps it in the arena of the gates. */
const char *gating_keep(struct gating *g, struct text *text);
/* Of a gate that is not in the way, the remedy and what it exposes are dropped. */
void gating_add(struct gating *g, struct machine_gate gate);

void gate_container(struct gating *g);
void gate_hypervisor(struct gating *g);
void gate_tracefs(struct gating *g);
void gate_processes(struct gating *g);
void gate_btf(struct gating *g);
void gate_folders(struct gating *g);

#endif
