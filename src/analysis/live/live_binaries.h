/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_binaries.h - holds the unwind tables of the files in live_maps: each file is opened when a stack first leads
 * into it, and kept while it is mapped.
 *
 * Borrows the maps. A file that cannot be opened, or has no call-frame information, has no table. Opening a large file
 * takes tenths of a second, in which rings fill up, so a separate thread opens such files, one at a time; until then
 * look-ups in the file report a miss. The same holds for dumps of generated code, which are followed while they grow
 * (code/binaries/jit_tail.h). One caller's thread.
 *
 *	if (live_binaries_find(b, process, time, pc, &module)) ...
 *	if (live_binaries_has_missed(b)) ...	// some answer was void; again when live_binaries_poll(b) says so
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
/* False: the process has nothing mapped there. If the file is not open yet, live_binaries_has_missed becomes true.
 * time: of the sample, in CLOCK_MONOTONIC; UINT64_MAX: not known. */
bool live_binaries_find(struct live_binaries *binaries, const struct live_process *process, uint64_t time, uint64_t pc,
	struct unwind_module *module);
/* Whether a file was not open yet since the last call. Call it once for each stack. */
bool live_binaries_has_missed(struct live_binaries *binaries);
/* No longer waiting; with wait, in any case. */
bool live_binaries_poll(struct live_binaries *binaries, bool wait);
/* Gives memory back if dumps of generated code took too much. True: tables were destroyed. Between rounds. */
bool live_binaries_trim(struct live_binaries *binaries);
/* What tables may take. Files that need more have none, as if they had no call-frame information. */
void live_binaries_limit(struct live_binaries *binaries, uint64_t bytes);
/* What they take. */
uint64_t live_binaries_memory(const struct live_binaries *binaries);
/* How many files that was so of. */
uint64_t live_binaries_refused(const struct live_binaries *binaries);
/* Not while waiting. The files of the maps were numbered anew: all are closed, and opened again when they are needed. */
TALLY_MUST_CHECK enum tally_status live_binaries_reset(struct live_binaries *binaries, struct tally_error *err);

#endif
