/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_page.h - a recording as one HTML file: overview, time, flame graph, functions, code; page, script and data.
 *
 * Names are hostile: in the page they are data only, never markup. Borrows all it is given. Wants rows. Failures are the
 * sink's.
 *
 *	report_page_write(&sink, &view);
 */
#ifndef VIEW_HTML_REPORT_PAGE_H
#define VIEW_HTML_REPORT_PAGE_H

#include "view/export/export_view.h"

void report_page_write(struct byte_sink *sink, const struct export_view *view);

#endif
