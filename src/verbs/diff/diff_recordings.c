/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/diff/diff_recordings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/progress_line.h"
#include "perfdata/origin.h"
#include "tasks/reporting/report_request.h"
#include "tasks/session/cpu_filter.h"
#include "tasks/session/symbol_notes.h"

/* Returns the part of --time that applies to a recording. Parts are separated by colons; a single part applies to
 * all recordings. */
static struct tally_str times_of(const char *times, size_t index)
{
	struct tally_str rest = str_from(times), part = {0};
	if (!strchr(times, ':'))
		return rest;
	for (size_t i = 0; i <= index; i++)
		if (!str_next(&rest, ':', &part))
			return STR("");
	return part;
}

enum tally_status diff_recording_times(
	const struct diff_request *request, size_t index, char **times, struct tally_error *err)
{
	struct tally_str part = request->samples.times ? times_of(request->samples.times, index) : STR("");
	*times = part.len ? strndup(part.data, part.len) : NULL;
	return part.len && !*times ? error_nomem(err) : TALLY_OK;
}

static enum tally_status read_spans(const struct diff_request *request, struct diff_recording *recording, size_t index,
	struct time_spans *spans, bool *is_limited, struct tally_error *err)
{
	char *text;
	enum tally_status status = diff_recording_times(request, index, &text, err);
	*is_limited = status == TALLY_OK && text;
	if (*is_limited)
		status = time_spans_read(text, recording->source.reader, spans, err);
	free(text);
	return status;
}

/* Returns whether symbols that were resolved for one recording are valid for the other: both have the same kernel
 * and CPU, and neither contains a pack of its own. */
static bool shares_store(const struct perfdata_features *a, const struct perfdata_features *b)
{
	return str_equal(a->osrelease, b->osrelease) && str_equal(a->cpuid, b->cpuid) &&
	       a->raw[FEATURE_PACK].len == 0 && b->raw[FEATURE_PACK].len == 0;
}

/* Returns the time of the newest recording. Recordings share a store, and a program may have been built between
 * them. */
static uint64_t newest_ns(const struct diff_request *request)
{
	uint64_t newest = 0;
	for (size_t i = 0; i < request->path_count; i++) {
		struct stat st;
		uint64_t ns = stat(request->paths[i], &st) == 0 ? (uint64_t)st.st_mtim.tv_sec * UINT64_C(1000000000) +
									  (uint64_t)st.st_mtim.tv_nsec
								: 0;
		newest = MAX(ns, newest);
	}
	return newest;
}

static enum tally_status find_store(const struct cli *cli, const struct diff_request *request,
	struct diff_recordings *all, struct diff_recording *recording, struct tally_error *err)
{
	const struct perfdata_features *features = perfdata_reader_features(recording->source.reader);
	for (struct diff_recording *other = all->items; other < recording; other++) {
		if (shares_store(features, perfdata_reader_features(other->source.reader))) {
			recording->store = other->store;
			return TALLY_OK;
		}
	}
	const struct data_input input = {.symbols = request->symbols, .recorded_ns = newest_ns(request)};
	enum tally_status status = data_source_open_store(cli, &input, &recording->source, err);
	recording->store = recording->source.store;
	return status;
}

static enum tally_status open_reader(
	const struct diff_request *request, struct diff_recording *recording, struct tally_error *err)
{
	struct tally_error why;
	const struct data_input input = {.file = {recording->path, request->force}};
	enum tally_status status = data_source_open_reader(&input, &recording->source, &why);
	if (status == TALLY_CORRUPT)
		return error_set(err, status, "Failed to open %s", recording->path);
	if (status == TALLY_OK && sample_options_check(&request->samples, recording->source.reader, err) != TALLY_OK)
		return TALLY_INVALID;
	bool has_chains = status != TALLY_OK ||
			  perfdata_reader_has_samples_with(recording->source.reader, SAMPLE_CALLCHAIN) ||
			  perfdata_reader_is_pipe(recording->source.reader);
	if (request->with_paths && !has_chains)
		return error_set(err, TALLY_INVALID, "-g needs call chains, and %s has none: was it made without -g?",
			recording->path);
	bool has_branches = status != TALLY_OK || recording_has_branches(recording->source.reader) ||
			    perfdata_reader_is_pipe(recording->source.reader);
	if (request->with_streams && !has_branches)
		return error_set(err, TALLY_INVALID,
			"--stream needs branch stacks, and %s has none: was it made without -b?", recording->path);
	return status == TALLY_OK ? status : error_set(err, status, "%s\nFailed to open %s", why.text, recording->path);
}

