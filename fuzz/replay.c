/* A recording, all the way into a profile; no symbols are looked for. */
#include "analysis/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_reader *reader;
	struct binary_store *store;
	if (perfdata_reader_open_bytes((struct tally_bytes){data, size}, &reader, NULL) != TALLY_OK)
		return 0;
	/* An empty root: nothing of this machine is opened. */
	struct binary_store_options store_options = {.symfs = "/nonexistent", .kallsyms = "/nonexistent"};
	if (binary_store_create(&store_options, &store, NULL) == TALLY_OK) {
		struct replay_options options = {
			.with_threads = true, .with_stacks = true, .with_cpu = true, .threads = 1};
		struct replay_result result = {0};
		(void)!replay_profile(reader, store, &options, &result, NULL);
		replay_result_deinit(&result);
		binary_store_destroy(store);
	}
	perfdata_reader_destroy(reader);
	return 0;
}
