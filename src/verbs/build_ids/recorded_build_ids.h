/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded_build_ids.h - lists the files of a recording with their build IDs: from its table, or, if there is none or
 * hits are wanted, from its samples and their callers.
 */
#ifndef VERBS_BUILD_IDS_RECORDED_BUILD_IDS_H
#define VERBS_BUILD_IDS_RECORDED_BUILD_IDS_H

#include "perfdata/reader.h"
#include "tasks/session/build_id_rows.h"

/* Adds to rows. Of a truncated recording it adds the intact part, and health says so. */
TALLY_MUST_CHECK enum tally_status recorded_build_ids_list(struct perfdata_reader *reader, bool with_hits,
	struct build_id_rows *rows, struct input_health *health, struct tally_error *err);

#endif
