/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/encode.h"
#include "analysis/inject/inject.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "perfdata/feature_encode.h"
#include "tasks/recording/record_for_verb.h"
#include "tasks/session/data_source.h"
#include "tasks/session/reader_styles.h"
#include "tasks/session/stack_chains.h"
#include "tasks/session/stack_notes.h"
#include "tasks/session/stream_output.h"
#include "tasks/session/trace_options.h"
#include "verbs/inject/inject_aslr.h"
#include "verbs/inject/inject_build_ids.h"
#include "verbs/inject/inject_jit.h"

struct cmd_inject_settings {
	struct input_options input;
	const char *output, *known_ids;
	struct symbol_options symbols;
	bool sort, sched_stat, strip;
	bool convert, jit, aslr;
	struct trace_options traces;
	bool ids_of_hits, ids_of_all, mmaps_of_hits, mmaps_of_all;
	unsigned verbose;
};

#define ROW(member) .offset = offsetof(struct cmd_inject_settings, member)

static const struct option inject_options[] = {
	{.name = "build-ids",
		.letter = 'b',
		.kind = OPTION_FLAG,
		ROW(ids_of_hits),
		.help = "Inject build-ids into the output stream"},
	{.name = "mmap2-buildids",
		.letter = 'B',
		.kind = OPTION_FLAG,
		ROW(mmaps_of_hits),
		.help = "Drop unused mmap events, make others mmap2 with build IDs"},
	{.name = "input",
		.letter = 'i',
		.kind = OPTION_STRING,
		.argument = "file",
		ROW(input.path),
		.help = "input file name (default: standard input)"},
	INPUT_OPTIONS(struct cmd_inject_settings, input),
	{.name = "jit",
		.letter = 'j',
		.kind = OPTION_FLAG,
		ROW(jit),
		.help = "merge jitdump files into the recording: write an ELF file for each function next to the "
			"dump, and mappings of these files"},
	{.name = "output",
		.letter = 'o',
		.kind = OPTION_STRING,
		.argument = "file",
		ROW(output),
		.help = "output file name (default: standard output)"},
	{.name = "sort", .kind = OPTION_FLAG, ROW(sort), .help = "put the records into order of time"},
	{.name = "strip", .kind = OPTION_FLAG, ROW(strip), .help = "omit AUX data and the records that describe it"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		ROW(verbose),
		.help = "be more verbose (show build ids, etc)"},
	{.name = "vmlinux",
		.letter = 'k',
		.kind = OPTION_STRING,
		.argument = "file",
		ROW(symbols.vmlinux),
		.help = "vmlinux pathname: the kernel's build-id is that of this file"},
	{.name = "kallsyms",
		.kind = OPTION_STRING,
		.argument = "file",
		ROW(symbols.kallsyms),
		.help = "kallsyms pathname: the kernel is another than the running one"},
	{.name = "demangle", .kind = OPTION_UNSUPPORTED, .refusal = "inject writes addresses, not names"},
	{.name = "demangle-kernel", .kind = OPTION_UNSUPPORTED, .refusal = "inject writes addresses, not names"},
	SYMBOL_OPTIONS(struct cmd_inject_settings, symbols),
	{.name = "buildid-all",
		.kind = OPTION_FLAG,
		ROW(ids_of_all),
		.help = "Inject build-ids of all DSOs into the output stream"},
	{.name = "known-build-ids",
		.kind = OPTION_STRING,
		.argument = "buildid path [,buildid path...]",
		ROW(known_ids),
		.help = "build-ids to use for given paths, or file://NAME with a line for each"},
	{.name = "mmap2-buildid-all",
		.kind = OPTION_FLAG,
		ROW(mmaps_of_all),
		.help = "Rewrite all mmap events as mmap2 events with build IDs"},
	{.name = "sched-stat",
		.letter = 's',
		.kind = OPTION_FLAG,
		ROW(sched_stat),
		.help = "Merge sched-stat and sched-switch for getting events where and how long tasks slept"},
	{.name = "convert-callchain",
		.kind = OPTION_FLAG,
		ROW(convert),
		.help = "Replace the registers and stack dumps of --call-graph dwarf with call chains"},
	{.name = "aslr",
		.kind = OPTION_FLAG,
		ROW(aslr),
		.help = "replace all addresses, so that the recording does not reveal where anything was mapped"},
	{.name = "guest-data", .kind = OPTION_UNSUPPORTED},
	GUEST_OPTIONS(struct cmd_inject_settings, traces),
	TRACE_OPTIONS(struct cmd_inject_settings, traces),
	{.name = "unwind-style",
		.kind = OPTION_CALL,
		.argument = "style",
		.call = unwind_style_check,
		.help = UNWIND_STYLE_HELP},
	{.name = "vm-time-correlation", .kind = OPTION_UNSUPPORTED},
};
#undef ROW
static const struct option_table inject_table = {inject_options, ARRAY_LEN(inject_options), false};
static const char *const inject_usages[] = {"[<options>]", NULL};
static const char *const inject_examples[] = {
	"store a piped recording as a file",
	"tally inject -i piped.data -o perf.data",
	"decompress a recording and sort it by time",
	"tally inject --sort -i packed.data -o plain.data",
	NULL,
};

