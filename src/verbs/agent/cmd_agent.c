/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "tasks/fleet/destinations.h"
#include "tasks/recording/record_freq.h"
#include "tasks/recording/target_options.h"
#include "tasks/session/record_words.h"
#include "verbs/agent/agent_run.h"

/* A prime number, so that samples are not in step with activity at ten or a hundred times per second. */
#define FREQUENCY	 "19"
#define WINDOW_DEFAULT_S 10
#define WINDOW_MAX_S	 3600
#define CPU_DEFAULT	 0.01
#define BYTES_DEFAULT	 (100ull << 20)
#define QUEUE_DEFAULT	 (256ull << 20)

static const char *set_label(const struct option_use *use)
{
	struct agent_settings *s = use->settings;
	struct tally_str rest = str_from(use->value), name;
	if (!memchr(rest.data, '=', rest.len) || !str_next(&rest, '=', &name))
		return "expects NAME=VALUE";
	if (!label_name_is_valid(name))
		return "takes names of letters, digits and '_' that begin with no digit";
	if (!label_value_is_valid(rest))
		return "takes values of UTF-8 without control characters, at most 1024 bytes";
	return vec_push(&s->labels, ((struct fleet_label){name, rest})) ? NULL : "cannot be kept: out of memory";
}

static const char *cmd_agent_set_size(const char *text, uint64_t *bytes)
{
	bool has_unit;
	return record_size_parse(text, bytes, &has_unit) && has_unit && *bytes ? NULL
									       : "expects a size with B, K, M or G";
}

static const char *set_max_memory(const struct option_use *use)
{
	struct agent_settings *s = use->settings;
	return cmd_agent_set_size(use->value, &s->max_bytes);
}

static const char *set_queue_size(const struct option_use *use)
{
	struct agent_settings *s = use->settings;
	return cmd_agent_set_size(use->value, &s->queue_bytes);
}

static const char *set_max_cpu(const struct option_use *use)
{
	struct agent_settings *s = use->settings;
	char *end;
	double percent = isdigit((unsigned char)use->value[0]) ? strtod(use->value, &end) : 0;
	if (percent <= 0 || percent > 100000 || (*end && strcmp(end, "%") != 0))
		return "expects a percentage of one CPU, such as 1 or 0.5";
	s->max_cpu = percent / 100;
	return NULL;
}

static const char *cmd_agent_set_call_graph(const struct option_use *use)
{
	struct agent_settings *s = use->settings;
	struct option_use own = *use;
	own.settings = &s->record;
	return record_set_call_graph(&own);
}

#define AT(member) .offset = offsetof(struct agent_settings, member)

static const struct option agent_options[] = {
	{"to", 0, OPTION_STRING, "url|folder", AT(to),
		.help = "where batches go: a server (tally serve, http://host:7779), a collector of OpenTelemetry "
			"(otlp+http://host:4318), Pyroscope (pyroscope+http://host:4040), Parca "
			"(parca+http://host:7070), or a folder"},
	{"label", 0, OPTION_CALL, "name=value", .call = set_label,
		.help = "label all samples, for example with a region or a release (any number of times)"},
	{"window", 0, OPTION_U64, "seconds", AT(window_s), .help = "seconds of samples in a batch (10)"},
	{"freq", 'F', OPTION_STRING, "freq", AT(record.freq_text),
		.help = "samples per second on each CPU that is not idle (" FREQUENCY ")"},
	TARGET_OPTIONS(struct agent_settings, record.target),
	{"uid", 'u', OPTION_STRING, "user", AT(record.target.user),
		.help = "measure this user's processes, and those that they start"},
	{"call-graph", 0, OPTION_CALL, "mode", .call = cmd_agent_set_call_graph, .is_self_explaining = true,
		.help = "how call chains are recorded: auto (the best that is possible), bpf, dwarf or fp (auto)"},
	{"no-wait", 0, OPTION_FLAG, AT(no_waits),
		.help = "do not measure how long and where threads wait (done by default where BPF is allowed)"},
	{"no-inline", 0, OPTION_FLAG, AT(no_inline),
		.help = "do not read debug information: no inlined calls and no source lines"},
	{"max-cpu", 0, OPTION_CALL, "percent", .call = set_max_cpu,
		.help = "sample less rather than use more of one CPU than this (1)"},
	{"max-memory", 0, OPTION_CALL, "size", .call = set_max_memory,
		.help = "sample less rather than use more memory than this (100M)"},
	{"queue", 0, OPTION_STRING, "folder", AT(queue),
		.help = "where batches wait until the server has them (/var/lib/tally-agent/queue, or below "
			"~/.local/state without root)"},
	{"queue-size", 0, OPTION_CALL, "size", .call = set_queue_size,
		.help = "drop the oldest batches rather than let the queue become larger (256M)"},
	{"token-file", 0, OPTION_STRING, "file", AT(token_file),
		.help = "file whose first line is the token for the server (default: the variable TALLY_TOKEN)"},
	{"ca-file", 0, OPTION_STRING, "file", AT(ca_file),
		.help = "file of the certificates to trust for https, in place of the system's"},
};
#undef AT
static const struct option_table agent_table = {agent_options, ARRAY_LEN(agent_options), false};
static const char *const agent_usages[] = {"--to <url|folder> [<options>]", NULL};
static const char *const agent_examples[] = {"send profiles of this machine to a server",
	"tally agent --to http://profiles.example.com:7779 --label region=eu",
	"write batches into a folder, to send them later with push", "tally agent --to batches --window 60", NULL};

