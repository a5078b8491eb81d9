/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - lists the verbs. To add one, write cmd_<verb>.c with a constant struct command named command_<verb>, and
 * add <verb> to COMMANDS; help, the man page and shell completion are generated from it.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "base/bytes.h"
#include "cli/options.h"

struct cli;

struct command {
	const char *name;
	const char *summary; /* One line for the list of commands. */
	const char *const *usages; /* Usage lines, each without program and verb; NULL-terminated. */
	const struct option_table *options; /* NULL if the verb has no options. */
	const char *description; /* Paragraphs for help and the man page, separated by blank lines. */
	const char *const *examples; /* Pairs of a description and a command line; NULL-terminated. */
	int (*run)(const struct cli *cli, const struct command *command, int argc, char **argv);
};

const struct command *const *commands_all(size_t *count);
/* Returns NULL if there is no verb with this name. */
const struct command *command_find(const char *name);
/* Returns the names of the subcommands, such as "record|report" of "{record|report}" in the usage; may be empty. */
struct tally_str command_subcommands(const struct command *command);

/* The verbs, in the order of the list that help prints. */
#define COMMANDS(X)      \
	X(agent)         \
	X(annotate)      \
	X(archive)       \
	X(bench)         \
	X(buildid_cache) \
	X(buildid_list)  \
	X(c2c)           \
	X(check)         \
	X(completion)    \
	X(config)        \
	X(daemon)        \
	X(data)          \
	X(diff)          \
	X(doctor)        \
	X(evlist)        \
	X(export)        \
	X(flamegraph)    \
	X(fleet)         \
	X(ftrace)        \
	X(health)        \
	X(help)          \
	X(inject)        \
	X(iostat)        \
	X(kallsyms)      \
	X(kmem)          \
	X(kvm)           \
	X(kwork)         \
	X(list)          \
	X(lock)          \
	X(man)           \
	X(mem)           \
	X(pack)          \
	X(probe)         \
	X(push)          \
	X(query)         \
	X(record)        \
	X(report)        \
	X(sched)         \
	X(script)        \
	X(serve)         \
	X(stat)          \
	X(summary)       \
	X(test)          \
	X(timechart)     \
	X(top)           \
	X(trace)         \
	X(version)

#define COMMAND_DECLARE(name) extern const struct command command_##name;
COMMANDS(COMMAND_DECLARE)

#endif
