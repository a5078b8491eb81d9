/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_writers.h - names the feature sections that simpleperf (Android) and hiperf (OpenHarmony) add to the format.
 *
 * Their own features and records are named and skipped; all others are read as in perf's files. Their numbers do not
 * collide with perf's: features 128 and 192 and up, records 32769 and up.
 */
#ifndef PERFDATA_OTHER_WRITERS_H
#define PERFDATA_OTHER_WRITERS_H

#include <stdint.h>

#define OTHER_WRITERS_FIRST_RECORD 32768
#define OTHER_WRITERS_RECORDS	   16

/* "simpleperf feature META_INFO"; NULL: no program is known to use the bit. */
const char *other_writer_feature(unsigned bit);
/* "SIMPLEPERF_CALLCHAIN"; NULL if unknown. */
const char *other_writer_record(uint32_t type);

#endif
