/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/unknown_command.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/trace_fields.h"
#include "verbs/kmem/kmem_stat.h"

#define KMEM_JSON_SCHEMA 1
#define ROW(member)	 .offset = offsetof(struct kmem_settings, member)

static const struct option kmem_options[] = {
	{"alloc", 0, OPTION_FLAG, ROW(by_object), .help = "show per-allocation statistics"},
	{"caller", 0, OPTION_FLAG, ROW(by_caller), .help = "show per-callsite statistics"},
	INPUT_OPTIONS(struct kmem_settings, input),
	{"json", 0, OPTION_FLAG, ROW(is_json), .help = "JSON, see docs/schema/kmem.json"},
	{"line", 'l', OPTION_U64, "num", ROW(lines), .help = "show at most this many rows of each table"},
	{"raw-ip", 0, OPTION_FLAG, ROW(raw_addresses), .help = "addresses of call sites instead of names"},
	{"slab", 0, OPTION_FLAG, ROW(slab), .help = "Analyze slab allocator (the default)"},
	{"sort", 's', OPTION_STRING, "key[,key2...]", ROW(sort),
		.help = "sort by: ptr callsite bytes hit pingpong frag (frag,hit,bytes); with --page: page callsite "
			"bytes hit order migtype gfp (bytes,hit)"},
	{"time", 0, OPTION_STRING, "str", ROW(times), .help = "Time span of interest (start,stop)"},
	SYMBOL_OPTIONS(struct kmem_settings, symbols),
	{"verbose", 'v', OPTION_COUNT, ROW(verbose),
		.help = "report how many freed objects had been allocated before the recording"},
	{"page", 0, OPTION_FLAG, ROW(page), .help = "Analyze page allocator"},
	{"live", 0, OPTION_FLAG, ROW(is_live), .help = "with --page: show only what was not freed again"},
};
#undef ROW
static const struct option_table kmem_table = {kmem_options, ARRAY_LEN(kmem_options), false};

uint64_t kmem_field(const struct data_source *source, const struct data_sample *s, struct tally_str name)
{
	uint64_t number;
	(void)trace_number_of(source->tracepoints, s->sample.raw, name, &number);
	return number;
}

enum tally_status kmem_name_site(struct data_source *source, const struct kmem_settings *settings, uint64_t address,
	struct kmem_site *site, struct tally_error *err)
{
	*site = (struct kmem_site){.name = NULL};
	if (settings->raw_addresses)
		return TALLY_OK;
	struct resolve_where where = resolver_where(&source->pass.resolver, 0, UINT64_MAX - 1);
	uint32_t frame = resolver_frame(&source->pass.resolver, &where, MISC_CPUMODE_KERNEL | RESOLVE_RETURN, address);
	const struct frame_name *name =
		source->pass.resolver.failed ? NULL : frame_names_get(&source->names, frame, err);
	if (!name)
		return error_nomem(err);
	*site = (struct kmem_site){.name = name->symbol, .offset = name->symbol_offset};
	return TALLY_OK;
}

enum tally_status kmem_read_keys(
	const char *list, const struct kmem_keys *all, unsigned *chosen, size_t *count, struct tally_error *err)
{
	struct tally_str rest = str_from(list), part;
	for (*count = 0; str_next_item(&rest, &part); (*count)++) {
		unsigned i = 0;
		while (i < all->count && !str_equal(part, str_from(all->names[i])))
			i++;
		if (i == all->count)
			return error_set(err, TALLY_INVALID, "Unknown %s --sort key: '%.*s'", all->table,
				(int)(MIN(part.len, 40)), part.data);
		if (*count == all->most)
			return error_set(err, TALLY_INVALID, "--sort takes at most %zu keys", all->most);
		chosen[*count] = i;
	}
	return TALLY_OK;
}

