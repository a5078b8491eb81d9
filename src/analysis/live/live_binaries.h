/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_binaries.h - holds the unwind tables of the files in live_maps: each file is opened when a stack first leads
 * into it, and stays open while it is mapped.
 *
 * Borrows the maps. A file that cannot be opened, or has no call-frame information, has no table. Opening a large file
 * takes tenths of a second, during which rings fill up, so a separate thread opens such files, one at a time; until
 * then look-ups in the file report a miss. The same holds for dumps of generated code, which are read further while
 * they grow (code/binaries/jit_tail.h). Only one thread may call these functions.
 *
 *	if (live_binaries_find(b, process, time, pc, &module)) ...
 *	if (live_binaries_has_missed(b)) ...	// unwind again once live_binaries_poll(b) is true
 */
#ifndef ANALYSIS_LIVE_LIVE_BINARIES_H
#define ANALYSIS_LIVE_LIVE_BINARIES_H

#include "analysis/live/live_maps.h"
#include "code/binary_store.h"
#include "code/unwind/unwinder.h"

struct live_binaries;

TALLY_MUST_CHECK enum tally_status live_binaries_create(const struct live_maps *maps,
	const struct binary_store_options *store, struct live_binaries **binaries, struct tally_error *err);
void live_binaries_destroy(struct live_binaries *binaries);
/* Finds the module at pc; its table is NULL if the file has none or is not open yet. In the latter case,
 * live_binaries_has_missed becomes true. Returns false if the process has nothing mapped there. time is the sample's,
 * in ns of CLOCK_MONOTONIC; UINT64_MAX if unknown. */
bool live_binaries_find(struct live_binaries *binaries, const struct live_process *process, uint64_t time, uint64_t pc,
	struct unwind_module *module);
/* Returns whether a look-up since the last call failed because the file was not open yet. Call it once for each
 * stack. */
bool live_binaries_has_missed(struct live_binaries *binaries);
/* Returns true if no file is being opened. If wait is set, first waits until the file that is being opened is open. */
bool live_binaries_poll(struct live_binaries *binaries, bool wait);
/* Closes all dumps of generated code if they use too much memory, and returns true if it did, because their tables are
 * then destroyed. Call it only between rounds. */
bool live_binaries_trim(struct live_binaries *binaries);
/* Limits the memory of all unwind tables. Files that would exceed it get no table, as if they had no call-frame
 * information. */
void live_binaries_limit(struct live_binaries *binaries, uint64_t bytes);
/* Returns the memory of all unwind tables in bytes. */
uint64_t live_binaries_memory(const struct live_binaries *binaries);
/* Returns the number of files without a table because of the limit. */
uint64_t live_binaries_refused(const struct live_binaries *binaries);
/* Closes all files after live_maps_renumber; they are opened again when needed. Must not be called while a file is
 * being opened. */
TALLY_MUST_CHECK enum tally_status live_binaries_reset(struct live_binaries *binaries, struct tally_error *err);

#endif
