#include "cli/commands.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

static const struct command *const commands[] = {
	&command_annotate,
	&command_archive,
	&command_buildid_cache,
	&command_buildid_list,
	&command_c2c,
	&command_check,
	&command_completion,
	&command_data,
	&command_diff,
	&command_evlist,
	&command_export,
	&command_flamegraph,
	&command_health,
	&command_help,
	&command_inject,
	&command_kallsyms,
	&command_kmem,
	&command_list,
	&command_lock,
	&command_man,
	&command_mem,
	&command_pack,
	&command_query,
	&command_record,
	&command_report,
	&command_sched,
	&command_script,
	&command_stat,
	&command_timechart,
	&command_top,
	&command_version,
};

static const char *const missing[] = {
	"bench",
	"config",
	"daemon",
	"ftrace",
	"iostat",
	"kvm",
	"kwork",
	"probe",
	"test",
	"trace",
};

const struct command *const *commands_all(size_t *count)
{
	*count = sizeof(commands) / sizeof(commands[0]);
	return commands;
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

int commands_complain(const struct cli *cli, const char *name)
{
	const char *names[sizeof(commands) / sizeof(commands[0])];
	size_t count = sizeof(commands) / sizeof(commands[0]);
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		if (strcmp(missing[i], name) == 0) {
			fprintf(stderr, "%s: '%s' is not supported yet\n", cli->program, name);
			return EXIT_USAGE;
		}
	}
	fprintf(stderr, "%s: '%s' is not a %s-command. See '%s --help'.\n", cli->program, name, cli->program,
		cli->program);
	for (size_t i = 0; i < count; i++)
		names[i] = commands[i]->name;
	size_t nearest = text_nearest(names, count, name);
	if (nearest != SIZE_MAX)
		fprintf(stderr, "\nDid you mean this?\n\t%s\n", names[nearest]);
	return 1;
}
