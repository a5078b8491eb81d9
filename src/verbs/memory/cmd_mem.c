/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/unknown_command.h"
#include "tasks/session/recording_input.h"
#include "verbs/memory/mem_dump.h"
#include "verbs/memory/memory_record.h"

struct cmd_mem_settings {
	struct input_options input;
	struct symbol_options symbols;
	struct sample_options samples;
	const char *sort, *separator, *type;
	bool hides_unresolved, physical, data_pages, dumps, by_data_type;
	unsigned verbose;
};

#define ROW(field)    .offset = offsetof(struct cmd_mem_settings, field)
#define MEM_MAX_WORDS 32 /* Upper limit of the words that are added to report's command line. */

static const struct option mem_options[] = {
	INPUT_OPTIONS(struct cmd_mem_settings, input),
	{"sort", 's', OPTION_STRING, "key[,key2...]", ROW(sort), .help = "sort by key(s), those of report --mem-mode"},
	SYMBOL_OPTIONS(struct cmd_mem_settings, symbols),
	SAMPLE_OPTIONS(struct cmd_mem_settings, samples),
	{"type", 't', OPTION_STRING, "type", ROW(type),
		.help = "memory operations to show columns for: load,store (default: load,store)"},
	{"phys-data", 'p', OPTION_FLAG, ROW(physical), .help = "Report physical addresses"},
	{"data-page-size", 0, OPTION_FLAG, ROW(data_pages), .help = "Report the page size of data addresses"},
	{"hide-unresolved", 'U', OPTION_FLAG, ROW(hides_unresolved),
		.help = "Only display entries resolved to a symbol"},
	{"field-separator", 'x', OPTION_STRING, "separator", ROW(separator),
		.help = "separator for columns, no spaces will be added between columns"},
	{"verbose", 'v', OPTION_COUNT, ROW(verbose), .help = "say more"},
	{"dump-raw-samples", 'D', OPTION_FLAG, ROW(dumps), .help = "print each access on a separate line"},
	{"type-profile", 'T', OPTION_FLAG, ROW(by_data_type),
		.help = "group by data type instead of by code: mem,snoop,tlb,type"},
};
#undef ROW
static const struct option_table mem_table = {mem_options, ARRAY_LEN(mem_options), false};
static const char *const mem_usages[] = {"[<options>] {record|report}", NULL};
static const char *const mem_examples[] = {"show which data was accessed, and where it was found", "tally mem report",
	"show memory levels only", "tally mem report -s mem,tlb", NULL};

/* Returns the sort keys for report: the user's, or those that suit the selected operations, and those of -p and
 * --data-page-size. NULL selects report's default. */
