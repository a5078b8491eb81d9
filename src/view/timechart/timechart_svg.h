/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_svg.h - writes the picture as one SVG file of bounded size.
 *
 * If the file would exceed max_bytes, short spans are merged, in intervals whose length is doubled until it fits;
 * within an interval, the height of a bar is its share of the time. Names are not trusted: they are text, never markup.
 * It borrows the picture.
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
	unsigned width; /* pixels */
	size_t max_bytes;
	/* out */
	uint64_t resolution_ns; /* 0: nothing was merged */
	size_t rows_dropped; /* the last ones, which did not fit either */
};

/* The text is empty before and not one that is flushed. False: out of memory, or not even the empty picture fits. */
bool timechart_svg_write(struct text *out, const struct timechart_picture *picture, struct timechart_svg *svg);

#endif
