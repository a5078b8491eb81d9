/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_survey.h - collects what must be known before a recording is rewritten: the mapped files, which of them
 * samples hit, and the build IDs in its records.
 *
 * Owned by the caller; borrows the reader, which stands at its first record afterwards. One thread. A truncated
 * recording is surveyed up to where it ends.
 *
 *	inject_survey_read(reader, INJECT_SURVEY_HITS, &survey, err);   ...   inject_survey_deinit(&survey);
 */
#ifndef ANALYSIS_INJECT_INJECT_SURVEY_H
#define ANALYSIS_INJECT_INJECT_SURVEY_H

#include "analysis/recording_pass.h"
#include "base/arena.h"

enum inject_survey_depth {
	INJECT_SURVEY_RECORDS, /* reads to the end and rewinds: the descriptions of a pipe, and build ids in records */
	INJECT_SURVEY_FILES, /* also what was mapped: every file counts as hit */
	INJECT_SURVEY_HITS, /* also which files samples and their callers hit */
};

struct inject_survey {
	struct arena arena;
	VEC(struct perfdata_build_id) build_ids; /* of BUILD_ID records, in order */
	struct recording_pass pass; /* its sideband.machine: NULL with INJECT_SURVEY_RECORDS */
	uint8_t *is_hit; /* by binary of the machine */
};

TALLY_MUST_CHECK enum tally_status inject_survey_read(struct perfdata_reader *reader, enum inject_survey_depth depth,
	struct inject_survey *survey, struct tally_error *err);
void inject_survey_deinit(struct inject_survey *survey);

#endif
