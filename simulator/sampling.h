/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.h - writes samples when a period of a simulated event is complete.
 */
#ifndef SIMULATOR_SAMPLING_H
#define SIMULATOR_SAMPLING_H

#include "core.h"
#include "stream.h"

/* A straight-line piece of code: a sequence of instructions that are executed all or not at all. */
struct sim_piece {
	UInt count;
	Addr ips[];
};

/* Writes a sample: sim_raw of the event has reached sim_next at this instruction. sp is the stack pointer before it, or
 * 0 for the current one. */
void sim_sampling_due(enum sim_event event, Addr ip, Addr sp);
/* Does the same for instructions. The piece has been added to sim_raw, and is about to be executed. */
void sim_sampling_piece(const struct sim_piece *piece);

#endif
