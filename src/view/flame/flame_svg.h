/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_svg.h - writes a flame graph as one SVG file, for use in pages and documents. Browsers can zoom and search in
 * it.
 *
 * Names are not trusted: in the file they are only text, never markup. Boxes too narrow to see are left out and
 * counted. It borrows its arguments; the text keeps failures.
 *
 *	flame_svg_write(&text, &tree, &(struct flame_page){.title = STR("perf.data"), .event = STR("cycles")});
 */
#ifndef VIEW_FLAME_FLAME_SVG_H
#define VIEW_FLAME_FLAME_SVG_H

#include "view/flame/flame_page.h"

void flame_svg_write(struct text *out, const struct flame_tree *tree, const struct flame_page *page);

#endif
