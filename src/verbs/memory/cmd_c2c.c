/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/unknown_command.h"
#include "kernel/system/cpu_topology.h"
#include "tasks/reporting/report_options.h"
#include "tasks/reporting/report_replay.h"
#include "tasks/reporting/report_request.h"
#include "tasks/session/data_source.h"
#include "tasks/session/recording_input.h"
#include "verbs/memory/c2c_json.h"
#include "verbs/memory/c2c_text.h"
#include "verbs/memory/memory_record.h"

#define LINE_BYTES    64 /* The default if the recording does not contain the size of cache lines. */
#define MAX_NODE_BITS 64

/* Kinds of memory, in the bits above the process ID or file number. */
#define MEMORY_OWN    (UINT64_C(1) << 32)
#define MEMORY_FILE   (UINT64_C(2) << 32)
#define MEMORY_KERNEL (UINT64_C(3) << 32)

struct cmd_c2c_settings {
	struct symbol_options symbols;
	struct sample_options samples;
	struct input_options input;
	const char *coalesce, *display;
	bool stitches, stdio, shows_all, is_double, only_stats, full_symbols, without_lines, is_json;
	unsigned verbose, node_detail;
	struct report_request report; /* Contains the call chain options of -g. */
};

#define ROW(member) .offset = offsetof(struct cmd_c2c_settings, member)

static const char *cmd_c2c_set_chains(const struct option_use *use)
{
	struct cmd_c2c_settings *settings = use->settings;
	if (use->is_negated) {
		settings->report.chains.look.style = CHAIN_NONE;
		return NULL;
	}
	const char *why = report_options_apply(use, &settings->report, report_request_set_chains);
	if (why)
		return why;
	if (!use->value || !*use->value)
		/* Without an explicit threshold, all call chains are shown. */
		settings->report.chains.look.min_percent = 0;
	return settings->report.chains.is_by_line || settings->report.chains.have_branches
		       ? "-g of c2c takes function or address as key, and no branches"
		       : NULL;
}

static const struct option c2c_options[] = {
	INPUT_OPTIONS(struct cmd_c2c_settings, input),
	{"coalesce", 'c', OPTION_STRING, "fields", ROW(coalesce),
		.help = "keys that group the rows of a cache line: pid,tid,iaddr,dso (default: iaddr)"},
	{"display", 'd', OPTION_STRING, "type", ROW(display),
		.help = "sort order of cache lines: tot, lcl, rmt, peer (default: tot, on arm64 peer)"},
	{"node-info", 'N', OPTION_COUNT, ROW(node_detail),
		.help = "show more about the accessing nodes: shares, with -NN the CPUs"},
	{"show-all", 0, OPTION_FLAG, ROW(shows_all), .help = "Show all captured lines"},
	{"double-cl", 0, OPTION_FLAG, ROW(is_double), .help = "Detect adjacent cacheline false sharing"},
	{"stats", 0, OPTION_FLAG, ROW(only_stats), .help = "Display only statistic tables"},
	{"full-symbols", 0, OPTION_FLAG, ROW(full_symbols), .help = "Display full length of symbols"},
	{"no-source", 0, OPTION_FLAG, ROW(without_lines), .help = "Do not display Source Line column"},
	{"stdio", 0, OPTION_FLAG, ROW(stdio), .help = "Use the stdio interface"},
	{"json", 0, OPTION_FLAG, ROW(is_json), .help = "JSON, see docs/schema/c2c.json"},
	/* This option has no letter, because -c is --coalesce. */
	{"comms", 0, OPTION_STRING, "comm[,comm...]", ROW(samples.filters.comms),
		.help = "only samples of threads with these names (file://FILE lists them, one per line)"},
	SAMPLE_OPTIONS(struct cmd_c2c_settings, samples),
	SYMBOL_OPTIONS(struct cmd_c2c_settings, symbols),
	LINE_OPTIONS(struct cmd_c2c_settings, symbols),
	{"verbose", 'v', OPTION_COUNT, ROW(verbose), .help = "say more"},
	{"call-graph", 'g', OPTION_CALL, "print_type,threshold[,print_limit],order,sort_key,value",
		.argument_is_optional = true, .takes_next_word = true, .call = cmd_c2c_set_chains,
		.is_self_explaining = true,
		.help = "show call chains below rows if the recording has them (default: "
			"graph,0,callee,function,percent); none hides them"},
	{"stitch-lbr", 0, OPTION_FLAG, ROW(stitches),
		.help = "extend LBR call stacks: take callers that the CPU's registers no longer held from earlier "
			"samples"},
	{"objdump", 0, OPTION_UNSUPPORTED, "path", .refusal = "c2c shows no instructions"},
	{"disassembler-style", 'M', OPTION_UNSUPPORTED, "style", .refusal = "c2c shows no instructions"},
};
#undef ROW
static const struct option_table c2c_table = {c2c_options, ARRAY_LEN(c2c_options), false};

