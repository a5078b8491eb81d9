/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/build_features.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "tally_config.h"

struct cmd_version_settings {
	bool build_options;
};

static const struct option options[] = {
	{.name = "build-options",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_version_settings, build_options),
		.help = "display the build options"},
};
static const struct option_table version_table = {options, 1, false};
static const char *const version_usages[] = {"[<options>]", NULL};

static int cmd_version_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_version_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	printf("%s version %s", cli->program, TALLY_VERSION);
	if (cli->commit && *cli->commit)
		printf(" (%s)", cli->commit);
	putchar('\n');
	if (!settings.build_options)
		return 0;
	size_t count;
	const struct build_feature *features = build_features_all(&count);
	for (size_t i = 0; i < count; i++)
		build_feature_print(&features[i]);
	return 0;
}

const struct command command_version = {
	.name = "version",
	.summary = "Display the version of tally",
	.usages = version_usages,
	.options = &version_table,
	.run = cmd_version_run,
};
