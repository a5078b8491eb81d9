/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a recording of counts with its own aggregation and with others. */
#include "tasks/counts/stat_replay.h"

static void take(void *context, const struct stat_report *report)
{
	double *sum = context;
	for (size_t i = 0; i < report->events->len * report->aggregation->len; i++)
		*sum += report->cells[i].value.mean;
}

static void replay(const uint8_t *data, size_t size, bool has_mode, enum aggregation_mode mode)
{
	double sum = 0;
	struct stat_replay_request request = {.has_mode = has_mode, .mode = mode, .show = take, .context = &sum};
	if (perfdata_reader_open_bytes((struct tally_bytes){data, size}, &request.reader, NULL) != TALLY_OK)
		return;
	(void)!stat_replay(&request, NULL);
	perfdata_reader_destroy(request.reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	replay(data, size, false, AGGREGATE_ALL);
	replay(data, size, true, AGGREGATE_CACHE);
	replay(data, size, true, AGGREGATE_THREAD);
	return 0;
}
