/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_survey.h - finds out, without symbols, whether recorded call chains lead through user code: code without frame
 * pointers breaks them after one or two functions.
 *
 * Inspects only the first chains with a user part. A zero-initialised struct is empty; one thread.
 *
 *	if (chain_survey_is_of(&event->attr) && chain_survey_wants(&survey))
 *		chain_survey_add(&survey, &resolver, &where, &sample);
 *	if (chain_survey_tells_of_broken(&survey)) ...
 */
#ifndef ANALYSIS_CHAIN_SURVEY_H
#define ANALYSIS_CHAIN_SURVEY_H

#include "analysis/resolve.h"
#include "perfdata/reader.h"

/* Maximum number of chains that are inspected; the rest of a recording is assumed to be similar. */
#define CHAIN_SURVEY_MOST 1000

struct chain_survey {
	uint64_t chains; /* Inspected chains with a user part. */
	/* Inspected chains that consist of one or two functions, and do not begin in the C library, which starts
	 * threads. */
	uint64_t broken;
};

/* Returns whether the kernel walked the event's chains by frame pointers, and neither stack dumps nor branches extend
 * them. */
bool chain_survey_is_of(const struct perf_attr *attr);
/* Returns whether chain_survey_is_of is true for any event and the command line does not request another form of
 * chains. */
bool chain_survey_has_any(const struct perfdata_reader *reader);
static inline bool chain_survey_wants(const struct chain_survey *survey)
{
	return survey->chains < CHAIN_SURVEY_MOST;
}
/* Inspects the user part of the sample's recorded chain; ignores a chain without one. */
void chain_survey_add(struct chain_survey *survey, struct resolver *r, const struct resolve_where *where,
	const struct sample *sample);
/* Returns whether enough chains were inspected and most of them are broken. */
bool chain_survey_tells_of_broken(const struct chain_survey *survey);
/* Rewinds the reader and inspects the first CHAIN_SURVEY_MOST chains of the recording. The survey stays empty if
 * chain_survey_has_any returns false. */
TALLY_MUST_CHECK enum tally_status chain_survey_read(
	struct perfdata_reader *reader, struct chain_survey *survey, struct tally_error *err);
/* Returns false if the recorder's command line requests another form of chains (dwarf, lbr); true also if the command
 * line is not known. */
bool chain_survey_is_by_frame_pointer(const struct perfdata_features *features);

#endif
