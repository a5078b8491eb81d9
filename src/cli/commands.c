/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <string.h>

#include "base/array.h"

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

const struct command *const *commands_all(size_t *count)
{
	*count = ARRAY_LEN(commands);
	return commands;
}

struct tally_str command_subcommands(const struct command *command)
{
	const char *begin = strchr(command->usages[0], '{');
	const char *end = begin ? strchr(begin, '}') : NULL;
	return end ? (struct tally_str){begin + 1, (size_t)(end - begin) - 1} : (struct tally_str){NULL, 0};
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}