struct c2c {
	struct data_source source;
	struct cache_lines lines;
	struct c2c_table table;
	struct c2c_chains chains;
	struct lbr_stitcher stitcher;
	VEC(struct c2c_label) labels;
	struct arena arena;
	struct text text;
	int *cpu_nodes;
	uint32_t *nodes;
	struct tally_str *event_names;
	bool is_read; /* Set if the recording was read completely or up to the damage. */
};

static enum tally_status cmd_c2c_read_keys(struct c2c_table *t, const char *list, struct tally_error *err)
{
	static const char *const names[C2C_KEYS] = {"pid", "tid", "iaddr", "dso"};
	struct tally_str rest = str_from(list ? list : "iaddr"), part;
	while (str_next_item(&rest, &part)) {
		unsigned key = 0;
		while (key < C2C_KEYS && !str_equal(part, str_from(names[key])))
			key++;
		if (key == C2C_KEYS || t->key_count == C2C_KEYS)
			return error_set(
				err, TALLY_INVALID, "-c takes each of pid, tid, iaddr, dso once, not '%s'", list);
		for (size_t i = 0; i < t->key_count; i++)
			if (t->keys[i] == key)
				return error_set(err, TALLY_INVALID, "-c names '%s' twice", names[key]);
		t->keys[t->key_count++] = (enum c2c_key)key;
	}
	return TALLY_OK;
}

static enum tally_status read_display(struct c2c_table *t, const char *text, struct tally_error *err)
{
	static const char *const names[] = {"tot", "lcl", "rmt", "peer"};
	for (unsigned i = 0; text && i < ARRAY_LEN(names); i++)
		if (!strcmp(text, names[i])) {
			t->display = (enum c2c_display)i;
			return TALLY_OK;
		}
	return text ? error_set(err, TALLY_INVALID, "-d takes tot, lcl, rmt or peer, not '%s'", text) : TALLY_OK;
}

/* Returns the default of -d. Arm CPUs report that a line came from another core, but not that it was modified there. */
static enum c2c_display usual_display(const struct c2c *c)
{
	struct tally_str arch = perfdata_reader_features(c->source.reader)->arch;
	bool is_arm = str_equal(arch, STR("aarch64")) || str_equal(arch, STR("arm64"));
	return is_arm ? C2C_PEER : C2C_TOTAL;
}

static enum tally_status cmd_c2c_check_events(struct c2c *c, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(c->source.reader, &count);
	bool has_sources = false;
	c->event_names = calloc(count + 1, sizeof(*c->event_names));
	if (!c->event_names)
		return error_nomem(err);
	for (size_t i = 0; i < count; i++) {
		c->event_names[i] = events[i].name;
		has_sources = has_sources || (events[i].attr.sample_type & SAMPLE_DATA_SRC);
	}
	c->table.event_names = c->event_names;
	c->table.event_count = count;
	if (has_sources)
		return TALLY_OK;
	return error_set(err, TALLY_INVALID,
		"c2c needs data sources, and this recording has none: tally record -d -W -e EVENT, of a PMU that knows "
		"them, records them");
}

