#include "cli/pack_run.h"

#include <stdio.h>
#include <string.h>

#include "analysis/inject.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/pack_gather.h"

static enum tally_status write_anew(const struct cli *cli, const char *output, struct data_source *source,
	const struct perfdata_features *features, struct tally_error *err)
{
	const struct inject_options options = {.features = features};
	struct inject_result result;
	struct perfdata_rewriter *rewriter;
	enum tally_status status = perfdata_rewriter_create_file(output, &rewriter, err);
	if (status != TALLY_OK)
		return status;
	perfdata_reader_rewind(source->reader);
	status = inject_copy(source->reader, rewriter, &options, &result, err);
	perfdata_rewriter_destroy(rewriter);
	if (status == TALLY_OK && result.end_error.status != TALLY_OK)
		cli_failf(cli, "%s: the recording ends early: %s", cli->program, result.end_error.text);
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

enum tally_status pack_run(const struct cli *cli, const struct pack_request *request, struct tally_error *err)
{
	const struct data_input input = {.path = request->input, .force = request->force, .store = request->store};
	const char *output = request->output ? request->output : request->input;
	struct data_source source;
	struct writer section = {0};
	struct pack_sum sum;
	if (strcmp(output, "-") == 0)
		return error_set(err, TALLY_INVALID, "a packed recording is a file: name it with -o");
	enum tally_status status = data_source_open(cli, &input, &source, err);
	if (status != TALLY_OK)
		return status;
	status = pack_gather(&source, &section, &sum, err);
	if (status == TALLY_OK) {
		struct perfdata_features features = *perfdata_reader_features(source.reader);
		features.present[FEATURE_PACK / 64] |= UINT64_C(1) << FEATURE_PACK % 64;
		features.raw[FEATURE_PACK] = writer_view(&section);
		status = write_anew(cli, output, &source, &features, err);
	}
	if (status == TALLY_OK && sum.left_dumps > 0)
		fprintf(stderr, "%s: names of generated code in %zu jit dumps are not packed (not supported yet)\n",
			cli->program, sum.left_dumps);
	if (status == TALLY_OK && !request->quiet)
		tell(cli, output, &sum, section.len);
	writer_deinit(&section);
	data_source_close(&source);
	return status;
}
