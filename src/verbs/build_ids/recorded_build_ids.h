/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded_build_ids.h - lists the files of a recording with their build IDs: those in its build-ID section or, if it
 * has no such section or the caller requests it, those in which sampled addresses lie.
 */
#ifndef VERBS_BUILD_IDS_RECORDED_BUILD_IDS_H
#define VERBS_BUILD_IDS_RECORDED_BUILD_IDS_H

#include "perfdata/reader.h"
#include "tasks/session/build_id_rows.h"

/* Appends the build IDs of the recording's build-ID section or, if there is none or with_hits is set, of the files that
 * contain addresses of samples or their call chains. Of a truncated recording, the intact part is read, and health says
 * that it is truncated. */
TALLY_MUST_CHECK enum tally_status recorded_build_ids_list(struct perfdata_reader *reader, bool with_hits,
	struct build_id_rows *rows, struct input_health *health, struct tally_error *err);

#endif