struct inject {
	struct data_input input;
	struct data_source source;
	struct stack_chains chains; /* Belongs to source. */
	struct inject_survey survey;
	bool has_survey;
	struct inject_ids ids;
	struct perfdata_features features; /* The features to be written. */
	struct inject_mmaps mmaps;
	struct inject_sched *sched;
	struct inject_jit jit;
	struct inject_aslr aslr;
	struct writer section, records; /* Build IDs for the header section, and as records before the first sample. */
};

static const char *missing_file(const struct cmd_inject_settings *settings)
{
	if (settings->symbols.vmlinux && !file_exists(settings->symbols.vmlinux))
		return settings->symbols.vmlinux;
	return settings->symbols.kallsyms && !file_exists(settings->symbols.kallsyms) ? settings->symbols.kallsyms
										      : NULL;
}

static void cmd_inject_print_result(const struct cli *cli, const struct inject_result *result, unsigned left_out)
{
	if (result->late)
		cli_failf(cli, "%s: %llu records came a round too late to be sorted by time", cli->program,
			(unsigned long long)result->late);
	if (left_out)
		cli_failf(
			cli, "%s: %u header sections do not fit into a pipe, and are left out", cli->program, left_out);
}

static bool wants_mmaps(const struct cmd_inject_settings *settings)
{
	bool wants_records = settings->ids_of_hits || settings->ids_of_all;
	return !wants_records && (settings->mmaps_of_hits || settings->mmaps_of_all);
}

static enum inject_survey_depth depth_of(const struct cmd_inject_settings *settings)
{
	if (settings->ids_of_all || (wants_mmaps(settings) && settings->mmaps_of_all))
		return INJECT_SURVEY_FILES;
	return settings->ids_of_hits || settings->mmaps_of_hits ? INJECT_SURVEY_HITS : INJECT_SURVEY_RECORDS;
}

/* Updates the header's sections that change. */
static void renew_sections(struct inject *in, bool with_build_ids, bool strip)
{
	in->features = *perfdata_reader_features(in->source.reader);
	if (strip)
		feature_leave_out(&in->features, FEATURE_AUXTRACE);
	if (!with_build_ids)
		return;
	in->features.build_ids = in->ids.listed.items;
	in->features.build_id_count = in->ids.listed.len;
	in->features.present[0] |= UINT64_C(1) << FEATURE_BUILD_ID;
	in->section.swap = perfdata_reader_is_swapped(in->source.reader);
	feature_encode(&in->section, FEATURE_BUILD_ID, &in->features);
	in->features.raw[FEATURE_BUILD_ID] = writer_view(&in->section);
}

static void put_records(const struct cli *cli, struct inject *in, unsigned verbose)
{
	in->records.swap = perfdata_reader_is_swapped(in->source.reader);
	for (size_t i = 0; i < in->ids.hits.len; i++) {
		const struct perfdata_build_id *hit = &in->ids.hits.items[i];
		struct record_fields fields = {.type = RECORD_HEADER_BUILD_ID};
		if (hit->size == 0)
			continue;
		fields.build_id.pid = hit->pid;
		fields.build_id.size = hit->size;
		memcpy(fields.build_id.bytes, hit->bytes, sizeof(hit->bytes));
		fields.build_id.filename = hit->filename;
		if (record_encode(&in->records, &fields, hit->misc, NULL, NULL) && verbose)
			cli_failf(cli, "build id injected for %.*s", (int)hit->filename.len, hit->filename.data);
	}
}

