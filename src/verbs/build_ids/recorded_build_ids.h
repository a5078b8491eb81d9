/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded_build_ids.h - lists the files of a recording with their build IDs: those of its build-ID section, or, if
 * there is none or hits are requested, those in which samples or their callers lie.
 */
#ifndef VERBS_BUILD_IDS_RECORDED_BUILD_IDS_H
#define VERBS_BUILD_IDS_RECORDED_BUILD_IDS_H

#include "perfdata/reader.h"
#include "tasks/session/build_id_rows.h"

/* Appends the build IDs that the recording's header lists or, if there is no such list or with_hits is set, those of
 * the files with samples. Of a truncated recording, the intact part is read, and health says that it is truncated. */
TALLY_MUST_CHECK enum tally_status recorded_build_ids_list(struct perfdata_reader *reader, bool with_hits,
	struct build_id_rows *rows, struct input_health *health, struct tally_error *err);

#endif