static int cmd_agent_complete(const struct cli *cli, const struct command *command, struct agent_settings *s)
{
	struct record_settings *r = &s->record;
	struct destination server;
	char shown[URL_SHOWN_BYTES];
	if (!s->to)
		return cli_usagef(cli, command, "to", "--to is missing: the URL of a server, or a folder");
	if (strstr(s->to, "://") && !destination_find(s->to, &server))
		return cli_usagef(cli, command, "to", "'%s' is no URL of a server: it begins with " DESTINATION_FORMS,
			url_shown(s->to, shown));
	if (s->window_s < 1 || s->window_s > WINDOW_MAX_S)
		return cli_failf(cli, "--window takes seconds, 1 to %d", WINDOW_MAX_S);
	if (!r->freq_text)
		r->freq_text = FREQUENCY;
	if (r->chains.mode == CALLGRAPH_NONE)
		r->chains.mode = CALLGRAPH_AUTO;
	const struct record_event_word word = {
		RECORD_WORD_EVENT, "cpu-clock/name=cpu-clock/I"}; /* The modifier I excludes idle CPUs. */
	if (!vec_push(&r->event_words, word))
		return cli_failf(cli, "out of memory");
	r->fields.cgroups = true;
	return 0;
}

static char **cmd_agent_copy_command_line(const char *program, int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 2, sizeof(*copy));
	if (!copy)
		return NULL;
	copy[0] = (char *)program;
	for (int i = 0; i < argc; i++)
		copy[i + 1] = argv[i];
	return copy;
}

static int cmd_agent_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct agent_settings settings = {.record = record_settings_default(),
		.window_s = WINDOW_DEFAULT_S,
		.max_cpu = CPU_DEFAULT,
		.max_bytes = BYTES_DEFAULT,
		.queue_bytes = QUEUE_DEFAULT};
	struct agent_run_request request = {
		.cli = cli, .command = command, .kernel = kernel_seam_linux(), .settings = &settings};
	int rest;
	char **words = cmd_agent_copy_command_line(cli->program, argc, argv);
	if (!words)
		return cli_failf(cli, "out of memory");
	request.argv = words;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code == CLI_GO_ON && rest < argc)
		code = cli_usagef(cli, command, NULL, "unexpected argument '%s'", argv[rest]);
	if (code == CLI_GO_ON) {
		code = cmd_agent_complete(cli, command, &settings);
		if (code == 0)
			code = record_freq_find(request.kernel, &settings.record, &settings.rate);
		if (code == 0)
			code = agent_run(&request);
	}
	vec_free(&settings.labels);
	record_settings_deinit(&settings.record);
	free(words);
	return code;
}

const struct command command_agent = {
	.name = "agent",
	.summary = "Sample this machine for a store of profiles.",
	.usages = agent_usages,
	.options = &agent_table,
	.description =
		"Samples all CPUs at a low frequency for as long as it runs. Every ten seconds, it makes a batch "
		"of the samples, by process, thread and call chain, with labels: host, kernel, CPU model, service, "
		"systemd unit, container and pod. Where BPF programs are allowed, the batch also says how long and "
		"where threads waited.\n\n"
		"With a URL, batches wait in a queue on disk until the server has them. With a folder, "
		"each "
		"batch becomes a file, which push sends later.\n\n"
		"The agent measures what it costs. It samples less if it uses more than one percent of a CPU or "
		"100 MB of memory, and says so. If the kernel does not allow measuring all CPUs, your own processes "
		"are sampled, and the reason is reported. SIGTERM ends it after the last batch.",
	.examples = agent_examples,
	.run = cmd_agent_run,
};
