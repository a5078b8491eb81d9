/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_model.h - describes the caches and TLBs of a simulation: those of this machine, of a named model, or as
 * given by --cache-model.
 *
 * The text is [NAME][:PART=SIZE,WAYS,LINE]...: NAME is "machine" (the default), "cachegrind" (this machine's caches in
 * two levels, as in Valgrind's cachegrind) or "generic" (the same on each machine); PART is i1, d1, l2, ll, itlb or
 * dtlb. SIZE and LINE are bytes for caches (32K), and the number of entries and the bytes of a page for TLBs. "l2=none"
 * omits the L2 cache. The simulated number of sets is always a power of two.
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
	uint64_t size; /* Bytes of a cache, or entries of a TLB; 0 if the model has none (only for SIMULATION_L2). */
	uint64_t ways;
	uint64_t line; /* Bytes of a cache line, or of a page. */
};

struct simulation_model {
	struct simulation_part parts[SIMULATION_PARTS];
};

#define SIMULATION_OPTION_BYTES 80

/* caches are those of this machine, for those that /sys does not show; NULL if none are known. text is the argument of
 * --cache-model, or NULL for this machine. notes, which may be NULL, receives what this machine does not report and
 * what had to be changed. Returns INVALID with a description of the error in the text. */
TALLY_MUST_CHECK enum tally_status simulation_model_make(const struct kernel_seam *kernel,
	const struct simulation_caches *caches, const char *text, struct simulation_model *model, struct diag *notes,
	struct tally_error *err);
/* Formats an option of tally's Valgrind tool, such as "--i1=32768,8,64". Returns false if the model has no such
 * part. */
bool simulation_model_option(
	const struct simulation_model *model, enum simulation_part_kind part, char option[SIMULATION_OPTION_BYTES]);

#endif
