/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/code_options.h"

#include <string.h>

#include "tasks/listing/annotate_objdump.h"

#define ROW(member) .offset = offsetof(struct code_options, member)

static const char *code_options_set_source(const struct option_use *use)
{
	struct code_options *options = use->settings;
	options->hides_source = use->is_negated;
	options->source_is_asked = true;
	return NULL;
}

static const char *code_options_set_strip(const struct option_use *use)
{
	struct code_options *options = use->settings;
	options->has_strip = true;
	return str_to_u64(str_from(use->value), 0, &options->strip) && options->strip <= UINT32_MAX
		       ? NULL
		       : "expects a number of path components";
}

static const char *code_options_set_percent(const struct option_use *use)
{
	static const struct {
		const char *name;
		enum annotate_percent percent;
	} types[] = {{"local-period", ANNOTATE_LOCAL_PERIOD}, {"period-local", ANNOTATE_LOCAL_PERIOD},
		{"global-period", ANNOTATE_GLOBAL_PERIOD}, {"period-global", ANNOTATE_GLOBAL_PERIOD},
		{"local-hits", ANNOTATE_LOCAL_HITS}, {"hits-local", ANNOTATE_LOCAL_HITS},
		{"global-hits", ANNOTATE_GLOBAL_HITS}, {"hits-global", ANNOTATE_GLOBAL_HITS}};
	struct code_options *options = use->settings;
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (strcmp(use->value, types[i].name) != 0)
			continue;
		options->percent = types[i].percent;
		return NULL;
	}
	return "takes local-period, global-period, local-hits or global-hits";
}

static const struct option code_rows[] = {
	{"objdump", 0, OPTION_STRING, "path", ROW(objdump),
		.help = "objdump program to disassemble with (default: the built-in disassembler)"},
	{"disassembler-style", 'M', OPTION_STRING, "style", ROW(style),
		.help = "syntax of the disassembly: intel or att; with --objdump, any that it knows"},
	{"source", 0, OPTION_CALL, .call = code_options_set_source,
		.help = "Interleave source with instructions (default; --no-source turns it off)"},
	{"asm-raw", 0, OPTION_FLAG, ROW(shows_bytes), .help = "Display the bytes of instructions"},
	{"prefix", 0, OPTION_STRING, "prefix", ROW(prefix),
		.help = "Add prefix to source file path names in programs (with --prefix-strip)"},
	{"prefix-strip", 0, OPTION_CALL, "N", .call = code_options_set_strip,
		.help = "Strip first N entries of source file path name in programs (with --prefix)"},
	{"percent-type", 0, OPTION_CALL, "type", .call = code_options_set_percent,
		.help = "what the percentages of instructions refer to: local-period, global-period, local-hits or "
			"global-hits"},
};
#undef ROW
const struct option_table code_option_table = {code_rows, ARRAY_LEN(code_rows), false};

int code_options_check(const struct cli *cli, const struct code_options *options)
{
	if (options->has_strip && !options->prefix)
		return cli_failf(cli, "--prefix-strip goes with --prefix");
	return disassembly_style_check(cli, options->style, options->objdump);
}

bool code_options_are_intel(const struct code_options *options)
{
	return options->style && strcmp(options->style, "intel") == 0;
}