/* Reads the NUMA node of each CPU from the recording's header. */
static enum tally_status cmd_c2c_read_nodes(struct c2c *c, struct tally_error *err)
{
	const struct perfdata_features *f = perfdata_reader_features(c->source.reader);
	if (f->numa_count == 0)
		return error_set(err, TALLY_INVALID,
			"c2c needs the NUMA nodes of CPUs, and the recording's header does not contain them");
	c->cpu_nodes = malloc(LIMIT_CPUS * sizeof(*c->cpu_nodes));
	c->nodes = calloc(f->numa_count, sizeof(*c->nodes));
	if (!c->cpu_nodes || !c->nodes)
		return error_nomem(err);
	for (size_t i = 0; i < LIMIT_CPUS; i++)
		c->cpu_nodes[i] = -1;
	for (size_t i = 0; i < f->numa_count; i++) {
		int *cpus;
		size_t count;
		c->nodes[i] = f->numa[i].node;
		enum tally_status status = cpu_list_parse(f->numa[i].cpus, &cpus, &count, err);
		if (status != TALLY_OK)
			return status;
		for (size_t k = 0; k < count; k++)
			if (cpus[k] >= 0 && (unsigned)cpus[k] < LIMIT_CPUS)
				c->cpu_nodes[cpus[k]] = (int)f->numa[i].node;
		free(cpus);
	}
	c->table.cpu_nodes = c->cpu_nodes;
	c->table.cpu_count = LIMIT_CPUS;
	c->table.nodes = c->nodes;
	c->table.node_count = f->numa_count;
	return TALLY_OK;
}

static uint64_t memory_nodes_of(const struct perfdata_features *f, uint64_t physical)
{
	uint64_t nodes = 0;
	if (!physical || !f->memory_block_bytes)
		return 0;
	uint64_t block = physical / f->memory_block_bytes;
	for (size_t i = 0; i < f->memory_node_count; i++) {
		const struct perfdata_memory_node *node = &f->memory_nodes[i];
		if (node->node < MAX_NODE_BITS && block < node->bit_count && node->bits[block / 64] >> block % 64 & 1)
			nodes |= UINT64_C(1) << node->node;
	}
	return nodes;
}

static void set_keys(const struct c2c *c, struct cache_access *a, const struct mapping *code)
{
	for (size_t i = 0; i < c->table.key_count; i++) {
		switch (c->table.keys[i]) {
		case C2C_KEY_PID:
			a->keys[0] = (uint32_t)a->pid;
			break;
		case C2C_KEY_TID:
			a->keys[1] = (uint32_t)a->tid;
			break;
		case C2C_KEY_DSO:
			a->keys[2] = code ? code->binary + UINT64_C(1) : 0;
			break;
		case C2C_KEY_IADDR:
		case C2C_KEYS:
		default:
			break;
		}
	}
}

/*
 * All processes share the kernel's memory, and the memory of a file is the same wherever it is mapped. Private memory
 * is distinguished by process: anonymous memory, and private file mappings that the process may have written to.
 */
static void cmd_c2c_set_memory(const struct c2c *c, struct cache_access *a, const struct mapping *data)
{
	const struct machine *machine = c->source.pass.sideband.machine;
	a->memory = MEMORY_OWN | (uint32_t)a->pid;
	a->place = a->address;
	if (!data)
		return;
	enum machine_binary_kind kind = machine_binary_get(machine, data->binary)->kind;
	bool is_own = data->prot & PROT_WRITE && data->flags & MAP_PRIVATE;
	if (kind == MACHINE_KERNEL || kind == MACHINE_KERNEL_MODULE) {
		a->memory = MEMORY_KERNEL;
	} else if (data->file && !is_own) {
		a->memory = MEMORY_FILE | data->file;
		a->place = a->address - data->start + data->pgoff;
	}
}

static bool cmd_c2c_add_sample(struct c2c *c, const struct data_sample *s)
{
	const struct sample *sample = &s->sample;
	const struct machine *machine = c->source.pass.sideband.machine;
	unsigned cpumode = s->record.misc & MISC_CPUMODE_MASK;
	struct resolve_where where = resolver_where(&c->source.pass.resolver, (int32_t)sample->pid, s->clock);
	const struct mapping *code = machine_find_mapping(machine, where.pid, s->clock, cpumode, VA(sample->ip));
	const struct mapping *data = machine_find_mapping(machine, where.pid, s->clock, cpumode, VA(sample->addr));
	bool is_struct = (s->event->attr.sample_type & SAMPLE_WEIGHT_STRUCT) != 0;
	bool by_code = false;
	for (size_t i = 0; i < c->table.key_count; i++)
		by_code = by_code || c->table.keys[i] == C2C_KEY_IADDR;
	struct cache_access access = {
		.address = sample->addr,
		.physical = sample->phys_addr,
		.memory_nodes = memory_nodes_of(perfdata_reader_features(c->source.reader), sample->phys_addr),
		.data_src = sample->data_src,
		.weight = is_struct ? (uint32_t)sample->weight : sample->weight,
		.code = by_code ? sample->ip : 0,
		.pid = (int32_t)sample->pid,
		.tid = (int32_t)sample->tid,
		.cpu = sample->present & SAMPLE_CPU ? sample->cpu : CACHE_NO_CPU,
		.frame = resolver_frame(&c->source.pass.resolver, &where, cpumode, sample->ip),
		.is_mapped = code && data,
		.data_is_mapped = data != NULL,
	};
	cmd_c2c_set_memory(c, &access, data);
	set_keys(c, &access, code);
	size_t before = c->lines.entries.len;
	uint32_t entry;
	if (c->source.pass.resolver.failed || !cache_lines_add(&c->lines, &access, &entry))
		return false;
	if (c->table.chains && !c2c_chains_note(&c->chains, s, &where, entry))
		return false;
	if (c->lines.entries.len == before)
		return true;
	char room[16];
	struct tally_str comm = data_source_comm(&c->source, s, room);
	struct c2c_label label = {.comm = arena_string(&c->arena, comm.data, comm.len)};
	return label.comm && vec_push(&c->labels, label);
}

