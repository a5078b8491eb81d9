/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/annotate/annotate_run.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/cli.h"
#include "perfdata/feature_table.h"
#include "perfdata/origin.h"
#include "tasks/listing/annotate_data.h"
#include "tasks/listing/annotate_names.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/report_dump.h"
#include "tasks/session/symbol_notes.h"
#include "verbs/annotate/annotate_load.h"
#include "verbs/annotate/annotate_types.h"
#include "view/data/annotate_json.h"

struct annotate_run_running {
	const struct cli *cli;
	const struct annotate_run *run;
	struct text *out;
	struct annotate_samples samples;
	struct annotate_source source;
	struct json json;
	bool found; /* Set once the annotation of a function has been attempted. */
	struct diag notes; /* Notes about names and lines. */
};

/* Returns the number of events that are shown in columns, starting with this event, which leads their group. As in
 * perf, --group makes one group of all events only if none were recorded as a group. */
static uint32_t group_size(const struct annotate_run *run, const struct annotate_samples *samples, uint32_t first)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(samples->source.reader, &count);
	if (run->force_group && !perfdata_events_have_groups(events, count))
		return (uint32_t)count - first;
	uint32_t members = events[first].member_count;
	return run->no_group || members < 2 || members > count - first ? 1 : members;
}

/* Formats "cycles", "anon group { cycles, instructions }", or "cycles, instructions" if the events were not recorded
 * as a group. */
static void annotate_run_name_events(
	const struct annotate_run_running *r, struct text *name, uint32_t first, uint32_t count)
{
	size_t total;
	const struct perfdata_event *events = perfdata_reader_events(r->samples.source.reader, &total);
	struct tally_str group = feature_group_name(perfdata_reader_features(r->samples.source.reader), first);
	bool is_recorded = count > 1 && events[first].member_count > 1;
	if (is_recorded)
		text_printf(name, "%.*s { ", (int)group.len, group.data);
	for (uint32_t i = first; i < first + count; i++)
		text_printf(name, "%s%.*s", i > first ? ", " : "", (int)events[i].name.len, events[i].name.data);
	text_str(name, is_recorded ? " }" : "");
	text_char(name, 0);
}

/* Stores in the function the totals of the selected samples (its listed_count and listed_period) and their
 * frequency. */
static void describe_listed(const struct annotate_run_running *r, const struct annotate_listing_options *options,
	struct annotate_function *function)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(r->samples.source.reader, &count);
	const struct perf_attr *attr = &events[options->first_event].attr;
	function->frequency = attr->flags & ATTR_FLAG(ATTR_BIT_FREQ) ? attr->sample_period_or_freq : 0;
	for (uint32_t e = options->first_event; e < options->first_event + options->event_count; e++) {
		function->listed_count += r->samples.listed[e].count;
		function->listed_period += r->samples.listed[e].period;
	}
}

/* Counts are compared, because the periods of samples may be 0. */
static bool annotate_run_has_samples(const struct annotate_target *target, uint32_t first, uint32_t count)
{
	for (uint32_t e = first; e < first + count; e++)
		if (target->sums[e].count > 0)
			return true;
	return false;
}

static enum tally_status annotate_run_print_one(struct annotate_run_running *r, const struct annotate_target *target,
	const struct annotate_listing_options *options, const char *events, struct tally_error *err)
{
	struct annotate_listing listing;
	struct tally_error why = {0};
	enum tally_status status = annotate_listing_make(&listing, &r->samples, target, &r->source, options, &why);
	r->found = true;
	if (status == TALLY_OK && r->run->with_data_types)
		status = annotate_data_add(&listing, &r->samples, target, !r->run->is_json, &why);
	if (status == TALLY_OK) {
		listing.function.event_name = events;
		describe_listed(r, options, &listing.function);
		if (r->run->is_json)
			annotate_json_function(&r->json, &listing.function);
		else if (r->run->text.with_places)
			annotate_text_places(r->out, &listing.function, &r->run->text);
		if (r->run->is_compact && !r->run->is_json)
			annotate_compact(r->out, &listing.function, &r->run->text);
		else if (!r->run->is_json)
			annotate_text(r->out, &listing.function, &r->run->text);
		if (r->run->is_verbose)
			(void)cli_failf(r->cli, "%s: code of %s is from %s", r->cli->program, target->frame->symbol,
				listing.code.path ? listing.code.path : "memory");
	} else if (status != TALLY_NOMEM && !r->run->skips_missing) {
		(void)text_flush(r->out);
		cli_sayf("Couldn't annotate %s: %s\n", target->frame->symbol, why.text);
	}
	annotate_listing_deinit(&listing);
	if (status == TALLY_NOMEM)
		return error_nomem(err);
	return TALLY_OK;
}