static bool list_mmaps(struct inject *in)
{
	for (size_t i = 0; i < in->ids.hits.len; i++) {
		const struct perfdata_build_id *hit = &in->ids.hits.items[i];
		struct record_build_id id = {.size = hit->size};
		uint32_t index;
		memcpy(id.bytes, hit->bytes, sizeof(id.bytes));
		if (!intern_add(&in->mmaps.paths, hit->filename.data, hit->filename.len, &index))
			return false;
		if (index == in->mmaps.ids.len && !vec_push(&in->mmaps.ids, id))
			return false;
	}
	return true;
}

/* Determines the build IDs and where they are written: to records, mappings or the header. */
static enum tally_status cmd_inject_prepare(
	const struct cli *cli, const struct cmd_inject_settings *settings, struct inject *in, struct tally_error *err)
{
	struct inject_ids_request request = {
		.known = settings->known_ids,
		.vmlinux = settings->symbols.ignore_vmlinux ? NULL : settings->symbols.vmlinux,
		.kernel_is_foreign = settings->symbols.kallsyms != NULL,
	};
	enum tally_status status = inject_survey_read(in->source.reader, depth_of(settings), &in->survey, err);
	in->has_survey = status == TALLY_OK;
	if (status == TALLY_OK)
		status = inject_ids_read(in->source.reader, &in->survey, &request, &in->ids, err);
	if (status != TALLY_OK)
		return status;
	size_t listed_before = perfdata_reader_features(in->source.reader)->build_id_count;
	renew_sections(in, settings->known_ids || in->ids.listed.len != listed_before, settings->strip);
	if (settings->ids_of_hits || settings->ids_of_all)
		put_records(cli, in, settings->verbose);
	in->mmaps.drop_others = !settings->mmaps_of_all;
	if (wants_mmaps(settings) && !list_mmaps(in))
		return error_nomem(err);
	return in->section.failed || in->records.failed ? error_nomem(err) : TALLY_OK;
}

/* Stores the call chain of each sample. */
static enum tally_status note_chains(struct inject *in, struct tally_error *err)
{
	struct resolver *resolver = &in->source.pass.resolver;
	struct data_sample s;
	enum tally_status status;
	while ((status = data_source_next(&in->source, &s, err)) == TALLY_OK) {
		int32_t pid = s.sample.present & SAMPLE_TID ? (int32_t)s.sample.pid : -1;
		struct resolve_where where = resolver_where(resolver, pid, s.clock);
		struct sample_array whole = resolver_sample_chain(resolver, &where, &s.event->layout, &s.sample);
		stack_chains_note(&in->chains, &s.record, &whole, sample_has_stack(&s.sample));
		if (resolver->failed || in->chains.failed)
			return error_nomem(err);
	}
	/* A truncated recording is copied as far as it can be read. */
	return status == TALLY_NOMEM ? status : TALLY_OK;
}

/* Stacks that record has unwound are call chains already, so the records are not changed. */
static enum tally_status copy_chains(const struct cli *cli, struct inject *in, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(in->source.reader, &count);
	for (size_t i = 0; i < count; i++) {
		if (!(events[i].attr.sample_type & SAMPLE_CALLCHAIN))
			continue;
		cli_notef(cli, "no sample has a stack dump: its call chains are kept as they are");
		perfdata_reader_rewind(in->source.reader);
		return TALLY_OK;
	}
	return error_set(err, TALLY_INVALID,
		"--convert-callchain needs stack dumps, and this recording has neither them nor call chains: record "
		"--call-graph dwarf");
}

static enum tally_status convert_chains(
	const struct cli *cli, const struct cmd_inject_settings *settings, struct inject *in, struct tally_error *err)
{
	if (perfdata_reader_is_pipe(in->source.reader) && stream_output_is_named(settings->output))
		return error_set(err, TALLY_UNSUPPORTED,
			"--convert-callchain writes a file when it reads a pipe: name the file with -o");
	enum tally_status status = data_source_read(cli, &in->input, &in->source, err);
	if (status != TALLY_OK)
		return status;
	status = stack_chains_init(&in->chains, in->source.reader, STACK_CHAINS_ALONE, err);
	if (status == TALLY_OK && !stack_chains_are_made(&in->chains))
		return copy_chains(cli, in, err);
	if (status == TALLY_OK)
		status = note_chains(in, err);
	stack_notes_print(cli, &in->source.pass.unwinder.ends);
	stack_chains_features(&in->chains, &in->features);
	perfdata_reader_rewind(in->source.reader);
	return status == TALLY_OK && in->chains.failed ? error_nomem(err) : status;
}

static enum inject_change convert_record(void *context, const struct record *record, struct writer *out)
{
	struct inject *in = context;
	return record->type == RECORD_SAMPLE ? stack_chains_sample(&in->chains, record, record->bytes, out)
					     : INJECT_KEPT;
}

