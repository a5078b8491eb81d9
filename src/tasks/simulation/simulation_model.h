/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_model.h - describes the caches and TLBs that a simulation has: those of this machine, of a named model, or
 * as --cache-model says.
 *
 * The text is [NAME][:PART=SIZE,WAYS,LINE]...: NAME is "machine" (the default), "cachegrind" (this machine's caches in
 * two levels, as Valgrind's cachegrind has them) or "generic" (the same on each machine); PART is i1, d1, l2, ll, itlb or
 * dtlb, whose SIZE and LINE are bytes of caches (32K), and entries and bytes of a page of TLBs. "l2=none" leaves the L2
 * out. Caches are simulated by sets whose number is a power of two.
 *
 *	struct simulation_model model;
 *	if (simulation_model_make(kernel, &caches, "ll=8M,16,64", &model, &notes, err) == TALLY_OK)
 *		for (part = 0; part < SIMULATION_PARTS; part++)
 *			simulation_model_option(&model, part, option);
 */
#ifndef TASKS_SIMULATION_SIMULATION_MODEL_H
#define TASKS_SIMULATION_SIMULATION_MODEL_H

#include "base/diag.h"
#include "kernel/system/kernel_seam.h"
#include "tasks/simulation/simulation_caches.h"

enum simulation_part_kind {
	SIMULATION_I1,
	SIMULATION_D1,
	SIMULATION_L2,
	SIMULATION_LL,
	SIMULATION_ITLB,
	SIMULATION_DTLB,
	SIMULATION_PARTS
};

struct simulation_part {
	uint64_t size; /* bytes of a cache, entries of a TLB; 0: the model has none (only of SIMULATION_L2) */
	uint64_t ways;
	uint64_t line; /* bytes of a line, of a page */
};

struct simulation_model {
	struct simulation_part parts[SIMULATION_PARTS];
};

#define SIMULATION_OPTION_BYTES 80

/* caches: those of this machine, if /sys shows none; NULL: none is known. text: of --cache-model; NULL: this machine. What this machine does not tell, or what had to be changed, becomes a note
 * (notes may be NULL). INVALID: what is wrong with the text. */
TALLY_MUST_CHECK enum tally_status simulation_model_make(const struct kernel_seam *kernel,
	const struct simulation_caches *caches, const char *text, struct simulation_model *model, struct diag *notes,
	struct tally_error *err);
/* The option of our Valgrind tool: "--i1=32768,8,64"; false: the model has no such part. */
bool simulation_model_option(
	const struct simulation_model *model, enum simulation_part_kind part, char option[SIMULATION_OPTION_BYTES]);

#endif