int kmem_show(const struct cli *cli, const struct kmem_result *result)
{
	int code = 0;
	const struct input_health *health = &result->source->pass.sideband.health;
	bool is_json = result->settings->is_json;
	cli_print_health(cli, health);
	if (result->settings->is_live && health->lost_events > 0)
		cli_failf(cli,
			"note: frees may be among the %" PRIu64
			" lost events: what --live lists may have been freed meanwhile",
			health->lost_events);
	if (result->has_events) {
		struct text out = {0};
		struct json j = {.out = &out};
		struct tally_error err;
		text_to_fd(&out, STDOUT_FILENO);
		if (is_json) {
			json_object(&j, NULL);
			json_u64(&j, "schema", KMEM_JSON_SCHEMA);
			json_string(&j, "path", str_from(recording_name(result->settings->input.path)));
			json_string(&j, "allocator", str_from(result->allocator));
			json_u64(&j, "lost_events", health->lost_events);
		}
		enum tally_status printed = result->print(result->job, &out, is_json ? &j : NULL, &err);
		if (is_json)
			json_object_end(&j);
		code = cli_finish_text(cli, &out);
		if (printed != TALLY_OK)
			return cli_fail(cli, &err);
	}
	if (result->status != TALLY_OK)
		return cli_fail(cli, result->err);
	if (!result->has_events && result->source->skipped > 0)
		return cli_failf(cli, "none of the %" PRIu64 " samples is within --time", result->source->skipped);
	if (!result->has_events)
		return cli_failf(cli, "No %s allocation events found.  Have you run '%s kmem record --%s'?",
			result->allocator, cli->program, result->allocator);
	return code;
}

static int cmd_kmem_record(const struct cli *cli, bool slab, bool page, int argc, char **argv)
{
	static const char *const of_slab[] = {"record", "-a", "-R", "-c", "1", "-e", "kmem:kmalloc,kmem:kfree", "-e",
		"kmem:kmem_cache_alloc,kmem:kmem_cache_free", NULL};
	/* These tracepoints have no field with the call site, so call chains are recorded. */
	static const char *const of_pages[] = {
		"record", "-a", "-R", "-c", "1", "-g", "-e", "kmem:mm_page_alloc,kmem:mm_page_free", NULL};
	static const char *const of_both[] = {"record", "-a", "-R", "-m", "1024", "-c", "1", "-e",
		"kmem:kmalloc,kmem:kfree", "-e", "kmem:kmem_cache_alloc,kmem:kmem_cache_free", "-g", "-e",
		"kmem:mm_page_alloc,kmem:mm_page_free", NULL};
	return cli_run_verb(cli, &command_record, !page ? of_slab : slab ? of_both : of_pages, argc, argv);
}

static int cmd_kmem_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct kmem_settings settings = {0};
	int rest, first = 1;
	bool slab = false, page = false;
	for (; first < argc && (strcmp(argv[first], "--slab") == 0 || strcmp(argv[first], "--page") == 0); first++)
		*(argv[first][2] == 's' ? &slab : &page) = true;
	if (first < argc && cli_is_subverb(argv[first], "record"))
		return cmd_kmem_record(cli, slab, page, argc - first - 1, argv + first + 1);
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest >= argc)
		return cli_usagef(cli, command, NULL, "kmem needs a command: record or stat");
	if (!cli_is_subverb(argv[rest], "stat"))
		return unknown_subcommand(cli, command, argv[rest]);
	if (rest + 1 < argc)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s'", argv[rest + 1]);
	if (settings.times && !time_spans_are_valid(settings.times))
		return cli_failf(cli, "Invalid time string"), EXIT_BAD_TIME;
	if (settings.is_json && settings.slab && settings.page)
		return cli_usagef(cli, command, "json", "--json is of one allocator: --slab or --page");
	if (settings.is_live && !settings.page)
		fprintf(stderr, "note: --live has an effect with --page only\n");
	code = settings.slab || !settings.page ? kmem_stat_slab(cli, &settings) : 0;
	return code == 0 && settings.page ? kmem_stat_pages(cli, &settings) : code;
}

static const char *const kmem_usages[] = {"[<options>] {record|stat}", NULL};
static const char *const kmem_examples[] = {
	"record what the kernel's slab allocator does for ten seconds",
	"tally kmem record sleep 10",
	"find who allocates most pages, and who holds most at the end",
	"tally kmem --page record sleep 10; tally kmem stat --page --caller -l 10; tally kmem stat --page --live "
	"--caller -l 10",
	"list the ten callers that waste most, and the ten that allocate most often",
	"tally kmem stat --caller -l 10; tally kmem stat --caller -l 10 -s hit",
	NULL,
};

const struct command command_kmem = {
	.name = "kmem",
	.summary = "Tool to trace/measure kernel memory properties",
	.usages = kmem_usages,
	.options = &kmem_table,
	.description =
		"Adds up what the kernel's slab allocator allocated and freed (kmem:kmalloc, kmem_cache_alloc and "
		"their frees), by call site (--caller) and by object (--alloc). 'record' passes its arguments to "
		"tally record. Ping-pong counts objects that were freed on another CPU than the one that allocated "
		"them.\n\n"
		"With --page it is the page allocator, by call site and by block of pages. The call site is the first "
		"function of the call chain that is not the allocator's own.",
	.examples = kmem_examples,
	.run = cmd_kmem_run,
};