static enum tally_status move_addresses(
	const struct cmd_inject_settings *settings, struct inject *in, struct tally_error *err)
{
	if (perfdata_reader_is_pipe(in->source.reader) && stream_output_is_named(settings->output))
		return error_set(
			err, TALLY_UNSUPPORTED, "--aslr writes a file when it reads a pipe: name the file with -o");
	if (!in->has_survey)
		in->features = *perfdata_reader_features(in->source.reader);
	enum tally_status status = inject_aslr_read(&in->aslr, in->source.reader, err);
	if (status != TALLY_OK)
		return status;
	inject_aslr_features(&in->aslr, &in->features);
	return in->aslr.failed ? error_nomem(err) : TALLY_OK;
}

static void tell_moved(const struct cli *cli, const struct inject *in)
{
	struct text said = {0};
	inject_aslr_tell(&in->aslr, &said);
	if (said.len)
		cli_failf(cli, "%s: %.*s", cli->program, (int)said.len, said.data);
	text_deinit(&said);
}

static bool needs_survey(const struct cmd_inject_settings *settings, const struct perfdata_reader *reader)
{
	return settings->known_ids || settings->sched_stat || settings->strip ||
	       depth_of(settings) != INJECT_SURVEY_RECORDS ||
	       (perfdata_reader_is_pipe(reader) && !stream_output_is_named(settings->output));
}

static enum tally_status cmd_inject_rewrite(
	const struct cli *cli, const struct cmd_inject_settings *settings, struct inject *in, struct tally_error *err)
{
	struct inject_options inject = {
		.to_pipe = stream_output_is_named(settings->output), .sort = settings->sort, .strip = settings->strip};
	struct inject_result result;
	struct perfdata_rewriter *rewriter;
	int stream = -1;
	enum tally_status status = TALLY_OK;
	if (needs_survey(settings, in->source.reader)) {
		status = cmd_inject_prepare(cli, settings, in, err);
		inject.features = &in->features;
		inject.before_samples = writer_view(&in->records);
		inject.mmaps = wants_mmaps(settings) ? &in->mmaps : NULL;
	}
	if (status == TALLY_OK && settings->convert) {
		if (!inject.features)
			in->features = *perfdata_reader_features(in->source.reader);
		status = convert_chains(cli, settings, in, err);
		inject.features = &in->features;
		if (stack_chains_are_made(&in->chains)) {
			inject.attrs = in->chains.attrs.attrs;
			inject.change = convert_record;
			inject.change_context = in;
		}
	}
	if (status == TALLY_OK && settings->aslr) {
		status = move_addresses(settings, in, err);
		inject.features = &in->features;
		inject.attrs = in->aslr.attrs.attrs;
		inject.change = inject_aslr_record;
		inject.change_context = &in->aslr;
	}
	if (status == TALLY_OK && settings->jit) {
		status = inject_jit_read(cli, in->source.reader, &in->jit, err);
		inject.timed = in->jit.records.items;
		inject.timed_count = in->jit.records.len;
		inject.timed_bytes = writer_view(&in->jit.bytes);
		inject.change = inject_jit_record;
		inject.change_context = &in->jit;
		inject.sort = true;
	}
	if (status == TALLY_OK && settings->sched_stat) {
		status = inject_sched_create(in->source.reader, &in->sched, err);
		inject.sched = in->sched;
		inject.sort = true;
	}
	if (status == TALLY_OK && inject.to_pipe)
		status = stream_output_open(settings->output, &stream, err);
	if (status == TALLY_OK)
		status = inject.to_pipe ? perfdata_rewriter_create_pipe(stream, &rewriter, err)
					: perfdata_rewriter_create_file(settings->output, &rewriter, err);
	if (status != TALLY_OK) {
		if (stream >= 0)
			close(stream);
		return status;
	}
	status = inject_copy(in->source.reader, rewriter, &inject, &result, err);
	if (status == TALLY_OK) {
		cmd_inject_print_result(cli, &result, perfdata_rewriter_left_out(rewriter));
		if (settings->aslr)
			tell_moved(cli, in);
		status = result.end_error.status;
		if (status != TALLY_OK)
			*err = result.end_error;
	}
	perfdata_rewriter_destroy(rewriter);
	if (stream >= 0)
		close(stream);
	return status;
}

