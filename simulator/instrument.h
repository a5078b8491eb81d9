/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument.h - adds to translated code what counts its events.
 *
 * Code is divided into straight-line pieces, from an exit to the next one. At the begin of each, one addition per event
 * counts what the whole piece does; what depends on addresses or directions calls the model (model.h).
 */
#ifndef SIMULATOR_INSTRUMENT_H
#define SIMULATOR_INSTRUMENT_H

#include "core.h"

/* After the options are read: the models, and what Vex has to do for samples. */
void sim_instrument_init(void);
/* For VG_(basic_tool_funcs) and VG_(needs_superblock_discards). */
IRSB *sim_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
	const VexArchInfo *host, IRType guest_word, IRType host_word);
void sim_instrument_discard(Addr address, VexGuestExtents extents);

#endif
