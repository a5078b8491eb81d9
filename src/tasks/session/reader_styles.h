/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_styles.h - --unwind-style and --addr2line-style: which of its libraries perf takes for copied stacks and source
 * lines. Here each is read in one way, whatever the name, but that perf's names are known.
 *
 *	{"unwind-style", 0, OPTION_CALL, "style", .call = unwind_style_check, ...},
 */
#ifndef TASKS_SESSION_READER_STYLES_H
#define TASKS_SESSION_READER_STYLES_H

#include "base/bytes.h"
#include "cli/options.h"

#define UNWIND_STYLE_HELP "taken as perf's (libdw,libunwind): copied stacks are unwound in one way"

/* Lists of styles, the best one first. NULL: all are known. */
const char *unwind_style_check(const struct option_use *use);
const char *addr2line_style_check(const struct option_use *use, struct tally_str *first);

#endif
