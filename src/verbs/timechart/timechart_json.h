/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_json.h - writes the totals of a timechart as JSON (docs/schema/timechart.json): for each CPU and task, how
 * often and how long it was in each state.
 *
 *	timechart_json(&out, &picture);
 */
#ifndef VERBS_TIMECHART_TIMECHART_JSON_H
#define VERBS_TIMECHART_TIMECHART_JSON_H

#include "base/text.h"
#include "view/timechart/timechart_picture.h"

void timechart_json(struct text *out, const struct timechart_picture *picture);

#endif
