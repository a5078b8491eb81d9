/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_styles.h - parses --unwind-style and --addr2line-style, which select libraries in perf. tally has only one way
 * for each, but checks that the name is one of perf's.
 *
 *	{"unwind-style", 0, OPTION_CALL, "style", .call = unwind_style_check, ...},
 */
#ifndef TASKS_SESSION_READER_STYLES_H
#define TASKS_SESSION_READER_STYLES_H

#include "base/bytes.h"
#include "cli/options.h"

#define UNWIND_STYLE_HELP "accepted for perf's sake (libdw,libunwind): there is one built-in unwinder"

/* These functions check lists of styles, the preferred one first. They return NULL if all names are known, otherwise an
 * error message. first is set to the preferred style. */
const char *unwind_style_check(const struct option_use *use);
const char *addr2line_style_check(const struct option_use *use, struct tally_str *first);

#endif
