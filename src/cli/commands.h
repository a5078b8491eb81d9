/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - lists the verbs. To add one: write cmd_<verb>.c with a constant struct command named command_<verb>, and
 * add <verb> to COMMANDS; help, man page and completion follow.
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
