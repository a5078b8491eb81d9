/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_counts.h - prints the counts of a recording made by stat record like perf script: one line per event, thread
 * and CPU in each round.
 *
 *	if (recording_is_of_stat(reader)) status = script_counts_print(reader, &out, err);
 */
#ifndef VERBS_SCRIPT_SCRIPT_COUNTS_H
#define VERBS_SCRIPT_SCRIPT_COUNTS_H

#include "base/text.h"
#include "perfdata/reader.h"

TALLY_MUST_CHECK enum tally_status script_counts_print(
	struct perfdata_reader *reader, struct text *out, struct tally_error *err);

#endif