static void inject_deinit(struct inject *in)
{
	inject_sched_destroy(in->sched);
	inject_jit_deinit(&in->jit);
	inject_aslr_deinit(&in->aslr);
	inject_ids_deinit(&in->ids);
	if (in->has_survey)
		inject_survey_deinit(&in->survey);
	intern_deinit(&in->mmaps.paths);
	vec_free(&in->mmaps.ids);
	writer_deinit(&in->section);
	writer_deinit(&in->records);
	stack_chains_deinit(&in->chains);
	data_source_close(&in->source);
}

/* Applies the changes that a single pass can make. */
static int inject_step(const struct cli *cli, const struct cmd_inject_settings *settings)
{
	struct tally_error err;
	struct inject in = {
		.input = {.file = settings->input, .traces = settings->traces, .symbols = settings->symbols}};
	if (data_source_open_reader(&in.input, &in.source, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	intern_init(&in.mmaps.paths);
	enum tally_status status = cmd_inject_rewrite(cli, settings, &in, &err);
	inject_deinit(&in);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

/* JIT mappings come first, because build IDs are assigned to mappings. Stacks are unwound before --strip and --aslr
 * remove the data that unwinding needs, and addresses are replaced last. */
enum inject_steps { STEP_JIT, STEP_CHAINS, STEP_OTHERS, STEP_ADDRESSES, STEPS };

static struct cmd_inject_settings settings_of_step(const struct cmd_inject_settings *all, enum inject_steps step)
{
	struct cmd_inject_settings one = {.input = all->input,
		.symbols = all->symbols,
		.output = all->output,
		.traces = all->traces,
		.sort = all->sort,
		.verbose = all->verbose};
	if (step == STEP_OTHERS)
		one = *all;
	one.jit = step == STEP_JIT;
	one.convert = step == STEP_CHAINS;
	one.aslr = step == STEP_ADDRESSES;
	return one;
}

/* Each pass reads the temporary file that the previous pass has written. */
static int inject_in_steps(const struct cli *cli, const struct cmd_inject_settings *settings)
{
	char files[2][RECORDED_PATH_BYTES] = {"", ""};
	bool others = settings->ids_of_hits || settings->ids_of_all || settings->mmaps_of_hits ||
		      settings->mmaps_of_all || settings->known_ids || settings->sched_stat || settings->strip;
	const bool wanted[STEPS] = {settings->jit, settings->convert, others, settings->aslr};
	unsigned left = 0, turn = 0;
	struct input_options input = settings->input;
	struct tally_error err;
	int code = 0;
	for (unsigned i = 0; i < STEPS; i++)
		left += wanted[i];
	if (left <= 1)
		return inject_step(cli, settings);
	for (unsigned i = 0; i < STEPS && code == 0; i++) {
		if (!wanted[i])
			continue;
		struct cmd_inject_settings one = settings_of_step(settings, (enum inject_steps)i);
		one.input = input;
		if (--left > 0) {
			char *file = files[turn++ % 2];
			if (!*file && recorded_file_make(file, &err) != TALLY_OK) {
				code = cli_fail(cli, &err);
				break;
			}
			one.output = input.path = file;
		}
		code = inject_step(cli, &one);
	}
	for (unsigned i = 0; i < 2; i++)
		if (*files[i])
			unlink(files[i]);
	return code;
}

static int cmd_inject_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_inject_settings settings = {.input.path = "-", .output = "-"};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s'", argv[rest]);
	if (strcmp(settings.output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_failf(
			cli, "%s: a recording is not written to a terminal: name a file with -o", cli->program);
	if (strcmp(settings.input.path, "-") != 0 && output_file_is_input(settings.output, settings.input.path))
		return cli_failf(cli, "%s: input and output are the same file, '%s'", cli->program, settings.output);
	const char *missing = missing_file(&settings);
	if (missing)
		return cli_failf(cli, "Invalid file: %s", missing);
	return inject_in_steps(cli, &settings);
}

const struct command command_inject = {
	.name = "inject",
	.summary = "Filter to augment the events stream with additional information",
	.usages = inject_usages,
	.options = &inject_table,
	.description =
		"Reads a recording and writes it again, record by record, with what the options "
		"add.\n\nWithout options the output is a faithful copy: the same records and header sections, "
		"including unknown ones. With -o FILE it is a file, else a stream on standard output, whatever the "
		"input was; a directory (record --threads) becomes one file. Compressed data is written "
		"uncompressed. The output takes its name when it is complete; until then an older file of that name "
		"stays.",
	.examples = inject_examples,
	.run = cmd_inject_run,
};
