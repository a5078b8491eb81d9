/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_code.h - writes a function's instructions and source as an item of the page's data, without samples, which the
 * page adds up for any selection.
 *
 * Borrows all; the text fails stickily. What stands in place N of the items is the page's listing N.
 *
 *	page_code_function(&text, &listing.function);  // ["work","/bin/demo",[[0,"push %rbp",-1,[[12,"int work()"]]],...]]
 */
#ifndef VIEW_HTML_PAGE_CODE_H
#define VIEW_HTML_PAGE_CODE_H

#include "view/text/annotate_lines.h"

/* Name, file, and for each instruction: how far from the function's start, text, how far from there its jump leads
 * (-1: nowhere in the function), and the lines of source above it: number, text. What an instruction lacks at its end
 * is left out. */
void page_code_function(struct text *out, const struct annotate_function *function);

#endif
