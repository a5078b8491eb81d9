/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - lists the verbs. To add one: write cmd_<verb>.c with a constant struct command, declare it here, add it
 * to the list in commands.c; help, man page and completion follow.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "base/bytes.h"
#include "cli/options.h"

struct cli;

struct command {
	const char *name;
	const char *summary; /* one line, as perf's list of commands has it */
	const char *const *usages; /* behind "perf VERB"; NULL-terminated */
	const struct option_table *options; /* NULL: takes none */
	const char *description; /* for help and the man page: paragraphs, blank line between */
	const char *const *examples; /* pairs: what it does, the command line; NULL-terminated */
	int (*run)(const struct cli *cli, const struct command *command, int argc, char **argv);
};

const struct command *const *commands_all(size_t *count);
const struct command *command_find(const char *name);
/* The words of the command's own commands, of "{record|report}" in its usage; empty if it has none. */
struct tally_str command_subcommands(const struct command *command);

extern const struct command command_annotate;
extern const struct command command_archive;
extern const struct command command_data;
extern const struct command command_buildid_cache;
extern const struct command command_buildid_list;
extern const struct command command_c2c;
extern const struct command command_check;
extern const struct command command_diff;
extern const struct command command_evlist;
extern const struct command command_export;
extern const struct command command_kallsyms;
extern const struct command command_kmem;
extern const struct command command_flamegraph;
extern const struct command command_list;
extern const struct command command_lock;
extern const struct command command_health;
extern const struct command command_help;
extern const struct command command_inject;
extern const struct command command_sched;
extern const struct command command_script;
extern const struct command command_stat;
extern const struct command command_timechart;
extern const struct command command_top;
extern const struct command command_version;
extern const struct command command_completion;
extern const struct command command_man;
extern const struct command command_mem;
extern const struct command command_pack;
extern const struct command command_query;
extern const struct command command_report;
extern const struct command command_record;

#endif
