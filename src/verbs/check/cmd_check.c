/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/array.h"
#include "cli/build_features.h"
#include "cli/cli.h"
#include "cli/commands.h"

#define STATUS_MISSING 1

struct cmd_check_settings {
	bool quiet;
};

static const struct option check_options[] = {
	{.name = "quiet",
		.letter = 'q',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_check_settings, quiet),
		.help = "do not show any warnings or messages"},
};
static const struct option_table check_table = {check_options, ARRAY_LEN(check_options), false};
static const char *const check_usages[] = {"[<options>] feature <feature_list>", NULL};
static const char *const check_examples[] = {"whether recordings can be compressed", "tally check feature zstd",
	"use it in a script", "tally check -q feature zstd,libtraceevent && record_options=-z", NULL};

/* Returns true if the feature is known and built in. */
static bool cmd_check_check(const struct cli *cli, struct tally_str name, bool is_quiet)
{
	const struct build_feature *feature = build_features_find(name);
	if (!feature && !is_quiet)
		cli_sayf("Unknown feature '%.*s', please use '%s version --build-options' to see which ones are "
			 "available.\n",
			(int)name.len, name.data, cli->program);
	if (feature && !is_quiet)
		build_feature_print(feature);
	return feature && feature->is_on;
}

static int cmd_check_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_check_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest == argc)
		return cli_usagef(cli, command, NULL, "check needs a subcommand: feature");
	if (strcmp(argv[rest], "feature") != 0)
		return cli_usagef(cli, command, NULL, "Unknown subcommand: %s", argv[rest]);
	if (rest + 1 == argc)
		return cli_usagef(cli, command, NULL, "which feature?");
	if (rest + 2 < argc)
		return cli_failf(cli, "Too many arguments passed to '%s check feature'", cli->program);
	struct tally_str names = str_from(argv[rest + 1]), name;
	bool all = true;
	while (str_next_item(&names, &name))
		if (name.len > 0 && !cmd_check_check(cli, name, settings.quiet))
			all = false;
	return all ? 0 : STATUS_MISSING;
}

const struct command command_check = {
	.name = "check",
	.summary = "check if a feature is present in tally",
	.usages = check_usages,
	.options = &check_table,
	.description = "Prints whether features are in this build, by perf's names for them, as `tally version "
		       "--build-options` lists them. Several are separated by commas.\n\n"
		       "Exit status: 0 if all of them are on, 1 if one is off or unknown.",
	.examples = check_examples,
	.run = cmd_check_run,
};
