/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_writers.h - names the feature sections that simpleperf (Android) and hiperf (OpenHarmony) add to the format.
 *
 * Features and records of these programs are named but skipped; all others are read as in files of perf. Their numbers
 * do not collide with those of perf: features from 128 and 192 on, records from 32769 on.
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
