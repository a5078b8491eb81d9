/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_svg.h - writes a timechart as one SVG file of bounded size.
 *
 * If the file would exceed max_bytes, short spans are merged in intervals that are doubled until it fits; within an
 * interval, the height of a bar is its share of the time. Names are not trusted: they are text, never markup. It
 * borrows the picture.
 *
 *	struct timechart_svg svg = {.width = 1000, .max_bytes = 8 << 20};
 *	if (timechart_svg_write(&text, &picture, &svg)) ...
 */
#ifndef VIEW_TIMECHART_TIMECHART_SVG_H
#define VIEW_TIMECHART_TIMECHART_SVG_H

#include "base/text.h"
#include "view/timechart/timechart_picture.h"

#define TIMECHART_MIN_WIDTH 400
#define TIMECHART_MIN_BYTES (16u << 10)

struct timechart_svg {
	unsigned width; /* In pixels. */
	size_t max_bytes;
	/* Output: */
	uint64_t resolution_ns; /* 0 if nothing was merged. */
	size_t rows_dropped; /* Number of rows at the end that were left out because they did not fit. */
};

/* The text must be empty and must not be one that is flushed. Returns false when out of memory, or if not even an empty
 * picture fits. */
bool timechart_svg_write(struct text *out, const struct timechart_picture *picture, struct timechart_svg *svg);

#endif
