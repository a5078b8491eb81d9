/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_code.h - writes a function's instructions and source as an item of the page's data, without samples, because the
 * page adds these up for any selection.
 *
 * Borrows everything; failures of the text are sticky. Item N is the page's listing N.
 *
 *	page_code_function(&text, &listing.function);
 *	// ["work","/bin/demo",[[0,"push %rbp",-1,[[12,"int work()"]]],...]]
 */
#ifndef VIEW_HTML_PAGE_CODE_H
#define VIEW_HTML_PAGE_CODE_H

#include "view/text/annotate_lines.h"

/* Writes name, file, and for each instruction: its offset from the function's start, its text, the offset of its jump
 * target (-1 if not in the function), and the preceding source lines, each with number and text. Missing elements at
 * the end of an instruction are left out. */
void page_code_function(struct text *out, const struct annotate_function *function);

#endif
