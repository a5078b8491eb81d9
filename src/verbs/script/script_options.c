/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_options.h"

#include <string.h>

#include "base/array.h"
#include "tasks/session/reader_styles.h"

#define ROW(member) .offset = offsetof(struct script_settings, member)

static const char *script_options_set_inline(const struct option_use *use)
{
	((struct script_settings *)use->settings)->no_inline = use->is_negated;
	return NULL;
}

static const char *set_merging(const struct option_use *use)
{
	((struct script_settings *)use->settings)->keeps_deferred = use->is_negated;
	return NULL;
}

static const char *choose_fields(const struct option_use *use)
{
	struct script_settings *settings = use->settings;
	return script_fields_apply(&settings->fields, use->value, use->room, use->room_bytes);
}

/* Implements the --call-trace family by selecting columns. As in perf, recorded samples have the columns too, not
 * only those decoded from a trace. */
static const char *show_trace(const struct option_use *use, const char *name, const char *fields)
{
	struct script_settings *settings = use->settings;
	if (use->is_negated)
		return "cannot be negated";
	settings->traces.decoding = name;
	settings->ns = true;
	return script_fields_apply(&settings->fields, fields, use->room, use->room_bytes);
}

static const char *show_calls(const struct option_use *use)
{
	return show_trace(use, "--call-trace", "-ip,-addr,-event,-period,+callindent");
}

static const char *show_calls_and_returns(const struct option_use *use)
{
	return show_trace(use, "--call-ret-trace", "-ip,-addr,-event,-period,+callindent,+flags");
}

static const char *show_instructions(const struct option_use *use)
{
	if (!use->value || !strcmp(use->value, "raw"))
		return show_trace(use, "--insn-trace", "+insn,-event,-period");
	if (!strcmp(use->value, "disasm"))
		return show_trace(use, "--insn-trace", "+disasm,-event,-period");
	return "expects raw or disasm";
}

static const char *add_filter_argument(const struct option_use *use)
{
	struct script_settings *settings = use->settings;
	return vec_push(&settings->dlfilter.arguments, (char *)(uintptr_t)use->value) ? NULL : "out of memory";
}

