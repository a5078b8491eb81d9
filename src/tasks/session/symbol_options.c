/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/symbol_options.h"

#include "tasks/session/reader_styles.h"

#define ROW(member) .offset = offsetof(struct symbol_options, member)

static const char *symbol_options_set_demangle(const struct option_use *use)
{
	struct symbol_options *options = use->settings;
	options->no_demangle = use->is_negated;
	return NULL;
}

static const char *symbol_options_keep_kernel(const struct option_use *use)
{
	return use->is_negated ? "cannot be negated: --no-demangle shows all names as stored" : NULL;
}

/* Only the style "addr2line" runs a program; the others, which are libraries, are replaced by the built-in reader. */
static const char *symbol_options_set_style(const struct option_use *use)
{
	struct symbol_options *options = use->settings;
	struct tally_str first;
	const char *why = addr2line_style_check(use, &first);
	if (!why && str_equal(first, STR("addr2line")) && !options->addr2line)
		options->addr2line = "addr2line";
	return why;
}

static const struct option symbol_rows[] = {
	{"symfs", 0, OPTION_STRING, "directory", ROW(symfs),
		.help = "Look for files with symbols relative to this directory"},
	{"kallsyms", 0, OPTION_STRING, "file", ROW(kallsyms), .help = "kallsyms pathname"},
	{"vmlinux", 'k', OPTION_STRING, "file", ROW(vmlinux), .help = "vmlinux pathname"},
	{"ignore-vmlinux", 0, OPTION_FLAG, ROW(ignore_vmlinux), .help = "don't load vmlinux even if found"},
	{"demangle", 0, OPTION_CALL, .call = symbol_options_set_demangle,
		.help = "Demangle symbols; --no-demangle shows them as stored"},
	{"demangle-kernel", 0, OPTION_CALL, .call = symbol_options_keep_kernel,
		.help = "Enable kernel symbol demangling (always on without --no-demangle)"},
};
const struct option_table symbol_option_table = {symbol_rows, ARRAY_LEN(symbol_rows), false};

static const struct option line_rows[] = {
	{"addr2line", 0, OPTION_STRING, "path", ROW(addr2line),
		.help = "addr2line program for source lines and inlined calls (default: the built-in reader)"},
	{"addr2line-style", 0, OPTION_CALL, "style", .call = symbol_options_set_style,
		.help = "addr2line: run that program for source lines; perf's other styles (libdw,llvm,libbfd) use "
			"the built-in reader"},
};
#undef ROW
const struct option_table line_option_table = {line_rows, ARRAY_LEN(line_rows), false};

int symbol_options_check(const struct cli *cli, const struct symbol_options *options)
{
	return cli_check_program(cli, "--addr2line", options->addr2line);
}

bool symbol_options_are_asked(const struct symbol_options *options)
{
	return options->symfs || options->kallsyms || options->vmlinux || options->ignore_vmlinux ||
	       options->no_demangle || options->addr2line;
}

struct binary_store_options symbol_options_of(
	const struct cli *cli, const struct symbol_options *options, const struct perfdata_reader *reader)
{
	struct binary_store_options store = {.symfs = options->symfs,
		.kallsyms = options->kallsyms,
		.vmlinux = options->vmlinux,
		.ignore_vmlinux = options->ignore_vmlinux,
		.no_demangle = options->no_demangle,
		.line_program = options->addr2line,
		.index_dir = options->ignores_index ? "" : NULL,
		.build_id_dir = cli_build_id_dir(cli, options->symfs)};
	if (reader) {
		const struct perfdata_features *features = perfdata_reader_features(reader);
		store.kernel_release = &features->osrelease;
		store.cpu_id = features->cpuid;
		store.pack = features->raw[FEATURE_PACK];
		store.recorded_ns = perfdata_reader_layout(reader).mtime_ns;
		/* The clock of the recording is related to the time of day: by the recorder's clock data, or by the
		 * last sample and the modification time of the file. */
		if (feature_is_present(features, FEATURE_CLOCK_DATA) &&
			!feature_is_damaged(features, FEATURE_CLOCK_DATA)) {
			store.recorded_to_file_ns = (int64_t)(features->wall_clock_ns - features->clockid_time_ns);
			store.is_clock_exact = true;
		} else if (feature_is_present(features, FEATURE_SAMPLE_TIME) && store.recorded_ns > 0 &&
			   features->last_sample_time_ns > 0) {
			store.recorded_to_file_ns = (int64_t)(store.recorded_ns - features->last_sample_time_ns);
		}
	}
	return store;
}
