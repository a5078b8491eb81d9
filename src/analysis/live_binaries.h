/*
 * live_binaries.h - how to unwind the files of live_maps: opened when a stack first leads there, kept as long as they
 * are mapped.
 *
 * Borrows the maps. One thread. A file that cannot be opened, or has no call-frame information, has no table.
 */
#ifndef ANALYSIS_LIVE_BINARIES_H
#define ANALYSIS_LIVE_BINARIES_H

#include "analysis/live_maps.h"
#include "code/unwind/unwinder.h"

struct live_binaries;

TALLY_MUST_CHECK enum tally_status live_binaries_create(const struct live_maps *maps, const char *build_id_dir,
	struct live_binaries **binaries, struct tally_error *err);
void live_binaries_destroy(struct live_binaries *binaries);
/* False: the process has nothing mapped there. */
bool live_binaries_find(
	struct live_binaries *binaries, const struct live_process *process, uint64_t pc, struct unwind_module *module);
/* The files of the maps were numbered anew: all are closed, and opened again when they are needed. */
TALLY_MUST_CHECK enum tally_status live_binaries_reset(struct live_binaries *binaries, struct tally_error *err);

#endif
