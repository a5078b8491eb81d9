/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_json.h - writes the samples of a recording as JSON, in the schema of `perf data convert --to-json`, version 1.
 */
#ifndef VERBS_CONVERT_DATA_JSON_H
#define VERBS_CONVERT_DATA_JSON_H

#include "tasks/session/data_source.h"

/* Appends to t, and sets samples to the number of samples. The intact part of a truncated recording is written before
 * TALLY_CORRUPT is returned. */
TALLY_MUST_CHECK enum tally_status data_json_write(
	struct data_source *source, struct text *t, uint64_t *samples, struct tally_error *err);

#endif