static const struct option script_options_options[] = {
	INPUT_OPTIONS(struct script_settings, input),
	{.name = "fields",
		.letter = 'F',
		.kind = OPTION_CALL,
		.argument = "str",
		.call = choose_fields,
		.is_self_explaining = true,
		.help = "comma separated output fields prepend with 'type:'. +field to add and -field to remove. "
			"Valid types: hw, sw, trace, raw, break, synth. Fields: " SCRIPT_FIELD_LIST},
	{.name = "json",
		.kind = OPTION_FLAG,
		ROW(is_json),
		.help = "print the samples as JSON (docs/schema/script.json)"},
	{.name = "hide-call-graph",
		.letter = 'G',
		.kind = OPTION_FLAG,
		ROW(fields.hides_chains),
		.help = "When printing symbols do not display call chain"},
	SAMPLE_OPTIONS(struct script_settings, filter.samples),
	DEBUGINFOD_OPTIONS(struct script_settings, debuginfod),
	{.name = "all-cpus",
		.letter = 'a',
		.kind = OPTION_FLAG,
		ROW(all_cpus),
		.help = "system-wide collection from all CPUs: for scripts that record, which are not run here"},
	/* This option has no letter, because -d is --debug-mode. */
	{.name = "dsos",
		.kind = OPTION_STRING,
		.argument = "dso[,dso...]",
		ROW(filter.samples.filters.dsos),
		.help = "only samples in these DSOs (file://FILE lists them, one per line)"},
	{.name = "symbols",
		.letter = 'S',
		.kind = OPTION_STRING,
		.argument = "symbol[,symbol...]",
		ROW(filter.samples.filters.symbols),
		.help = "only consider these symbols, or addresses in hex"},
	PLACE_OPTIONS(struct script_settings, filter.samples),
	{.name = "addr-range",
		.kind = OPTION_U64,
		.argument = "n",
		ROW(filter.address_range),
		.help = "Use with -S to list traced records within address range"},
	{.name = "switch-on",
		.kind = OPTION_STRING,
		.argument = "event",
		ROW(filter.switch_on),
		.help = "Consider events after the occurrence of this event"},
	{.name = "switch-off",
		.kind = OPTION_STRING,
		.argument = "event",
		ROW(filter.switch_off),
		.help = "Stop considering events after the occurrence of this event"},
	{.name = "show-on-off-events",
		.kind = OPTION_FLAG,
		ROW(filter.shows_switches),
		.help = "Show the on/off switch events, used with --switch-on and --switch-off"},
	{.name = "max-events",
		.kind = OPTION_U64,
		.argument = "n",
		ROW(max_events),
		.help = "Stop after that many samples have been printed"},
	{.name = "max-blocks",
		.kind = OPTION_U64,
		.argument = "n",
		ROW(max_blocks),
		.help = "With brstackinsn, print at most this many blocks of each sample"},
	{.name = "stop-bt",
		.kind = OPTION_STRING,
		.argument = "symbol[,symbol...]",
		ROW(stop_symbols),
		.help = "Stop display of callgraph at these symbols"},
	{.name = "per-event-dump",
		.kind = OPTION_FLAG,
		ROW(per_event_dump),
		.help = "Dump trace output to files named by the monitored events"},
	{.name = "list",
		.letter = 'l',
		.kind = OPTION_FLAG,
		ROW(list),
		.help = "list the scripts of an installed perf"},
	{.name = "max-stack",
		.kind = OPTION_U64,
		.argument = "n",
		ROW(max_stack),
		.help = "Set the maximum stack depth when parsing the callchain. Default: kernel.perf_event_max_stack "
			"or 127"},
	{.name = "show-kernel-path",
		.kind = OPTION_FLAG,
		ROW(show_kernel_path),
		.help = "Show the path of [kernel.kallsyms]"},
	{.name = "ns", .kind = OPTION_FLAG, ROW(ns), .help = "Use 9 decimal places when displaying time"},
	{.name = "reltime", .kind = OPTION_FLAG, ROW(reltime), .help = "Show time stamps relative to start"},
	{.name = "deltatime",
		.kind = OPTION_FLAG,
		ROW(deltatime),
		.help = "Show time stamps relative to previous event"},
	SYMBOL_OPTIONS(struct script_settings, symbols),
	LINE_OPTIONS(struct script_settings, symbols),
	{.name = "stitch-lbr",
		.kind = OPTION_FLAG,
		ROW(stitches),
		.help = "extend LBR call stacks: take callers that the CPU's registers no longer held from earlier "
			"samples"},
	{.name = "inline",
		.kind = OPTION_CALL,
		.call = script_options_set_inline,
		.help = "Show inlined calls (on; --no-inline: off)"},
	{.name = "full-source-path",
		.kind = OPTION_FLAG,
		ROW(full_source_path),
		.help = "Show source lines with the whole path"},
	{.name = "show-task-events", .kind = OPTION_FLAG, ROW(show_task), .help = "Show the fork/comm/exit events"},
	{.name = "show-mmap-events", .kind = OPTION_FLAG, ROW(show_mmap), .help = "Show the mmap events"},
	{.name = "show-switch-events",
		.kind = OPTION_FLAG,
		ROW(show_switch),
		.help = "Show context switch events (if recorded)"},
	{.name = "show-namespace-events",
		.kind = OPTION_FLAG,
		ROW(show_namespace),
		.help = "Show namespace events (if recorded)"},
	{.name = "show-cgroup-events",
		.kind = OPTION_FLAG,
		ROW(show_cgroup),
		.help = "Show cgroup events (if recorded)"},
	{.name = "show-lost-events", .kind = OPTION_FLAG, ROW(show_lost), .help = "Show lost events (if recorded)"},
	{.name = "show-round-events", .kind = OPTION_FLAG, ROW(show_round), .help = "Show round events (if recorded)"},
	{.name = "show-bpf-events",
		.kind = OPTION_FLAG,
		ROW(show_bpf),
		.help = "Show bpf related events (if recorded)"},
	{.name = "show-text-poke-events",
		.kind = OPTION_FLAG,
		ROW(show_text_poke),
		.help = "Show text poke related events (if recorded)"},
	{.name = "dump-raw-trace", .letter = 'D', .kind = OPTION_FLAG, ROW(dump), .help = "dump raw trace in ASCII"},
	{.name = "dump-unsorted-raw-trace",
		.kind = OPTION_FLAG,
		ROW(dump_unsorted),
		.help = "dump unsorted raw trace in ASCII"},
	{.name = "header", .kind = OPTION_FLAG, ROW(header), .help = "Show data header"},
	{.name = "header-only", .kind = OPTION_FLAG, ROW(header_only), .help = "Show only data header"},
	{.name = "show-info",
		.letter = 'I',
		.kind = OPTION_FLAG,
		ROW(full_info),
		.help = "with the header, topology and caches too"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		ROW(verbose),
		.help = "report what was lost or left out"},
	{.name = "Latency",
		.letter = 'L',
		.kind = OPTION_FLAG,
		ROW(latency),
		.help = "show latency attributes (irqs/preemption disabled, etc): narrow columns of commands and CPUs"},
	{.name = "script",
		.letter = 's',
		.kind = OPTION_STRING,
		.argument = "[lang:]script",
		ROW(script),
		.help = "run a Python script on the events; its arguments follow the options"},
	{.name = "gen-script",
		.letter = 'g',
		.kind = OPTION_STRING,
		.argument = "lang|file.py",
		ROW(gen_script),
		.help = "write perf-script.py, or that file, with a handler for each tracepoint (lang: python)"},
	{.name = "debug-mode",
		.letter = 'd',
		.kind = OPTION_FLAG,
		ROW(only_checks),
		.help = "print no samples, but check the order of their times and report losses"},
	TRACE_OPTIONS(struct script_settings, traces),
	{.name = "insn-trace",
		.kind = OPTION_CALL,
		.argument = "raw|disasm",
		.argument_is_optional = true,
		.call = show_instructions,
		.help = "of samples (no hardware trace is decoded): --ns -F +insn,-event,-period, or +disasm"},
	{.name = "dlfilter",
		.kind = OPTION_STRING,
		.argument = "file.so",
		ROW(dlfilter.path),
		.help = "filter samples by a shared object, as perf-dlfilter(1) has it"},
	{.name = "xed", .kind = OPTION_UNSUPPORTED},
	{.name = "graph-function", .kind = OPTION_UNSUPPORTED},
	{.name = "merge-callchains",
		.kind = OPTION_CALL,
		.call = set_merging,
		.help = "Merge user call chains that the kernel stored later into their samples (default; "
			"--no-merge-callchains shows them as separate rows)"},
	{.name = "unwind-style",
		.kind = OPTION_CALL,
		.argument = "style",
		.call = unwind_style_check,
		.help = UNWIND_STYLE_HELP},
	{.name = "call-ret-trace",
		.kind = OPTION_CALL,
		.call = show_calls_and_returns,
		.help = "of samples (no hardware trace is decoded): --call-trace with flags"},
	{.name = "call-trace",
		.kind = OPTION_CALL,
		.call = show_calls,
		.help = "of samples (no hardware trace is decoded): --ns -F -ip,-addr,-event,-period,+callindent"},
	{.name = "dlarg",
		.kind = OPTION_CALL,
		.argument = "argument",
		.call = add_filter_argument,
		.help = "an argument for the filter; may be repeated"},
	GUEST_OPTIONS(struct script_settings, traces),
	{.name = "list-dlfilters",
		.kind = OPTION_FLAG,
		ROW(list_dlfilters),
		.help = "list the filters of this folder and of perf's folder; with -v, with their descriptions"},
};
#undef ROW
const struct option_table script_option_table = {script_options_options, ARRAY_LEN(script_options_options), true};
