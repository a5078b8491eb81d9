/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the health of a recording, and whether stock perf can read it. */
#include "analysis/stock_perf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_reader *reader;
	struct recording_health health;
	char room[128];
	if (perfdata_reader_open_bytes((struct tally_bytes){data, size}, &reader, NULL) != TALLY_OK)
		return 0;
	if (recording_health_read(reader, &health, NULL) == TALLY_OK) {
		(void)stock_perf_refusal(reader, &health, room, sizeof(room));
		recording_health_deinit(&health);
	}
	perfdata_reader_destroy(reader);
	return 0;
}
