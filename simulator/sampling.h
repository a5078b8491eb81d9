/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.h - writes samples when a period of a simulated event is complete.
 */
#ifndef SIMULATOR_SAMPLING_H
#define SIMULATOR_SAMPLING_H

#include "core.h"
#include "stream.h"

/* A straight-line piece of code: its instructions in order, that are executed all or not at all. */
struct sim_piece {
	UInt count;
	Addr ips[];
};

/* sim_raw of the event reached sim_next at this instruction; sp is the stack pointer before it, 0: as it is now. */
void sim_sampling_due(enum sim_event event, Addr ip, Addr sp);
/* The same for instructions: the piece was added to sim_raw, and is about to be executed. */
void sim_sampling_piece(const struct sim_piece *piece);

#endif