static enum tally_status open_one(const struct cli *cli, const struct diff_request *request,
	const struct replay_options *wanted, struct diff_recordings *all, size_t index, struct tally_error *err)
{
	struct diff_recording *recording = &all->items[index];
	struct replay_options options = *wanted;
	struct time_spans spans = {0};
	bool is_limited;
	recording->path = request->paths[index];
	enum tally_status status = open_reader(request, recording, err);
	if (status == TALLY_OK)
		status = find_store(cli, request, all, recording, err);
	if (status == TALLY_OK)
		status = read_spans(request, recording, index, &spans, &is_limited, err);
	if (status == TALLY_OK) {
		options.spans = is_limited ? &spans : NULL;
		status = progress_line_replay(
			recording->source.reader, recording->store, &options, &recording->result, err);
		if (recording->result.profile && !request->is_quiet)
			cli_print_health(cli, &recording->result.health);
		if (status == TALLY_OK && recording->result.health.samples == 0) {
			cli_note_empty(cli, recording->path, 0);
			cli_note_counts(cli, recording->source.reader, recording->path);
		}
	}
	time_spans_deinit(&spans);
	if (status == TALLY_OK) {
		recording->waits = wait_events_find(recording->source.reader, options.waits);
		status = profile_filter_init(
			&recording->filter, recording->result.profile, &request->samples.filters, err);
	}
	return status;
}

/* Compares each recording with the baseline, which is the first. */
static void warn_of_origins(const struct cli *cli, const struct diff_recordings *all)
{
	for (size_t i = 1; i < all->count; i++) {
		const struct origin_named base = {
			str_from(all->items[0].path), perfdata_reader_features(all->items[0].source.reader)};
		const struct origin_named other = {
			str_from(all->items[i].path), perfdata_reader_features(all->items[i].source.reader)};
		cli_warn_origins(cli, &base, &other);
	}
}

/* Warns if only one of two recordings is of wall-clock time, because its events are not those of CPU time. */
static void warn_of_waits(const struct cli *cli, const struct diff_recordings *all)
{
	for (size_t i = 1; i < all->count; i++) {
		bool is_first = all->items[0].waits.are_joined;
		if (all->items[i].waits.are_joined != is_first)
			cli_failf(cli,
				"warning: %s is of wall-clock time (record --wall), and %s is not: their events are "
				"not compared with each other",
				all->items[is_first ? 0 : i].path, all->items[is_first ? i : 0].path);
	}
}

/* A part that is missing from a recording may contain the change that the gate is meant to detect. */
static enum tally_status diff_recordings_check_whole(const struct diff_recording *recording, struct tally_error *err)
{
	const struct input_health *health = &recording->result.health;
	const char *why = health->is_cut	  ? "it is cut off"
			  : health->is_unfinished ? "its recorder did not finish"
			  : health->missing_parts ? "files of it are missing or cut off"
			  : health->damaged.count ? "records of it are damaged"
						  : NULL;
	return why ? error_set(err, TALLY_INVALID, "no verdict of --fail-if: %s is not a whole recording: %s",
			     recording->path, why)
		   : TALLY_OK;
}

enum tally_status diff_recordings_open(const struct cli *cli, const struct diff_request *request,
	const struct replay_options *options, struct diff_recordings *recordings, struct tally_error *err)
{
	struct diff_recordings all = {0};
	struct replay_options wanted = *options;
	wanted.with_threads = request->samples.filters.pids || request->samples.filters.tids ||
			      diff_request_has_key(request, KEY_PID) || diff_request_has_key(request, KEY_TGID);
	wanted.with_cpu = request->samples.cpus || diff_request_has_key(request, KEY_CPU);
	wanted.with_lines = wanted.with_lines || diff_request_has_key(request, KEY_SRCLINE) ||
			    diff_request_has_key(request, KEY_SRCFILE);
	wanted.time_quantum_ns = REPORT_QUANTUM_NS;
	for (size_t i = 0; i < request->key_count; i++) {
		enum profile_key_form form = (enum profile_key_form)profile_key_get(request->keys[i])->form;
		if (form != KEY_FORM_ROW && form != KEY_FORM_NOTHING)
			wanted.facets |= UINT64_C(1) << profile_key_facet(request->keys[i]);
	}
	/* Keys that describe waits apply to all of a thread's time, so waits and samples are combined. */
	wanted.waits = wanted.facets & (UINT64_C(1) << FACET_STATE | UINT64_C(1) << FACET_WAKER) ? WAITS_JOINED
												 : WAITS_IF_WALL;
	wanted.with_stacks = wanted.with_stacks || request->samples.filters.parent;
	wanted.with_exact_frames =
		wanted.with_exact_frames || request->verbose > 0 || diff_request_has_key(request, KEY_SYMBOL_OFFSET);
	wanted.tells_no_trace = true;
	wanted.with_origins = request->verbose > 0;
	all.items = calloc(request->path_count, sizeof(*all.items));
	enum tally_status status = all.items ? TALLY_OK : error_nomem(err);
	if (status == TALLY_OK && request->samples.cpus)
		status = cpu_filter_parse(request->samples.cpus, &all.cpus, err);
	while (status == TALLY_OK && all.count < request->path_count) {
		size_t index = all.count++;
		status = open_one(cli, request, &wanted, &all, index, err);
		if (status == TALLY_OK && request->gate.count > 0)
			status = diff_recordings_check_whole(&all.items[index], err);
	}
	if (status != TALLY_OK) {
		diff_recordings_close(&all);
		return status;
	}
	for (size_t i = 0; !request->is_quiet && i < all.count; i++)
		if (all.items[i].source.store)
			symbol_notes_print_doubts(cli, all.items[i].source.store);
	if (!request->is_quiet)
		warn_of_origins(cli, &all);
	if (!request->is_quiet)
		warn_of_waits(cli, &all);
	*recordings = all;
	return TALLY_OK;
}