static const char *cmd_c2c_kept(struct c2c *c)
{
	const char *made =
		c->text.failed ? NULL : arena_string(&c->arena, c->text.data ? c->text.data : "", c->text.len);
	text_clear(&c->text);
	return made;
}

static enum tally_status name_entries(struct c2c *c, struct tally_error *err)
{
	for (size_t i = 0; i < c->lines.entries.len; i++) {
		const struct cache_entry *e = &c->lines.entries.items[i];
		struct c2c_label *label = &c->labels.items[i];
		struct frame_name *name = frame_names_get(&c->source.names, e->frame, err);
		if (!name || (!c->table.without_lines && !frame_names_places(&c->source.names, e->frame, name)))
			return error_nomem(err);
		char level = (char)resolved_frame_get(&c->source.pass.resolver.frames, e->frame).level;
		if (name->symbol)
			text_printf(&c->text, "[%c] %s", level ? level : '.', name->symbol);
		else
			text_printf(&c->text, "[%c] %#.16" PRIx64, level ? level : '.',
				resolved_frame_get(&c->source.pass.resolver.frames, e->frame).address);
		label->symbol = cmd_c2c_kept(c);
		text_bytes(&c->text, name->shown.data, name->shown.len);
		label->object = cmd_c2c_kept(c);
		if (!c->table.without_lines)
			frame_name_line_text(name, false, &c->text);
		label->line = cmd_c2c_kept(c);
		if (!label->symbol || !label->object || !label->line)
			return error_nomem(err);
	}
	return TALLY_OK;
}

static enum tally_status cmd_c2c_read_samples(struct c2c *c, struct tally_error *err)
{
	struct data_sample sample;
	enum tally_status status = cmd_c2c_check_events(c, err);
	if (status == TALLY_OK)
		status = cmd_c2c_read_nodes(c, err);
	if (status != TALLY_OK)
		return status;
	while ((status = data_source_next(&c->source, &sample, err)) == TALLY_OK)
		if (!cmd_c2c_add_sample(c, &sample))
			return error_nomem(err);
	if (status == TALLY_NOMEM)
		return status;
	enum tally_status end = status;
	status = name_entries(c, err);
	if (status == TALLY_OK && c->table.chains)
		status = c2c_chains_finish(&c->chains, &c->lines, err);
	if (status != TALLY_OK)
		return status;
	c->is_read = true;
	return end == TALLY_END ? TALLY_OK : end;
}

static void c2c_deinit(struct c2c *c)
{
	c2c_chains_deinit(&c->chains);
	lbr_stitcher_deinit(&c->stitcher);
	cache_lines_deinit(&c->lines);
	vec_free(&c->labels);
	arena_deinit(&c->arena);
	text_deinit(&c->text);
	free(c->cpu_nodes);
	free(c->nodes);
	free(c->event_names);
	data_source_close(&c->source);
}

