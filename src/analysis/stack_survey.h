/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_survey.h - unwinds all stack dumps of a recording and counts how they end, without looking up symbols.
 *
 * The store opens the files that stacks lead to. One thread. A recording without stack dumps is not read.
 *
 *	stack_survey_read(reader, store, &ends, err);
 */
#ifndef ANALYSIS_STACK_SURVEY_H
#define ANALYSIS_STACK_SURVEY_H

#include "analysis/stack_ends.h"
#include "code/binary_store.h"
#include "perfdata/reader.h"

bool stack_survey_has_stacks(struct perfdata_reader *reader);
/* Rewinds the reader first. */
TALLY_MUST_CHECK enum tally_status stack_survey_read(
	struct perfdata_reader *reader, struct binary_store *store, struct stack_ends *ends, struct tally_error *err);

#endif
