#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/mem_dump.h"
#include "cli/memory_record.h"

struct settings {
	const char *input, *sort, *separator, *cpus, *type;
	bool force, hides_unresolved, physical, data_pages, dumps;
	unsigned verbose;
};

#define ROW(field) .offset = offsetof(struct settings, field)
#define MAX_WORDS  32 /* of the report's command line: fewer are ever made */

static const struct option options[] = {
	{"input", 'i', OPTION_STRING, "file", ROW(input), .help = "input file name"},
	{"sort", 's', OPTION_STRING, "key[,key2...]", ROW(sort), .help = "sort by key(s), those of report --mem-mode"},
	{"cpu", 'C', OPTION_STRING, "cpu", ROW(cpus), .help = "list of cpus to profile"},
	{"type", 't', OPTION_STRING, "type", ROW(type),
		.help = "memory operations(load,store): columns that say something of them; default: load,store"},
	{"phys-data", 'p', OPTION_FLAG, ROW(physical), .help = "Report physical addresses"},
	{"data-page-size", 0, OPTION_FLAG, ROW(data_pages), .help = "Report the page size of data addresses"},
	{"hide-unresolved", 'U', OPTION_FLAG, ROW(hides_unresolved),
		.help = "Only display entries resolved to a symbol"},
	{"field-separator", 'x', OPTION_STRING, "separator", ROW(separator),
		.help = "separator for columns, no spaces will be added between columns"},
	{"force", 'f', OPTION_FLAG, ROW(force), .help = "read also what another user owns"},
	{"verbose", 'v', OPTION_COUNT, ROW(verbose), .help = "say more"},
	{"dump-raw-samples", 'D', OPTION_FLAG, ROW(dumps), .help = "print each access on a line of its own"},
	{"type-profile", 'T', OPTION_UNSUPPORTED, .help = "Show data-type profile result"},
};
static const struct option_table table = {options, sizeof(options) / sizeof(options[0]), false};
static const char *const usages[] = {"[<options>] {record|report}", NULL};
static const char *const examples[] = {
	"which data, and where it was found", "tally mem report", "by level only", "tally mem report -s mem,tlb", NULL};

/* The keys that the operations have something to say for. */
static const char *sort_keys(const struct settings *s, struct text *t)
{
	bool is_store_only = s->type && strstr(s->type, "store") && !strstr(s->type, "load");
	if (s->sort)
		return s->sort;
	if (!is_store_only && !s->physical && !s->data_pages)
		return NULL;
	text_str(t, is_store_only ? "mem,sym,dso,symbol_daddr,dso_daddr,tlb,locked"
				  : "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked");
	text_str(t, s->physical ? ",phys_daddr" : "");
	text_str(t, s->data_pages ? ",data_page_size" : "");
	text_char(t, 0);
	return t->failed ? NULL : t->data;
}

static void add_option(char **words, int *count, const char *name, const char *value)
{
	if (!value)
		return;
	words[(*count)++] = (char *)(uintptr_t)name;
	words[(*count)++] = (char *)(uintptr_t)value;
}

static void add_flag(char **words, int *count, const char *name, bool is_set)
{
	if (is_set)
		words[(*count)++] = (char *)(uintptr_t)name;
}

static int run_report(const struct cli *cli, const struct settings *settings)
{
	char *words[MAX_WORDS];
	int count = 0;
	struct text keys = {0};
	add_flag(words, &count, "report", true);
	add_flag(words, &count, "--mem-mode", true);
	add_flag(words, &count, "-n", true);
	add_option(words, &count, "-s", sort_keys(settings, &keys));
	add_option(words, &count, "-i", settings->input);
	add_option(words, &count, "-C", settings->cpus);
	add_option(words, &count, "-t", settings->separator);
	add_flag(words, &count, "-f", settings->force);
	add_flag(words, &count, "-U", settings->hides_unresolved);
	add_flag(words, &count, "-v", settings->verbose > 0);
	words[count] = NULL;
	int code = command_report.run(cli, &command_report, count, words);
	text_deinit(&keys);
	return code;
}

static int run_dump(const struct cli *cli, const struct settings *settings)
{
	const struct mem_dump dump = {.input = {.path = settings->input, .force = settings->force},
		.separator = settings->separator,
		.cpus = settings->cpus,
		.with_physical = settings->physical,
		.with_data_pages = settings->data_pages,
		.hides_unresolved = settings->hides_unresolved};
	struct text out = {0};
	struct tally_error err = {0};
	if (settings->sort || settings->type)
		return cli_failf(cli, "-D and %s cannot be used together", settings->sort ? "-s" : "-t");
	cli_start_pager(cli);
	text_to_fd(&out, STDOUT_FILENO);
	enum tally_status status = mem_dump(cli, &dump, &out, &err);
	int code = cli_finish_text(cli, &out);
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	cli_end_pager();
	return code;
}

static int run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct settings settings = {0};
	int rest;
	/* What follows "record" is that verb's own: its -U is another one. */
	int before = 1;
	while (before < argc && strcmp(argv[before], "record") != 0)
		before++;
	int code = cli_parse_options(cli, command, before, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest >= argc)
		return cli_usagef(cli, command, NULL, "mem needs a command: record or report");
	if (rest == before) {
		struct memory_record record = {.type = settings.type,
			.cpus = settings.cpus,
			.physical = settings.physical,
			.data_pages = settings.data_pages};
		return memory_record(cli, &record, argc - before - 1, argv + before + 1);
	}
	if (strcmp(argv[rest], "report") != 0 && strcmp(argv[rest], "rep") != 0)
		return cli_usagef(cli, command, NULL, "Unknown command: %s", argv[rest]);
	if (rest + 1 < argc)
		return cli_usagef(cli, command, NULL, "report takes options only, not '%s'", argv[rest + 1]);
	return settings.dumps ? run_dump(cli, &settings) : run_report(cli, &settings);
}

const struct command command_mem = {
	.name = "mem",
	.summary = "Profile memory accesses",
	.usages = usages,
	.options = &table,
	.description = "mem record is record -d -W of the events that sample accesses to memory here. mem report shows "
		       "what recorded accesses to memory cost: where the data was found (cache level, "
		       "TLB, snoops), whose it is, and which code asked for it. It is report --mem-mode -n.",
	.examples = examples,
	.run = run,
};