void diff_recordings_close(struct diff_recordings *recordings)
{
	for (size_t i = 0; i < recordings->count; i++) {
		struct diff_recording *recording = &recordings->items[i];
		profile_filter_deinit(&recording->filter);
		replay_result_deinit(&recording->result);
	}
	/* The stores are closed last, because recordings may refer to names in each other's store. */
	for (size_t i = 0; i < recordings->count; i++)
		data_source_close(&recordings->items[i].source);
	free(recordings->items);
	free(recordings->cpus);
	*recordings = (struct diff_recordings){0};
}

uint32_t diff_recording_event(
	const struct diff_recording *recording, const struct diff_recording *other, uint32_t other_event)
{
	size_t count, other_count;
	const struct perfdata_event *events = perfdata_reader_events(recording->source.reader, &count);
	const struct perfdata_event *wanted = perfdata_reader_events(other->source.reader, &other_count) + other_event;
	for (size_t i = 0; i < count && i < recording->result.profile->event_count; i++)
		if (events[i].attr.type == wanted->attr.type && events[i].attr.config == wanted->attr.config)
			return (uint32_t)i;
	return PROFILE_NONE;
}

static struct flat_options table_options(const struct diff_recordings *recordings,
	const struct diff_recording *recording, uint32_t event, const struct diff_request *request)
{
	return (struct flat_options){
		.keys = request->keys,
		.key_count = request->key_count,
		.first_event = event,
		.member_count = 1,
		.by_paths = request->verbose > 0,
		.filter = &recording->filter,
		.cpu_passes = recordings->cpus,
		.cpu_limit = recordings->cpus ? LIMIT_CPUS : 0,
	};
}

enum tally_status diff_recording_table(const struct diff_recordings *recordings, size_t index, uint32_t event,
	const struct diff_request *request, struct flat_table *table, struct tally_error *err)
{
	const struct diff_recording *recording = &recordings->items[index];
	struct flat_options options = table_options(recordings, recording, event, request);
	return flat_table_init(table, recording->result.profile, &options, err);
}

enum tally_status diff_recording_streams(const struct diff_recordings *recordings, size_t index, uint32_t event,
	const struct diff_request *request, struct hot_streams *streams, struct tally_error *err)
{
	const struct diff_recording *recording = &recordings->items[index];
	uint32_t own = index ? diff_recording_event(recording, &recordings->items[0], event) : event;
	*streams = (struct hot_streams){.profile = recording->result.profile};
	if (own == PROFILE_NONE)
		return TALLY_OK;
	struct flat_options options = table_options(recordings, recording, own, request);
	options.with_chains = options.with_branches = true;
	options.is_chain_of_lines = true;
	enum profile_key order[REPORT_MAX_COLUMNS + 1] = {KEY_OVERHEAD};
	memcpy(order + 1, request->keys, request->key_count * sizeof(*order));
	struct flat_table table;
	enum tally_status status = flat_table_init(&table, recording->result.profile, &options, err);
	if (status != TALLY_OK)
		return status;
	status = flat_table_sort(&table, order, request->key_count + 1, err);
	if (status == TALLY_OK)
		status = hot_streams_find(&table, streams, err);
	flat_table_deinit(&table);
	return status;
}
