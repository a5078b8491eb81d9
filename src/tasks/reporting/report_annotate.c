/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_annotate.h"

#include <string.h>

#include "base/error.h"

static enum tally_status report_annotate_read_samples(struct report_annotate *annotate, struct tally_error *err)
{
	const struct report_request *r = annotate->plan->request;
	struct annotate_request wanted = {.input = {.file = r->input, .symbols = r->symbols, .samples = r->samples}};
	wanted.input.samples.filters = annotate->plan->filters;
	if (annotate->is_stream)
		return error_set(err, TALLY_UNSUPPORTED,
			"annotate reads the samples a second time, which a pipe does not allow");
	enum tally_status status = annotate_samples_read(annotate->cli, &wanted, &annotate->samples, err);
	annotate->settings.percent = r->code.percent;
	annotate->settings.hides_source = r->code.hides_source;
	annotate->settings.shows_bytes = r->code.shows_bytes;
	/* Of a truncated file, the samples before its end are used; the report has already printed a warning. */
	annotate->is_read = annotate->samples.event_count > 0 && status != TALLY_NOMEM;
	if (!annotate->is_read)
		annotate_samples_deinit(&annotate->samples);
	return annotate->is_read ? TALLY_OK : status;
}

struct annotate_explore report_annotation_explore(
	const struct code_options *a, const struct explore_symbol *symbol, struct annotate_samples *samples)
{
	return (struct annotate_explore){.terminal = symbol->terminal,
		.grid = symbol->grid,
		.samples = samples,
		.first_event = symbol->first_event,
		.event_count = symbol->event_count,
		.is_intel = code_options_are_intel(a),
		.objdump = a->objdump,
		.style = a->style,
		.prefix = a->prefix,
		.strip = (unsigned)a->strip};
}

enum tally_status report_annotate_show(
	struct report_annotate *annotate, const struct explore_symbol *symbol, bool *leaves, struct tally_error *err)
{
	enum tally_status status = annotate->is_read ? TALLY_OK : report_annotate_read_samples(annotate, err);
	if (status != TALLY_OK)
		return status;
	struct annotate_samples *samples = &annotate->samples;
	if (symbol->first_event + symbol->event_count > samples->event_count)
		return error_set(err, TALLY_NOT_FOUND, "samples of this event have no addresses");
	const struct annotate_target *target =
		annotate_explore_find(samples, symbol->name, symbol->path, symbol->start);
	if (!target)
		return error_set(err, TALLY_NOT_FOUND, "cannot disassemble %.*s: its binary is not available",
			(int)symbol->name.len, symbol->name.data);
	struct annotate_explore request = report_annotation_explore(&annotate->plan->request->code, symbol, samples);
	request.settings = annotate->settings;
	status = annotate_explore(&request, target, leaves, err);
	annotate->settings = request.settings;
	return status;
}

void report_annotate_deinit(struct report_annotate *annotate)
{
	if (annotate->is_read)
		annotate_samples_deinit(&annotate->samples);
	annotate->is_read = false;
}