static enum tally_status open_and_read(
	const struct cli *cli, const struct cmd_c2c_settings *s, struct c2c *c, struct tally_error *err)
{
	const struct data_input input = {.file = s->input, .symbols = s->symbols, .samples = s->samples};
	enum tally_status status = data_source_open(cli, &input, &c->source, err);
	if (status != TALLY_OK)
		return status;
	uint64_t bytes = perfdata_reader_features(c->source.reader)->cache_line_bytes;
	bool is_power = bytes >= 8 && bytes <= 4096 && !(bytes & (bytes - 1));
	arena_init(&c->arena);
	cache_lines_init(
		&c->lines, &(struct cache_lines_options){(is_power ? bytes : LINE_BYTES) * (s->is_double ? 2 : 1)});
	bool has_chains = s->report.chains.look.style != CHAIN_NONE && !s->only_stats && !s->is_json;
	c->chains = (struct c2c_chains){.source = &c->source,
		.options = s->report.chains.look,
		.is_caller_first = s->report.chains.is_caller_first,
		.is_by_address = s->report.chains.is_by_address};
	c->table.chains =
		has_chains && perfdata_reader_has_samples_with(c->source.reader, SAMPLE_CALLCHAIN | SAMPLE_STACK_USER)
			? &c->chains
			: NULL;
	c->stitcher.register_count = s->stitches ? report_lbr_registers(c->source.reader) : 0;
	if (s->stitches && !c->stitcher.register_count)
		cli_failf(cli, "note: " REPORT_CANNOT_STITCH);
	c->source.pass.resolver.stitcher = c->stitcher.register_count ? &c->stitcher : NULL;
	status = cmd_c2c_read_samples(c, err);
	cli_print_health(cli, &c->source.pass.sideband.health);
	return status;
}

static int cmd_c2c_run_report(const struct cli *cli, const struct cmd_c2c_settings *s)
{
	struct c2c c = {.table = {.node_detail = MIN(s->node_detail, 2),
				.shows_all = s->shows_all,
				.is_double = s->is_double,
				.only_stats = s->only_stats,
				.full_symbols = s->full_symbols,
				.without_lines = s->without_lines}};
	struct tally_error err = {0};
	enum tally_status status = cmd_c2c_read_keys(&c.table, s->coalesce, &err);
	if (status == TALLY_OK)
		status = read_display(&c.table, s->display, &err);
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	status = open_and_read(cli, s, &c, &err);
	if (!c.source.reader)
		return cli_fail(cli, &err);
	if (!s->display)
		c.table.display = usual_display(&c);
	c.table.lines = &c.lines;
	c.table.labels = c.labels.items;
	int code = 0;
	if (c.is_read) {
		struct text out = {0};
		cli_start_pager(cli);
		text_to_fd(&out, STDOUT_FILENO);
		bool is_whole = s->is_json ? c2c_json(&c.table, recording_name(s->input.path), &out)
					   : c2c_text_print(&c.table, &out);
		if (!is_whole)
			status = error_nomem(&err);
		code = cli_finish_text(cli, &out);
		cli_end_pager();
	}
	c2c_deinit(&c);
	return status == TALLY_OK ? code : cli_fail(cli, &err);
}

static const char *const c2c_usages[] = {"{record|report} [<options>]", NULL};
static const char *const c2c_examples[] = {"show the cache lines that CPUs take from each other", "tally c2c report",
	"show the CPUs, too", "tally c2c report -NN", NULL};

static int cmd_c2c_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_c2c_settings settings = {0};
	int rest;
	report_request_init(&settings.report);
	settings.report.chains.look.min_percent = 0;
	if (argc > 1 && cli_is_subverb(argv[1], "record"))
		return memory_record(cli, &(struct memory_record){.is_c2c = true}, argc - 2, argv + 2);
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest >= argc)
		return cli_usagef(cli, command, NULL, "c2c needs a command: record or report");
	if (!cli_is_subverb(argv[rest], "report"))
		return unknown_subcommand(cli, command, argv[rest]);
	if (rest + 1 < argc)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s'", argv[rest + 1]);
	if (settings.is_json && settings.report.chains.are_asked)
		return cli_usagef(cli, command, "json,call-graph", "--json has no call chains: -g does not go with it");
	return cmd_c2c_run_report(cli, &settings);
}

const struct command command_c2c = {
	.name = "c2c",
	.summary = "Shared Data C2C/HITM Analyzer",
	.usages = c2c_usages,
	.options = &c2c_table,
	.description =
		"c2c report shows which cache lines CPUs take from each other, and for each of them at which offsets "
		"and by which code: what false sharing looks like. It needs recorded accesses to memory with their "
		"data sources.",
	.examples = c2c_examples,
	.run = cmd_c2c_run,
};
