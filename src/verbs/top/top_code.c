/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/top/top_code.h"

#include "base/error.h"
#include "tasks/listing/annotate_listing.h"
#include "tasks/reporting/report_annotate.h"
#include "verbs/top/top_annotate.h"
#include "view/text/annotate_text.h"

#define LEAST_PERCENT 5 /* Smallest share of a line in text output, as in perf top. */

static uint32_t top_code_next_key(void *data)
{
	const struct top_code *code = data;
	return code->key(code->data);
}

static enum tally_status renew_samples(void *data, struct annotate_samples **samples, struct tally_error *err)
{
	struct top_code *code = data;
	bool is_changed = false;
	enum tally_status status = code->renew(code->data, &is_changed, err);
	if (status == TALLY_OK && is_changed)
		*samples = top_annotate_samples(code->annotate);
	return status;
}

static enum tally_status top_code_annotate(
	struct top_code *code, const struct explore_symbol *symbol, bool *leaves, struct tally_error *err)
{
	const struct code_options *a = &code->view->settings->report.code;
	struct annotate_samples *samples = top_annotate_samples(code->annotate);
	const struct annotate_target *target =
		annotate_explore_find(samples, symbol->name, symbol->path, symbol->start);

	if (!target)
		return error_set(err, TALLY_NOT_FOUND, "cannot disassemble %.*s: no running process maps its binary",
			(int)symbol->name.len, symbol->name.data);
	struct annotate_explore request = report_annotation_explore(a, symbol, samples);
	request.settings = code->settings;
	request.key = top_code_next_key;
	request.renew = renew_samples;
	request.data = code;
	enum tally_status status = annotate_explore(&request, target, leaves, err);
	code->settings = request.settings;
	return status;
}

enum tally_status top_code_show(
	struct top_code *code, const struct explore_symbol *symbol, bool *leaves, struct tally_error *err)
{
	enum tally_status status = top_view_annotate(code->view, &code->annotate, err);
	if (!code->has_settings)
		code->settings.hides_source = code->view->settings->report.code.hides_source;
	code->settings.shows_bytes = code->view->settings->report.code.shows_bytes;
	code->has_settings = true;
	if (status == TALLY_OK)
		status = top_code_annotate(code, symbol, leaves, err);
	top_view_stop_annotating(code->view);
	code->annotate = NULL;
	return status;
}

static void top_code_put_events(const struct top_view *view, uint32_t first, uint32_t count, struct text *out)
{
	size_t all;
	const struct perfdata_event *events = perfdata_reader_events(view->reader, &all);
	for (uint32_t i = first; i < first + count && i < all; i++)
		text_printf(out, "%s%.*s", i > first ? ", " : "", (int)events[i].name.len, events[i].name.data);
}

static enum tally_status top_code_print_function(const struct top_view *view, uint32_t index,
	struct annotate_samples *samples, const struct annotate_target *target, struct text *out,
	struct tally_error *err)
{
	const struct top_settings *s = view->settings;
	const struct code_options *a = &s->report.code;
	const struct report_tables tables = {.plan = &view->plan, .profile = top_view_profile(view)};
	uint32_t first = view->first[index], members = report_tables_members(&tables, first);
	const struct annotate_listing_options options = {.objdump = a->objdump,
		.style = a->style,
		.is_intel = code_options_are_intel(a),
		.with_source = !a->hides_source,
		.first_event = first,
		.event_count = members};
	const struct annotate_text_options how = {
		.with_bytes = a->shows_bytes, .percent = a->percent, .min_percent = LEAST_PERCENT};
	struct annotate_listing listing;
	struct annotate_source source;
	struct text events = {0};
	annotate_source_init(&source, a->prefix, (unsigned)a->strip);
	top_code_put_events(view, first, members, &events);
	text_char(&events, 0);
	enum tally_status status = events.failed
					   ? error_nomem(err)
					   : annotate_listing_make(&listing, samples, target, &source, &options, err);
	if (status == TALLY_OK) {
		listing.function.event_name = events.data;
		text_printf(out, "Showing %s for %s\n  Events  Pcnt (>=%d%%)\n", events.data, target->frame->symbol,
			LEAST_PERCENT);
		annotate_text(out, &listing.function, &how);
	}
	if (!events.failed)
		annotate_listing_deinit(&listing);
	annotate_source_deinit(&source);
	text_deinit(&events);
	return status;
}

enum tally_status top_code_print(struct top_view *view, uint32_t index, struct text *out, struct tally_error *err)
{
	struct top_annotate *annotate;
	const char *symbol = view->settings->sym_annotate;
	struct tally_error why = {0};
	enum tally_status status = top_view_annotate(view, &annotate, err);
	if (status != TALLY_OK)
		return status;
	const struct annotate_target *target = top_annotate_find(annotate, symbol);
	if (!target) {
		text_printf(out, "%s has no samples\n", symbol);
		return TALLY_OK;
	}
	status = top_code_print_function(view, index, top_annotate_samples(annotate), target, out, &why);
	if (status == TALLY_NOMEM)
		return error_nomem(err);
	if (status != TALLY_OK)
		text_printf(out, "Couldn't annotate %s: %s\n", symbol, why.text);
	return TALLY_OK;
}