static enum tally_status annotate_run_print_events(
	struct annotate_run_running *r, uint32_t first, uint32_t count, struct tally_error *err)
{
	size_t target_count = r->samples.targets.len;
	struct annotate_listing_options options = {.objdump = r->run->code.objdump,
		.with_bytes = r->run->text.with_bytes,
		.style = r->run->code.style,
		.with_bare_places = !r->run->is_json,
		.is_intel = code_options_are_intel(&r->run->code),
		.with_source = !r->run->code.hides_source,
		.with_places = r->run->text.with_places || r->run->is_json,
		.with_whole_paths = r->run->text.with_whole_path,
		.first_event = first,
		.event_count = count,
		.percent = r->run->text.percent,
		.place_limit = r->run->is_json ? 0 : ANNOTATE_PLACE_LIMIT};
	const struct annotate_ranked *ranked = annotate_samples_rank(&r->samples, first, count);
	if (!ranked)
		return error_nomem(err);
	uint64_t whole = annotate_sum_period(r->samples.events, first, count);
	struct text events = {0};
	annotate_run_name_events(r, &events, first, count);
	enum tally_status status = events.failed ? error_nomem(err) : TALLY_OK;
	for (size_t i = 0; i < target_count && status == TALLY_OK; i++)
		if (annotate_run_has_samples(ranked[i].target, first, count) &&
			100.0 * (double)ranked[i].period >= r->run->percent_limit * (double)whole)
			status = annotate_run_print_one(r, ranked[i].target, &options, events.data, err);
	text_deinit(&events);
	return status;
}

static enum tally_status annotate_run_print_types(
	struct annotate_run_running *r, uint32_t first, uint32_t count, struct tally_error *err)
{
	size_t total;
	const struct perfdata_event *events = perfdata_reader_events(r->samples.source.reader, &total);
	struct tally_str *names = arena_array(&r->samples.arena, struct tally_str, count);
	if (!names)
		return error_nomem(err);
	for (uint32_t i = 0; i < count; i++)
		names[i] = events[first + i].name;
	const struct annotate_types_job job = {.samples = &r->samples,
		.name = r->run->data_type,
		.text = r->run->text,
		.events = names,
		.first_event = first,
		.event_count = count,
		.with_type_counts = r->run->with_type_counts,
		.with_instruction_counts = r->run->with_instruction_counts,
		.json = r->run->is_json ? &r->json : NULL,
		.notes = &r->notes};
	r->found = true;
	return annotate_types_print(&job, r->out, err);
}

static enum tally_status annotate_run_dump(
	const struct cli *cli, const struct annotate_run *run, struct text *out, struct tally_error *err)
{
	struct data_source source;
	struct input_health health = {0};
	const struct report_dump_options dump = {
		.file_name = recording_name(run->request.input.file.path), .with_zeros = true};
	enum tally_status status = data_source_open_reader(&run->request.input, &source, err);
	if (status != TALLY_OK)
		return status;
	status = report_dump(out, source.reader, &dump, &health, err);
	(void)text_flush(out);
	if (!run->is_quiet)
		cli_print_health(cli, &health);
	data_source_close(&source);
	return status == TALLY_END ? TALLY_OK : status;
}

/* Explains why no function was annotated although there are samples. */
static void tell_nothing_shown(const struct annotate_run_running *r, const char *path, uint64_t samples)
{
	if (r->samples.targets.len > 0)
		cli_sayf("No function of %s has %g%% of the samples: see --percent-limit\n", path,
			r->run->percent_limit);
	else
		cli_sayf("None of the %" PRIu64
			 " samples of %s fell on a function that has a name: '%s report --missing' tells why\n",
			samples, path, r->cli->program);
}

static enum tally_status annotate_run_print_all(struct annotate_run_running *r, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	const char *path = recording_name(r->run->request.input.file.path);
	if (r->run->is_json) {
		r->json = (struct json){.out = r->out};
		json_object(&r->json, NULL);
		json_u64(&r->json, "schema", 1);
		json_string(&r->json, "path", str_from(path));
		origin_json(&r->json, perfdata_reader_features(r->samples.source.reader));
		json_array(&r->json, r->run->data_type ? "data_types" : "functions");
	} else {
		origin_comment(r->out, perfdata_reader_features(r->samples.source.reader));
	}
	for (uint32_t event = 0; event < r->samples.event_count && status == TALLY_OK;) {
		uint32_t count = group_size(r->run, &r->samples, event);
		status = r->run->data_type ? annotate_run_print_types(r, event, count, err)
					   : annotate_run_print_events(r, event, count, err);
		event += count;
	}
	if (r->run->is_json) {
		json_array_end(&r->json);
		if (!r->run->data_type)
			annotate_source_json(&r->source, &r->json);
		json_object_end(&r->json);
	}
	(void)text_flush(r->out);
	const struct annotate_request *request = &r->run->request;
	bool has_place = request->symbol || request->input.samples.filters.dsos;
	bool has_samples = r->found || (!has_place && r->samples.cells.len > 0);
	uint64_t samples = r->samples.source.pass.sideband.health.samples;
	bool is_chosen = has_place || sample_options_are_asked(&request->input.samples);
	if (status == TALLY_OK && !has_samples && samples > 0 && is_chosen)
		cli_note_empty(r->cli, path, samples);
	else if (status == TALLY_OK && !has_samples && samples == 0)
		cli_sayf("Error:\nThe %s data has no samples!\n", path);
	else if (status == TALLY_OK && !r->found)
		tell_nothing_shown(r, path, samples);
	return status;
}

