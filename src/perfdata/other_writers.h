/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_writers.h - names the feature sections and record types that simpleperf (Android) and hiperf (OpenHarmony) add
 * to the format.
 *
 * Readers skip them; all other features and records in files of these programs are read as in files of perf. The added
 * numbers do not collide with those of perf: features from 128 on (simpleperf) and 192 on (hiperf), records from 32769
 * on.
 */
#ifndef PERFDATA_OTHER_WRITERS_H
#define PERFDATA_OTHER_WRITERS_H

#include <stdint.h>

#define OTHER_WRITERS_FIRST_RECORD 32768
#define OTHER_WRITERS_RECORDS	   16

/* Returns a name such as "simpleperf feature META_INFO"; NULL if the bit is unknown. */
const char *other_writer_feature(unsigned bit);
/* Returns a name such as "SIMPLEPERF_CALLCHAIN"; NULL if the type is unknown. */
const char *other_writer_record(uint32_t type);

#endif
