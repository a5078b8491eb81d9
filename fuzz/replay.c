/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a recording into a profile, by the full path and by the fast path of flat profiles, without symbols. */
#include "analysis/replay/replay.h"

static void replay(struct tally_bytes bytes, const struct replay_options *options)
{
	struct perfdata_reader *reader;
	struct binary_store *store;
	if (perfdata_reader_open_bytes(bytes, &reader, NULL) != TALLY_OK)
		return;
	/* With an empty root, no file of this machine is opened. */
	struct binary_store_options store_options = {.symfs = "/nonexistent", .kallsyms = "/nonexistent"};
	if (binary_store_create(&store_options, &store, NULL) == TALLY_OK) {
		struct replay_result result = {0};
		(void)!replay_profile(reader, store, options, &result, NULL);
		replay_result_deinit(&result);
		binary_store_destroy(store);
	}
	perfdata_reader_destroy(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tally_bytes bytes = {data, size};
	replay(bytes,
		&(struct replay_options){.with_threads = true, .with_stacks = true, .with_cpu = true, .threads = 1});
	replay(bytes, &(struct replay_options){.with_threads = true, .kept_samples = 2, .threads = 1});
	return 0;
}