/* Returns the hottest function of this name, or NULL. */
static const struct annotate_target *find_asked(
	const char *symbol, struct annotate_samples *samples, uint32_t first, uint32_t count)
{
	const struct annotate_ranked *ranked = annotate_samples_rank(samples, first, count);
	for (size_t i = 0; ranked && i < samples->targets.len; i++)
		if (annotate_names_is(ranked[i].target->frame->symbol, symbol))
			return ranked[i].target;
	return NULL;
}

/* Selects the first event or group that has samples. *target is set to the function that the user named, or NULL. */
static enum tally_status annotate_run_begin(void *data, struct annotate_samples *samples,
	struct annotate_explore *request, const struct annotate_target **target, struct tally_error *err)
{
	const struct annotate_run_running *r = data;
	const struct annotate_run *run = r->run;
	uint32_t first = 0;
	while (first < samples->event_count && !samples->events[first].count)
		first += group_size(run, samples, first);
	request->samples = samples;
	request->first_event = first < samples->event_count ? first : 0;
	request->event_count = group_size(run, samples, request->first_event);
	*target = NULL;
	if (!run->request.symbol)
		return TALLY_OK;
	const char *symbol;
	enum tally_status status = annotate_samples_choose(samples, run->request.symbol, &symbol, err);
	if (status != TALLY_OK)
		return status;
	*target = find_asked(symbol, samples, request->first_event, request->event_count);
	return *target ? TALLY_OK
		       : error_set(err, TALLY_NOT_FOUND, "no samples fell on a function '%s'", run->request.symbol);
}

/* Reads the samples while the interactive screen is already shown. */
static enum tally_status annotate_run_explore(struct annotate_run_running *r, struct tally_error *err)
{
	const struct annotate_run *run = r->run;
	struct annotate_load load = {.cli = r->cli,
		.request = run->request,
		.explore = {.settings = {.percent = run->text.percent,
				    .column = run->text.column,
				    .hides_source = run->code.hides_source,
				    .shows_bytes = run->text.with_bytes},
			.is_intel = code_options_are_intel(&run->code),
			.objdump = run->code.objdump,
			.style = run->code.style,
			.prefix = run->code.prefix,
			.strip = (unsigned)run->code.strip},
		.data = r,
		.begin = annotate_run_begin};
	/* The screen must be able to enter other functions from this one, so samples of all functions are read. */
	load.request.symbol = NULL;
	enum tally_status status = annotate_load_show(&load, &r->samples, err);
	if (r->samples.source.reader) {
		data_source_tell(r->cli, &run->request.input, &r->samples.source);
		cli_note_origin(r->cli, r->samples.source.reader);
		if (!run->is_quiet)
			cli_print_health(r->cli, &r->samples.source.pass.sideband.health);
	}
	return status;
}

static enum tally_status annotate_run_list(struct annotate_run_running *r, struct tally_error *err)
{
	enum tally_status status = annotate_samples_read(r->cli, &r->run->request, &r->samples, err);
	cli_start_pager(r->cli); /* The pager starts only after reading, so that the progress line remains visible. */
	if (r->samples.event_count == 0 || status == TALLY_NOMEM)
		return status;
	struct tally_error inner = {0};
	diag_init(&r->notes);
	enum tally_status printed = annotate_run_print_all(r, &inner);
	if (!r->run->is_quiet) {
		/* The notes are about functions that are missing because their files were not found or differ from
		 * the recorded ones. */
		struct binary_hits hits = {0};
		if (frame_names_hits(&r->samples.source.names, &hits, NULL) == TALLY_OK)
			symbol_notes_add(&r->notes, r->samples.source.store, &hits, false);
		binary_hits_deinit(&hits);
	}
	cli_print_diag(r->cli, &r->notes);
	diag_deinit(&r->notes);
	if (!r->run->is_quiet)
		cli_print_health(r->cli, &r->samples.source.pass.sideband.health);
	if (printed != TALLY_OK && err)
		*err = inner;
	return printed != TALLY_OK ? printed : status;
}

enum tally_status annotate_run(
	const struct cli *cli, struct annotate_run *run, struct text *out, struct tally_error *err)
{
	if (run->dump) {
		cli_start_pager(cli);
		return annotate_run_dump(cli, run, out, err);
	}
	struct annotate_run_running r = {.cli = cli, .run = run, .out = out};
	annotate_source_init(&r.source, run->code.prefix, (unsigned)run->code.strip);
	enum tally_status status = run->is_interactive ? annotate_run_explore(&r, err) : annotate_run_list(&r, err);
	annotate_samples_deinit(&r.samples);
	annotate_source_tell(&r.source, cli->program);
	annotate_source_deinit(&r.source);
	return status;
}
