/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - turns a recording into a profile, with the machine's history and the symbols of a binary store
 * (ARCHITECTURE.md describes the steps).
 *
 * It opens nothing itself: the caller provides a reader and a binary store. Pass one builds the machine's history from
 * side-band records; pass two resolves samples in parallel; symbols are looked up once per unique address.
 *
 *	struct replay_options options = {0};
 *	status = replay_profile(reader, store, &options, &result, err);  // TALLY_CORRUPT: result is valid, but partial
 *	... result.profile, result.health ...; replay_result_deinit(&result);
 */
#ifndef ANALYSIS_REPLAY_REPLAY_H
#define ANALYSIS_REPLAY_REPLAY_H

#include "analysis/binary_hits.h"
#include "analysis/replay_options.h"
#include "analysis/stack_ends.h"
#include "base/vec.h"
#include "code/binary_store.h"
#include "machine/machine.h"
#include "perfdata/reader.h"
#include "profile/profile.h"

struct replay_result {
	struct profile *profile; /* Owned; NULL only after a failure without a partial result. */
	struct machine *machine; /* Owned; names of BPF programs in the profile are borrowed from it. */
	struct input_health health;
	struct stack_ends ends; /* How call chains ended, if they were kept. */
	bool ends_on; /* Whether options->switches would keep a sample that came after the last one of the recording. */
	struct binary_hits hits; /* Owned and finished; its IDs are those of the given store. */
	/* The machine's binary for each binary of the profile; the first one if the profile merges several. */
	VEC(uint32_t) machine_binaries;
};

TALLY_MUST_CHECK enum tally_status replay_profile(struct perfdata_reader *reader, struct binary_store *store,
	const struct replay_options *options, struct replay_result *result, struct tally_error *err);
void replay_result_deinit(struct replay_result *result);

#endif
