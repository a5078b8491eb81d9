/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/packing/pack_run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/inject/inject.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "tasks/packing/pack_gather.h"
#include "tasks/packing/pack_scrub.h"
#include "tasks/session/stack_chains.h"
#include "tasks/session/symbol_notes.h"

struct packing {
	const struct cli *cli;
	const struct pack_request *request;
	const char *output;
	struct data_source *source;
	struct pack_scrub *scrub;
	struct stack_chains *chains;
	struct writer scrubbed; /* The scrubbed record, before its stack dump is replaced. */
};

/* First, names and payloads are scrubbed, which does not change the record's form; then stack dumps are replaced by
 * call chains. */
static enum inject_change change_record(void *context, const struct record *record, struct writer *out)
{
	struct packing *p = context;
	struct tally_bytes bytes = record->bytes;
	bool has_chains = record->type == RECORD_SAMPLE && stack_chains_are_made(p->chains);
	enum inject_change change = INJECT_KEPT;
	if (p->request->scrub) {
		writer_clear(&p->scrubbed);
		change = pack_scrub_record(p->scrub, record, has_chains ? &p->scrubbed : out);
		bytes = change == INJECT_CHANGED ? writer_view(&p->scrubbed) : bytes;
	}
	if (!has_chains || change == INJECT_DROPPED || change == INJECT_NO_MEMORY)
		return change;
	return stack_chains_sample(p->chains, record, bytes, out);
}

static enum tally_status write_anew(
	struct packing *p, const struct perfdata_features *features, struct tally_error *err)
{
	struct inject_options options = {.features = features};
	struct inject_result result;
	struct perfdata_rewriter *rewriter;
	if (p->request->scrub || stack_chains_are_made(p->chains)) {
		options.change = change_record;
		options.change_context = p;
		options.attrs = p->chains->attrs.attrs;
	}
	enum tally_status status = perfdata_rewriter_create_file(p->output, &rewriter, err);
	if (status != TALLY_OK)
		return status;
	perfdata_reader_rewind(p->source->reader);
	status = inject_copy(p->source->reader, rewriter, &options, &result, err);
	perfdata_rewriter_destroy(rewriter);
	return status;
}

static enum tally_status write_packed(struct packing *p, struct tally_bytes section, struct tally_error *err)
{
	struct perfdata_features features = *perfdata_reader_features(p->source->reader);
	stack_chains_features(p->chains, &features);
	if (p->request->scrub)
		pack_scrub_features(p->scrub, &features);
	if (p->scrub->failed || p->chains->failed)
		return error_nomem(err);
	features.present[FEATURE_PACK / 64] |= UINT64_C(1) << FEATURE_PACK % 64;
	features.raw[FEATURE_PACK] = section;
	return write_anew(p, &features, err);
}

static void tell_all(const struct packing *p, const struct pack_sum *sum, size_t bytes)
{
	if (p->request->quiet)
		return;
	if (p->request->scrub) {
		struct text out = {0};
		text_to_fd(&out, STDOUT_FILENO);
		pack_scrub_tell(p->scrub, &out);
		(void)text_flush(&out);
		text_deinit(&out);
	}
	struct text more = {0};
	if (sum->dumps)
		text_printf(&more, ", %zu dumps of generated code", sum->dumps);
	if (stack_chains_are_made(p->chains))
		text_printf(&more, ", call chains in place of %zu stack dumps", p->chains->stacks);
	cli_sayf("[ %s pack: %zu symbols and %zu source lines of %zu files (%zu without names), code of %zu functions "
		 "(%zu without)%.*s, %zu KB, in %s ]\n",
		p->cli->program, sum->symbols, sum->places, sum->files, sum->files - sum->named_files, sum->functions,
		sum->without_code, (int)more.len, more.data ? more.data : "", (bytes + 1023) / 1024, p->output);
	text_deinit(&more);
}

enum tally_status pack_run(const struct cli *cli, const struct pack_request *request, struct tally_error *err)
{
	const struct data_input input = {.file = request->input, .symbols = request->symbols, .kept = request->kept};
	const char *output = request->output ? request->output : request->input.path;
	struct data_source source;
	struct pack_scrub scrub;
	struct stack_chains chains;
	struct writer section = {0};
	struct pack_sum sum;
	if (strcmp(output, "-") == 0)
		return error_set(err, TALLY_INVALID, "pack cannot write to standard output: name a file with -o");
	enum tally_status status = data_source_open(cli, &input, &source, err);
	if (status != TALLY_OK)
		return status;
	struct packing p = {cli, request, output, &source, &scrub, &chains, {0}};
	pack_scrub_init(&scrub, source.reader);
	status = stack_chains_init(&chains, source.reader, STACK_CHAINS_EMPTY_COPIES, err);
	if (status == TALLY_OK)
		status = pack_gather(&source, request->scrub ? &scrub : NULL, &chains, &section, &sum, err);
	if (status == TALLY_OK && !request->quiet)
		symbol_notes_print_doubts(cli, source.store);
	if (status == TALLY_OK && sum.end.status != TALLY_OK && strcmp(output, request->input.path) == 0)
		status = error_set(err, TALLY_INVALID,
			"%s: packing in place would lose the rest; use -o FILE to pack what comes before",
			sum.end.text);
	if (status == TALLY_OK)
		status = write_packed(&p, writer_view(&section), err);
	if (status == TALLY_OK)
		tell_all(&p, &sum, section.len);
	if (status == TALLY_OK && sum.end.status != TALLY_OK) {
		*err = sum.end;
		status = sum.end.status;
	}
	writer_deinit(&section);
	writer_deinit(&p.scrubbed);
	stack_chains_deinit(&chains);
	pack_scrub_deinit(&scrub);
	data_source_close(&source);
	return status;
}
