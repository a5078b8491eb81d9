/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/other_writers.h"

#include <stddef.h>

#include "base/array.h"

/* In hiperf, 196 was FILES_UNISTACK_TABLE before HM_DEVHOST was inserted. */
static const struct {
	unsigned bit;
	const char *name;
} features[] = {
	{128, "simpleperf feature FILE"},
	{129, "simpleperf feature META_INFO"},
	{130, "simpleperf feature DEBUG_UNWIND"},
	{131, "simpleperf feature DEBUG_UNWIND_FILE"},
	{132, "simpleperf feature FILE2"},
	{133, "simpleperf feature ETM_BRANCH_LIST"},
	{134, "simpleperf feature INIT_MAP"},
	{192, "hiperf feature FILES_SYMBOL"},
	{193, "hiperf feature WORKLOAD_CMD"},
	{194, "hiperf feature RECORD_TIME"},
	{195, "hiperf feature CPU_OFF"},
	{196, "hiperf feature HM_DEVHOST or FILES_UNISTACK_TABLE"},
	{197, "hiperf feature FILES_UNISTACK_TABLE"},
};

static const char *const records[OTHER_WRITERS_RECORDS] = {
	[1] = "SIMPLEPERF_KERNEL_SYMBOL",
	[2] = "SIMPLEPERF_DSO",
	[3] = "SIMPLEPERF_SYMBOL",
	[4] = "SIMPLEPERF_SPLIT",
	[5] = "SIMPLEPERF_SPLIT_END",
	[6] = "SIMPLEPERF_EVENT_ID",
	[7] = "SIMPLEPERF_CALLCHAIN",
	[8] = "SIMPLEPERF_UNWINDING_RESULT",
	[9] = "SIMPLEPERF_TRACING_DATA",
};

const char *other_writer_feature(unsigned bit)
{
	for (size_t i = 0; i < ARRAY_LEN(features); i++)
		if (features[i].bit == bit)
			return features[i].name;
	return NULL;
}

const char *other_writer_record(uint32_t type)
{
	uint32_t index = type - OTHER_WRITERS_FIRST_RECORD;
	return type >= OTHER_WRITERS_FIRST_RECORD && index < OTHER_WRITERS_RECORDS ? records[index] : NULL;
}
