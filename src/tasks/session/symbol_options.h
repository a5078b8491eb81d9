/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_options.h - declares the options for the sources of symbols, for all verbs that show symbols, and fills in the
 * options of the binary store accordingly. data_source.h opens the store of a recording.
 *
 * The settings of a verb contain a struct symbol_options, and its table contains the rows of the group:
 *
 *	SYMBOL_OPTIONS(struct settings, symbols),
 *	LINE_OPTIONS(struct settings, symbols),		if source lines or inlined calls are shown
 *	...
 *	struct binary_store_options store = symbol_options_of(cli, &settings.symbols, reader);
 */
#ifndef TASKS_SESSION_SYMBOL_OPTIONS_H
#define TASKS_SESSION_SYMBOL_OPTIONS_H

#include "cli/cli.h"
#include "cli/options.h"
#include "code/binary_store.h"
#include "perfdata/reader.h"

/* Everything is zero for the usual sources. */
struct symbol_options {
	const char *symfs; /* Directory below which files are searched; NULL for the root. */
	const char *kallsyms, *vmlinux; /* Files for the recorded kernel; NULL if they are searched. */
	bool ignore_vmlinux; /* The kernel's file is not searched. */
	bool no_demangle;
	bool ignores_index; /* Reads symbols from their files, not from the index that an earlier run has stored. */
	const char *addr2line; /* Program that reads source lines; NULL for the built-in reader. */
};

/* Table of the options --symfs, --kallsyms, -k/--vmlinux, --ignore-vmlinux, --demangle and --demangle-kernel. */
extern const struct option_table symbol_option_table;
#define SYMBOL_OPTIONS(type, member) OPTION_GROUP_ROW(&symbol_option_table, type, member)
/* Table of the options --addr2line and --addr2line-style. */
extern const struct option_table line_option_table;
#define LINE_OPTIONS(type, member) OPTION_GROUP_ROW(&line_option_table, type, member)

/* Returns 0, or the exit status after a message if the program of --addr2line cannot be run. */
int symbol_options_check(const struct cli *cli, const struct symbol_options *options);
/* Returns whether any of the options was given. */
bool symbol_options_are_asked(const struct symbol_options *options);
/* Returns the options of the store for a recording; its features are borrowed until its reader is destroyed. reader is
 * NULL if there is no recording, or if it is not finished. */
struct binary_store_options symbol_options_of(
	const struct cli *cli, const struct symbol_options *options, const struct perfdata_reader *reader);

#endif
