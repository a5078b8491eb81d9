/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_options.h - declares the options of every verb that annotates code.
 *
 *	CODE_OPTIONS(struct settings, code),
 *	...
 *	code = code_options_check(cli, &settings.code);
 */
#ifndef TASKS_LISTING_CODE_OPTIONS_H
#define TASKS_LISTING_CODE_OPTIONS_H

#include "cli/cli.h"
#include "cli/options.h"
#include "view/text/annotate_lines.h"

struct code_options {
	const char *objdump, *style; /* NULL for the built-in disassembler, and for its default style. */
	const char *prefix; /* Prefix of source files; NULL if not given. */
	uint64_t strip; /* Number of leading path components to remove before the prefix is added. */
	bool has_strip, hides_source, source_is_asked, shows_bytes;
	enum annotate_percent percent;
};

/* Table of the options --objdump, -M/--disassembler-style, --source, --asm-raw, --prefix, --prefix-strip and
 * --percent-type. */
extern const struct option_table code_option_table;
#define CODE_OPTIONS(type, member) OPTION_GROUP_ROW(&code_option_table, type, member)

/* Returns 0, or the exit status after a message about options that contradict each other or a program that cannot
 * run. */
int code_options_check(const struct cli *cli, const struct code_options *options);
bool code_options_are_intel(const struct code_options *options);

#endif
