#include "cli/pack_run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/inject.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/pack_gather.h"
#include "cli/pack_scrub.h"

struct packing {
	const struct cli *cli;
	const struct pack_request *request;
	const char *output;
	struct data_source *source;
	struct pack_scrub *scrub;
};

static enum tally_status write_anew(
	const struct packing *p, const struct perfdata_features *features, struct tally_error *err)
{
	struct inject_options options = {.features = features};
	struct inject_result result;
	struct perfdata_rewriter *rewriter;
	if (p->request->scrub) {
		options.change = pack_scrub_record;
		options.change_context = p->scrub;
	}
	enum tally_status status = perfdata_rewriter_create_file(p->output, &rewriter, err);
	if (status != TALLY_OK)
		return status;
	perfdata_reader_rewind(p->source->reader);
	status = inject_copy(p->source->reader, rewriter, &options, &result, err);
	perfdata_rewriter_destroy(rewriter);
	if (status == TALLY_OK && result.end_error.status != TALLY_OK)
		cli_failf(p->cli, "%s: the recording ends early: %s", p->cli->program, result.end_error.text);
	return status;
}

static void tell(const struct cli *cli, const char *output, const struct pack_sum *sum, size_t bytes)
{
	fprintf(stderr,
		"[ %s pack: %zu symbols and %zu source lines of %zu files (%zu without names), code of %zu functions "
		"(%zu without), %zu KB, in %s ]\n",
		cli->program, sum->symbols, sum->places, sum->files, sum->files - sum->named_files, sum->functions,
		sum->without_code, (bytes + 1023) / 1024, output);
}

static enum tally_status write_packed(const struct packing *p, struct tally_bytes section, struct tally_error *err)
{
	struct perfdata_features features = *perfdata_reader_features(p->source->reader);
	if (p->request->scrub)
		pack_scrub_features(p->scrub, &features);
	if (p->scrub->failed)
		return error_nomem(err);
	features.present[FEATURE_PACK / 64] |= UINT64_C(1) << FEATURE_PACK % 64;
	features.raw[FEATURE_PACK] = section;
	return write_anew(p, &features, err);
}

static void tell_all(const struct packing *p, const struct pack_sum *sum, size_t bytes)
{
	if (sum->left_dumps > 0)
		fprintf(stderr, "%s: names of generated code in %zu jit dumps are not packed (not supported yet)\n",
			p->cli->program, sum->left_dumps);
	if (p->request->scrub && !p->request->quiet) {
		struct text out = {0};
		text_to_fd(&out, STDOUT_FILENO);
		pack_scrub_tell(p->scrub, &out);
		(void)text_flush(&out);
		text_deinit(&out);
	}
	if (!p->request->quiet)
		tell(p->cli, p->output, sum, bytes);
}

enum tally_status pack_run(const struct cli *cli, const struct pack_request *request, struct tally_error *err)
{
	const struct data_input input = {.path = request->input, .force = request->force, .store = request->store};
	const char *output = request->output ? request->output : request->input;
	struct data_source source;
	struct pack_scrub scrub;
	struct writer section = {0};
	struct pack_sum sum;
	if (strcmp(output, "-") == 0)
		return error_set(err, TALLY_INVALID, "a packed recording is a file: name it with -o");
	enum tally_status status = data_source_open(cli, &input, &source, err);
	if (status != TALLY_OK)
		return status;
	const struct packing p = {cli, request, output, &source, &scrub};
	pack_scrub_init(&scrub, source.reader);
	status = pack_gather(&source, request->scrub ? &scrub : NULL, &section, &sum, err);
	if (status == TALLY_OK)
		status = write_packed(&p, writer_view(&section), err);
	if (status == TALLY_OK)
		tell_all(&p, &sum, section.len);
	writer_deinit(&section);
	pack_scrub_deinit(&scrub);
	data_source_close(&source);
	return status;
}
