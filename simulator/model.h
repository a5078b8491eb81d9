/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - simulates caches, TLBs and branch prediction, and counts what they do into sim_raw.
 *
 * Translated code calls these functions. Of each there is one that never takes samples, and one with more arguments
 * that does: the address of the instruction, and the stack pointer before it (0: the guest's).
 *
 * Caches and TLBs are set-associative with least recently used replacement, and allocate on writes. An access that
 * straddles lines is one access, and one miss if any of them misses; a miss of the first level is an access of the next
 * one with all its bytes. The last-level cache (and --l2) holds instructions and data. README.md has the predictors.
 */
#ifndef SIMULATOR_MODEL_H
#define SIMULATOR_MODEL_H

#include "core.h"

/* The functions for what --events and --sample ask for. */
struct sim_model {
	void *fetch, *load, *store; /* (address, bytes); sampled: (address, bytes, ip, sp) */
	void *conditional; /* (ip, taken); sampled: (ip, taken) */
	void *indirect; /* (ip, target); sampled: (ip, target, sp) */
	Bool is_sampled;
};

/* The line of instructions, or the page if only TLBs are simulated, that was fetched last. */
extern ULong sim_fetched;

const struct sim_model *sim_model_init(void);

#endif
