/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_page.h - writes a recording as one self-contained HTML file: overview, time, flame graph, functions, code.
 *
 * Names are not trusted: in the page they are only data, never markup. It borrows its arguments. The view must have
 * rows. The sink keeps failures.
 *
 *	report_page_write(&sink, &view);
 */
#ifndef VIEW_HTML_REPORT_PAGE_H
#define VIEW_HTML_REPORT_PAGE_H

#include "view/export/export_view.h"

void report_page_write(struct byte_sink *sink, const struct export_view *view);

#endif
