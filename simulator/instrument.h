/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument.h - adds code that counts events to translated code.
 *
 * Code is divided into straight-line pieces, from an exit to the next one. At the begin of each, one addition per
 * event counts the events of the whole piece; events that depend on addresses or branch directions are counted by
 * calls of the model (model.h).
 */
#ifndef SIMULATOR_INSTRUMENT_H
#define SIMULATOR_INSTRUMENT_H

#include "core.h"

/* Initialises the models and configures Vex for samples. Must be called after the options are read. */
void sim_instrument_init(void);
/* Callbacks for VG_(basic_tool_funcs) and VG_(needs_superblock_discards). */
IRSB *sim_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
	const VexArchInfo *host, IRType guest_word, IRType host_word);
void sim_instrument_discard(Addr address, VexGuestExtents extents);

#endif
