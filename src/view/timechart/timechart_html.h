/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_html.h - writes a timechart as one self-contained HTML page that can be zoomed and searched.
 *
 * Names are not trusted: in the page they are only data, never markup. Borrows the picture; the text keeps failures,
 * and may be flushed while it grows.
 *
 *	timechart_html_write(&text, &picture);
 */
#ifndef VIEW_TIMECHART_TIMECHART_HTML_H
#define VIEW_TIMECHART_TIMECHART_HTML_H

#include "base/text.h"
#include "view/timechart/timechart_picture.h"

/* Returns false when out of memory, including failures of the text. */
bool timechart_html_write(struct text *out, const struct timechart_picture *picture);

#endif
