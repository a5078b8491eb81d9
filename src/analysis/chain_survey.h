/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_survey.h - finds out, without symbols, whether recorded call chains lead through user code: code without frame
 * pointers breaks them after one or two functions.
 *
 * Looks at the first user chains only. Zero-initialised is empty; one thread.
 *
 *	if (chain_survey_is_of(&event->attr) && chain_survey_wants(&survey)) chain_survey_add(&survey, &resolver, &where, &sample);
 *	if (chain_survey_tells_of_broken(&survey)) ...
 */
#ifndef ANALYSIS_CHAIN_SURVEY_H
#define ANALYSIS_CHAIN_SURVEY_H

#include "analysis/resolve.h"
#include "perfdata/reader.h"

#define CHAIN_SURVEY_MOST 1000 /* chains that are examined; the rest of a recording is assumed to be similar */

struct chain_survey {
	uint64_t chains; /* that have a user part */
	uint64_t broken; /* with one or two functions, none of which is the C library's, which starts threads */
};

/* Whether the kernel walked the chains by frame pointers, and neither stack dumps nor branches extend them. */
bool chain_survey_is_of(const struct perf_attr *attr);
/* Whether a recording has such chains: of one of its events, followed by frame pointers. */
bool chain_survey_has_any(const struct perfdata_reader *reader);
static inline bool chain_survey_wants(const struct chain_survey *survey)
{
	return survey->chains < CHAIN_SURVEY_MOST;
}
void chain_survey_add(struct chain_survey *survey, struct resolver *r, const struct resolve_where *where,
	const struct sample *sample);
/* Whether there are enough chains, and most of them are broken. */
bool chain_survey_tells_of_broken(const struct chain_survey *survey);
/* Surveys a whole recording, and rewinds the reader first. A recording whose command line asks for other chains (dwarf,
 * lbr) has no chains to look at. */
TALLY_MUST_CHECK enum tally_status chain_survey_read(
	struct perfdata_reader *reader, struct chain_survey *survey, struct tally_error *err);
/* Whether the recorder was asked for chains by frame pointers, as far as its command line is known. */
bool chain_survey_is_by_frame_pointer(const struct perfdata_features *features);

#endif