static const char *sort_keys(const struct cmd_mem_settings *s, struct text *t)
{
	bool is_store_only = s->type && strstr(s->type, "store") && !strstr(s->type, "load");
	if (!s->sort && s->by_data_type)
		return "mem,snoop,tlb,type";
	if (!s->physical && !s->data_pages && (s->sort || !is_store_only))
		return s->sort;
	text_str(t, s->sort	    ? s->sort
		    : is_store_only ? "mem,sym,dso,symbol_daddr,dso_daddr,tlb,locked"
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

/* passed contains options that mem passes on to report. */
static int cmd_mem_run_report(
	const struct cli *cli, const struct cmd_mem_settings *settings, char **passed, int passed_count)
{
	char **words = malloc(((size_t)passed_count + MEM_MAX_WORDS) * sizeof(*words));
	int count = 0;
	struct text keys = {0};
	if (!words)
		return cli_failf(cli, "out of memory");
	add_flag(words, &count, "report", true);
	add_flag(words, &count, "--mem-mode", true);
	add_flag(words, &count, "-n", true);
	add_option(words, &count, "-s", sort_keys(settings, &keys));
	add_option(words, &count, "-i", settings->input.path);
	add_option(words, &count, "-C", settings->samples.cpus);
	add_option(words, &count, "-c", settings->samples.filters.comms);
	add_option(words, &count, "--pid", settings->samples.filters.pids);
	add_option(words, &count, "--tid", settings->samples.filters.tids);
	add_option(words, &count, "--time", settings->samples.times);
	add_option(words, &count, "--symfs", settings->symbols.symfs);
	add_option(words, &count, "--kallsyms", settings->symbols.kallsyms);
	add_option(words, &count, "--vmlinux", settings->symbols.vmlinux);
	add_flag(words, &count, "--ignore-vmlinux", settings->symbols.ignore_vmlinux);
	add_flag(words, &count, "--no-demangle", settings->symbols.no_demangle);
	add_option(words, &count, "-t", settings->separator);
	add_flag(words, &count, "-f", settings->input.force);
	add_flag(words, &count, "-U", settings->hides_unresolved);
	add_flag(words, &count, "-v", settings->verbose > 0);
	for (int i = 0; i < passed_count; i++)
		words[count++] = passed[i];
	words[count] = NULL;
	int code = command_report.run(cli, &command_report, count, words);
	free(words);
	text_deinit(&keys);
	return code;
}

/* Finds an option by its long name or its letter. Returns NULL if there is none. */
static const struct option *find_option(const struct option_table *rows, const char *word)
{
	bool is_negated;
	if (word[1] == '-')
		return options_find(rows, word + 2, strcspn(word + 2, "="), &is_negated);
	struct option_walk walk = {.table = rows};
	for (const struct option *option; (option = option_walk_next(&walk));)
		if (option->letter == word[1])
			return option;
	return NULL;
}

/* Returns whether the option's value is the next word. */
static bool wants_next(const struct option *option, const char *word, const char *next)
{
	bool is_long = word[1] == '-';
	if (!option || !option->argument || !next || (is_long ? strchr(word, '=') != NULL : word[2] != 0))
		return false;
	if (is_long && strncmp(word, "--no-", 5) == 0 && option->name && strcmp(option->name, word + 2) != 0)
		return false;
	return !option->argument_is_optional || (option->takes_next_word && next[0] != '-');
}

/* Separates mem's own options after "report" from those of the verb report. */
static int take_own_words(char **words, int count, char **own, char **passed)
{
	int own_count = 0, passed_count = 0;
	for (int i = 0; i < count; i++) {
		bool is_option = words[i][0] == '-' && words[i][1] != 0 && strcmp(words[i], "--") != 0;
		const struct option *mine = is_option ? find_option(&mem_table, words[i]) : NULL;
		const struct option *theirs = is_option && !mine ? find_option(command_report.options, words[i]) : NULL;
		bool takes_next = wants_next(mine ? mine : theirs, words[i], i + 1 < count ? words[i + 1] : NULL);
		for (int last = i + takes_next; i <= last; i++)
			*(mine ? &own[own_count++] : &passed[passed_count++]) = words[i];
		i--;
	}
	return own_count;
}

static int run_dump(const struct cli *cli, const struct cmd_mem_settings *settings)
{
	const struct mem_dump dump = {
		.input = {.file = settings->input, .symbols = settings->symbols, .samples = settings->samples},
		.separator = settings->separator,
		.with_physical = settings->physical,
		.with_data_pages = settings->data_pages,
		.hides_unresolved = settings->hides_unresolved};
	struct text out = {0};
	struct tally_error err = {0};
	if (settings->by_data_type)
		return cli_failf(cli, "-D and -T cannot be used together");
	cli_start_pager(cli);
	text_to_fd(&out, STDOUT_FILENO);
	enum tally_status status = mem_dump(cli, &dump, &out, &err);
	text_separated_by(&out, settings->separator);
	int code = cli_finish_text(cli, &out);
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	cli_end_pager();
	return code;
}

/* Returns the first of report's options that would affect a dump, or NULL if there is none. */
static const char *without_dump(char **words, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(words[i], "--stdio") != 0)
			return words[i];
	return NULL;
}

static int cmd_mem_report(const struct cli *cli, const struct command *command, char **words, int count, int before)
{
	struct cmd_mem_settings settings = {0};
	char **own = malloc(2 * ((size_t)count + 1) * sizeof(*own)), **passed = own ? own + count + 1 : NULL;
	int rest;
	if (!own)
		return cli_failf(cli, "out of memory");
	for (int i = 0; i < before; i++)
		own[i] = words[i];
	int own_count = before + take_own_words(words + before + 1, count - before - 1, own + before, passed);
	own[own_count] = NULL;
	int passed_count = count - 1 - own_count;
	int code = cli_parse_options(cli, command, own_count, own, &settings, &rest);
	if (code == CLI_GO_ON && rest < own_count)
		code = unknown_subcommand(cli, command, own[rest]);
	else if (code == CLI_GO_ON && settings.dumps && without_dump(passed, passed_count))
		code = cli_failf(cli, "-D and %s cannot be used together", without_dump(passed, passed_count));
	else if (code == CLI_GO_ON)
		code = settings.dumps ? run_dump(cli, &settings)
				      : cmd_mem_run_report(cli, &settings, passed, passed_count);
	free(own);
	return code;
}

static bool is_report(const char *word)
{
	return cli_is_subverb(word, "report");
}

static int cmd_mem_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_mem_settings settings = {0};
	int rest;
	/* Words after the subcommand belong to it; for example, record has another option -U. */
	int before = 1;
	while (before < argc && !cli_is_subverb(argv[before], "record") && !is_report(argv[before]))
		before++;
	if (before < argc && is_report(argv[before]))
		return cmd_mem_report(cli, command, argv, argc, before);
	int code = cli_parse_options(cli, command, before, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < before)
		return unknown_subcommand(cli, command, argv[rest]);
	if (rest == argc)
		return cli_usagef(cli, command, NULL, "mem needs a command: record or report");
	struct memory_record record = {.type = settings.type,
		.cpus = settings.samples.cpus,
		.physical = settings.physical,
		.data_pages = settings.data_pages};
	return memory_record(cli, &record, argc - before - 1, argv + before + 1);
}

const struct command command_mem = {
	.name = "mem",
	.summary = "Profile memory accesses",
	.usages = mem_usages,
	.options = &mem_table,
	.description = "mem record is record -d -W of the events that sample accesses to memory here. mem report shows "
		       "what recorded accesses to memory cost: where the data was found (cache level, "
		       "TLB, snoops), whose it is, and which code asked for it. It is report --mem-mode -n, and takes "
		       "that verb's options too.",
	.examples = mem_examples,
	.run = cmd_mem_run,
};
