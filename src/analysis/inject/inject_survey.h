/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_survey.h - collects what is needed before a recording is rewritten: the mapped files, which of them were hit
 * by samples, and the build IDs in its records.
 *
 * Owned by the caller; borrows the reader, which is rewound afterwards. One thread. A truncated recording is surveyed
 * up to its end.
 *
 *	inject_survey_read(reader, INJECT_SURVEY_HITS, &survey, err);   ...   inject_survey_deinit(&survey);
 */
#ifndef ANALYSIS_INJECT_INJECT_SURVEY_H
#define ANALYSIS_INJECT_INJECT_SURVEY_H

#include "analysis/recording_pass.h"
#include "base/arena.h"

enum inject_survey_depth {
	INJECT_SURVEY_RECORDS, /* Reads the descriptions of a pipe and the build IDs in records. */
	INJECT_SURVEY_FILES, /* Also collects mapped files, and treats every file as hit. */
	/* Also finds the files that samples and their callers lie in. With AUX data in the recording, every file is
	 * treated as hit. */
	INJECT_SURVEY_HITS,
};

struct inject_survey {
	struct arena arena;
	VEC(struct perfdata_build_id) build_ids; /* From BUILD_ID records, in their order. */
	struct recording_pass pass; /* pass.sideband.machine is NULL for INJECT_SURVEY_RECORDS. */
	uint8_t *is_hit; /* 1 for each of the machine's binaries that was hit; NULL for INJECT_SURVEY_RECORDS. */
};

TALLY_MUST_CHECK enum tally_status inject_survey_read(struct perfdata_reader *reader, enum inject_survey_depth depth,
	struct inject_survey *survey, struct tally_error *err);
void inject_survey_deinit(struct inject_survey *survey);

#endif
