/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - simulates caches, TLBs and branch prediction, and counts their events in sim_raw.
 *
 * Translated code calls these functions. Each has a variant without samples and one with samples, which has further
 * arguments: the address of the instruction, and the stack pointer before it (0 for the current one of the guest).
 *
 * Caches and TLBs are set-associative with least recently used replacement, and allocate on writes. An access that
 * straddles lines is one access, and one miss if any of them misses; a miss of the first level is an access of the
 * next one with all its bytes. The last-level cache (and --l2) holds instructions and data. README.md describes the
 * predictors.
 */
#ifndef SIMULATOR_MODEL_H
#define SIMULATOR_MODEL_H

#include "core.h"

/* The model functions selected by --events and --sample. */
struct sim_model {
	void *fetch, *load, *store; /* Arguments: (address, bytes), with samples (address, bytes, ip, sp). */
	void *conditional; /* Arguments: (ip, taken), with or without samples. */
	void *indirect; /* Arguments: (ip, target), with samples (ip, target, sp). */
	Bool is_sampled;
};

/* Number of the code line that was fetched last, or of the page if only TLBs are simulated. */
extern ULong sim_fetched;

const struct sim_model *sim_model_init(void);

#endif
