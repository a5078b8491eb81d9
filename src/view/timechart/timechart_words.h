/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_words.h - describes times, sizes and spans in words, for tooltips.
 *
 * It appends to the caller's text; names are escaped for XML.
 *
 *	timechart_add_time(&t, 1700000);	// 1.7 ms
 */
#ifndef VIEW_TIMECHART_TIMECHART_WORDS_H
#define VIEW_TIMECHART_TIMECHART_WORDS_H

#include "base/text.h"
#include "view/timechart/timechart_picture.h"

void timechart_add_time(struct text *out, uint64_t ns);
void timechart_add_bytes(struct text *out, uint64_t bytes);
/* Appends "name 123", or "CPU 1" for a CPU. */
void timechart_add_track(
	struct text *out, const struct timechart_picture *picture, uint32_t track, size_t max_characters);
/* Appends all details of a span on a track. */
void timechart_add_span(
	struct text *out, const struct timechart_picture *picture, uint32_t track, const struct track_span *span);
void timechart_add_arrow(struct text *out, const struct timechart_picture *picture, const struct track_arrow *arrow);

#endif
