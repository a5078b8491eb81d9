/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_options.h - declares the options that say where symbols come from, for all verbs that show symbols, and fills
 * the options of the binary store accordingly. data_source.h opens the store of a recording.
 *
 * A verb's settings have a struct symbol_options, and its table the rows of the group:
 *
 *	SYMBOL_OPTIONS(struct settings, symbols),
 *	LINE_OPTIONS(struct settings, symbols),		where source lines or inlined calls are shown
 *	...
 *	struct binary_store_options store = symbol_options_of(cli, &settings.symbols, reader);
 */
#ifndef TASKS_SESSION_SYMBOL_OPTIONS_H
#define TASKS_SESSION_SYMBOL_OPTIONS_H

#include "cli/cli.h"
#include "cli/options.h"
#include "code/binary_store.h"
#include "perfdata/reader.h"

struct symbol_options { /* all zero: the usual places */
	const char *symfs; /* files are looked for below this folder; NULL: the root */
	const char *kallsyms, *vmlinux; /* of the recorded kernel; NULL: searched */
	bool ignore_vmlinux; /* the kernel's file is not searched */
	bool no_demangle;
	bool ignores_index; /* symbols are read where they come from, and not from what an earlier run kept */
	const char *addr2line; /* the program that reads source lines; NULL: they are read here */
};

/* --symfs, --kallsyms, -k/--vmlinux, --ignore-vmlinux, --demangle, --demangle-kernel */
extern const struct option_table symbol_option_table;
#define SYMBOL_OPTIONS(type, member) OPTION_GROUP_ROW(&symbol_option_table, type, member)
/* --addr2line, --addr2line-style */
extern const struct option_table line_option_table;
#define LINE_OPTIONS(type, member) OPTION_GROUP_ROW(&line_option_table, type, member)

/* 0, or the exit status after a message: --addr2line names a program that cannot be run. */
int symbol_options_check(const struct cli *cli, const struct symbol_options *options);
/* Whether any of them differs from the usual. */
bool symbol_options_are_asked(const struct symbol_options *options);
/* How to open the store for a recording, whose features are borrowed until its reader is destroyed. reader NULL: there is
 * no recording, or it is not finished. */
struct binary_store_options symbol_options_of(
	const struct cli *cli, const struct symbol_options *options, const struct perfdata_reader *reader);

#endif
