#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "tally_config.h"

struct settings {
	bool build_options;
};

static const struct option options[] = {
	{.name = "build-options",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct settings, build_options),
		.help = "display the build options"},
};
static const struct option_table table = {options, 1, false};
static const char *const usages[] = {"[<options>]", NULL};

static const struct {
	const char *name, *macro;
	bool is_on;
} libraries[] = {
	{"libelf", "HAVE_LIBELF", true},
	{"zlib", "HAVE_ZLIB", true},
	{"zstd", "HAVE_ZSTD", HAVE_ZSTD},
	{"lzma", "HAVE_LZMA", HAVE_LZMA},
	{"libtraceevent", "HAVE_TRACEEVENT", HAVE_TRACEEVENT},
	{"demangling", "HAVE_DEMANGLE", HAVE_DEMANGLE},
};

static int run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	printf("%s version %s\n", cli->program, TALLY_VERSION);
	if (!settings.build_options)
		return 0;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		printf("%22s: [ %-3s ]  # %s\n", libraries[i].name, libraries[i].is_on ? "on" : "OFF",
			libraries[i].macro);
	return 0;
}

const struct command command_version = {
	.name = "version",
	.summary = "Display the version of tally",
	.usages = usages,
	.options = &table,
	.run = run,
};
