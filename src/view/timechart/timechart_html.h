/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_html.h - the picture as one HTML page, to zoom and search in: page, script and data, nothing from elsewhere.
 *
 * Names are hostile: in the page they are data only, never markup. Borrows the picture; the text fails stickily, and may
 * be one that is flushed as it grows.
 *
 *	timechart_html_write(&text, &picture);
 */
#ifndef VIEW_TIMECHART_TIMECHART_HTML_H
#define VIEW_TIMECHART_TIMECHART_HTML_H

#include "base/text.h"
#include "view/timechart/timechart_picture.h"

/* False: out of memory, as when the text failed. */
bool timechart_html_write(struct text *out, const struct timechart_picture *picture);

#endif
