/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/replay/replay.h"

#include <stdlib.h>

#include "analysis/plain/plain_gather.h"
#include "analysis/plain/plain_passes.h"
#include "analysis/replay/replay_state.h"
#include "analysis/stack_survey.h"
#include "analysis/tracepoint_fields.h"
#include "base/array.h"
#include "base/error.h"
#include "base/thread_pool.h"

/* Minimum number of chunks of records for another pass, which begins with empty tables. */
#define CHUNKS_WORTH_A_PASS 2
#define EXPECTED_SAMPLES    ((size_t)1 << 20) /* Limit of the samples for which tables are reserved. */

void replay_result_deinit(struct replay_result *result)
{
	profile_destroy(result->profile);
	machine_destroy(result->machine);
	binary_hits_deinit(&result->hits);
	vec_free(&result->machine_binaries);
	*result = (struct replay_result){0};
}

struct replay_passing {
	const struct sample_pass_input *input;
	struct range_share chunks;
	size_t workers; /* Number of workers at the start. */
	struct sample_pass **passes; /* By range; NULL if out of memory or not created yet. */
};

/* Reserves the tables of a pass for as many distinct keys as samples, at most EXPECTED_SAMPLES. Reserved room that
 * remains unused takes no memory. */
static void replay_expect_samples(struct sample_pass *pass, size_t samples)
{
	size_t count = MIN(samples, EXPECTED_SAMPLES);
	(void)id_table_expect_keys(&pass->keys, count);
	(void)vec_reserve(&pass->sums, count);
	(void)vec_reserve(&pass->first_keys, count);
	resolver_expect(&pass->resolver, count);
}

static void run_passes_from(void *context, size_t index, unsigned worker)
{
	struct replay_passing *p = context;
	size_t range = index;
	do {
		struct sample_pass *pass = p->passes[range] = sample_pass_create(p->input);
		if (!pass)
			return;
		if (range == index)
			replay_expect_samples(pass, p->input->sideband->health.samples / p->workers);
		spool_expect(&pass->rows, p->input->sideband->health.samples * sizeof(struct pass_row));
		sample_pass_run(pass, &p->chunks, range);
	} while (range_share_split(&p->chunks, &range));
}

/* Moves the passes to the replay in the order of their ranges. Returns false if out of memory. */
static bool take_passes(struct replay *replay, const struct replay_passing *passing)
{
	size_t count = passing->chunks.count, *order = malloc(count * sizeof(*order));
	replay->passes = order ? calloc(count, sizeof(struct sample_pass *)) : NULL;
	bool is_done = replay->passes != NULL;
	if (is_done)
		range_share_order(&passing->chunks, order);
	for (size_t i = 0; i < count; i++) {
		is_done = is_done && passing->passes[i];
		if (!replay->passes)
			sample_pass_destroy(passing->passes[i]);
		else if (passing->passes[order[i]])
			replay->passes[replay->pass_count++] = passing->passes[order[i]];
	}
	free(order);
	return is_done;
}

/* Divides the chunks of records among workers. workers must be 1 if one worker has to see all samples. */
static enum tally_status share_chunks(
	struct replay *replay, const struct sample_pass_input *input, size_t workers, struct tally_error *err)
{
	struct replay_passing passing = {.input = input};
	if (!range_share_init(&passing.chunks, replay->sideband.chunks.len, workers, CHUNKS_WORTH_A_PASS))
		return error_nomem(err);
	passing.workers = passing.chunks.count;
	passing.passes = calloc(passing.chunks.most, sizeof(struct sample_pass *));
	if (passing.passes)
		thread_pool_for(passing.chunks.count, replay->options->threads, run_passes_from, &passing);
	enum tally_status status = passing.passes && take_passes(replay, &passing) ? TALLY_OK : error_nomem(err);
	free(passing.passes);
	range_share_deinit(&passing.chunks);
	return status;
}

/* Adds the files that stacks may lead to, because nothing may be added to the store while workers run. */
static enum tally_status prepare_unwinding(
	struct replay *replay, struct sample_pass_input *input, struct tally_error *err)
{
	if (!replay->options->with_stacks || !stack_survey_has_stacks(replay->reader))
		return TALLY_OK;
	input->unwind_files = &replay->unwind_files;
	return unwind_files_add_all(&replay->unwind_files, err);
}

static enum tally_status replay_run_passes(struct replay *replay, struct tally_error *err)
{
	size_t count = thread_pool_workers(replay->sideband.chunks.len, replay->options->threads);
	if (count == 0 || sample_pass_is_sequential(replay->reader) || replay->options->stitched_registers)
		count = 1;
	struct sample_pass_input input = {
		replay->reader, &replay->run, &replay->sideband, replay->options, .unwind_files = NULL};
	input.waits = replay->waits = wait_events_find(replay->reader, replay->options->waits);
	if (replay->options->facets & UINT64_C(1) << FACET_PARALLELISM) {
		enum tally_status read = parallelism_read(&replay->parallelism, replay->reader, &replay->run, err);
		if (read != TALLY_OK)
			return read;
		input.parallelism = &replay->parallelism;
	}
	if (replay->options->facets & UINT64_C(1) << FACET_NAMESPACE) {
		enum tally_status read = thread_namespaces_read(
			&replay->namespaces, replay->reader, &replay->run, replay->sideband.clock.is_position, err);
		if (read != TALLY_OK)
			return read;
		input.namespaces = &replay->namespaces;
	}
	if (replay->options->switches) {
		struct sample_switch_source source = {
			replay->options->switches, replay->options->spans, &replay->sideband.clock};
		enum tally_status read =
			sample_switches_read(&replay->switches, replay->reader, &replay->run, &source, err);
		if (read != TALLY_OK)
			return read;
		input.switches = &replay->switches;
	}
	if (replay->options->wakers != WAKERS_NONE) {
		enum tally_status read = wait_index_read(&replay->wait_index,
			&(struct wait_index_source){replay->reader, &replay->run, replay->waits.wait}, err);
		if (read != TALLY_OK)
			return read;
		input.wait_index = &replay->wait_index;
	}
	unwind_files_init(&replay->unwind_files, replay->sideband.machine, replay->store);
	enum tally_status status = prepare_unwinding(replay, &input, err);
	return status == TALLY_OK ? share_chunks(replay, &input, count, err) : status;
}

static enum tally_status replay_read_plain(struct replay *replay, struct tally_error *err)
{
	const struct plain_job job = {replay->reader, &replay->run, replay->store, replay->options};
	replay->passes = calloc(1, sizeof(*replay->passes));
	if (!replay->passes)
		return error_nomem(err);
	enum tally_status status = plain_passes_read(&job, &replay->sideband, &replay->passes[0], err);
	replay->pass_count = replay->passes[0] ? 1 : 0;
	return status;
}

static enum tally_status replay_read_sideband(struct replay *replay, struct tally_error *err)
{
	struct sideband *sideband = &replay->sideband;
	if (replay->options->without_names)
		return sideband_read_code(replay->reader, &replay->run, replay->store, sideband, err);
	return sideband_read_loading(replay->reader, &replay->run, replay->store, sideband, err);
}

static enum tally_status replay_read_samples(struct replay *replay, struct tally_error *err)
{
	enum tally_status status = TALLY_UNSUPPORTED;
	struct progress *progress = replay->options->progress;
	size_t bytes = replay->run.bytes.len;
	progress_begin(progress, "reading samples", bytes);
	if (plain_path_supports(replay->reader, replay->options))
		status = replay_read_plain(replay, err);
	if (status == TALLY_UNSUPPORTED) {
		free(replay->passes); /* NULL, or from a replay_read_plain that could not handle the recording. */
		replay->passes = NULL;
		progress_begin(progress, "reading what ran", bytes);
		status = replay_read_sideband(replay, err);
		progress_begin(progress, "reading samples", bytes);
		if (status == TALLY_OK)
			status = replay_run_passes(replay, err);
	}
	for (size_t i = 0; i < replay->pass_count && status == TALLY_OK; i++) {
		const struct sample_pass *pass = replay->passes[i];
		if (pass->failed)
			return error_nomem(err);
		stack_ends_merge(&replay->ends, &pass->unwinder.ends);
		damaged_records_merge(&replay->sideband.health.damaged, &pass->damaged);
		replay->sideband.health.unattributed_samples += pass->unattributed + pass->reads.unattributed;
	}
	return status;
}

bool replay_count_hits(struct replay *replay)
{
	for (size_t i = 0; i < replay->frames.len; i++) {
		uint32_t binary = resolved_frame_get(&replay->frames, (uint32_t)i).binary;
		if (!binary_hits_add(&replay->hits, binary, replay->leaf_counts[i], replay->symbols[i] != NULL))
			return false;
	}
	return true;
}

static uint64_t branched_samples(const struct replay *replay, size_t event)
{
	uint64_t count = 0;
	for (size_t i = 0; i < replay->pass_count; i++)
		count += event < replay->passes[i]->branched.len ? replay->passes[i]->branched.items[event] : 0;
	return count;
}

static uint64_t replay_lost_of(const struct replay *replay, size_t event)
{
	return event < replay->sideband.lost_by_event.len ? replay->sideband.lost_by_event.items[event] : 0;
}

static void replay_add_events(struct replay *replay)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(replay->reader, &count);
	const struct wait_events *waits = &replay->waits;
	for (size_t i = 0; i < count; i++) {
		size_t other = waits->are_joined && i == waits->clock ? waits->wait : i;
		struct profile_event event = {
			.name = profile_builder_string(
				replay->builder, other != i ? STR(WALL_CLOCK_EVENT) : events[i].name),
			.lost_count = replay_lost_of(replay, i) + (other != i ? replay_lost_of(replay, other) : 0),
			.leader = events[i].leader_index,
			.member_count = events[i].member_count,
			.branched_count = branched_samples(replay, i),
			.has_callchain = perfdata_event_has(&events[i], SAMPLE_CALLCHAIN),
			.has_copied_stacks = (events[i].attr.sample_type & SAMPLE_STACK_USER) != 0,
		};
		profile_builder_event(replay->builder, &event);
	}
}

/* Prepares the data from which the texts of facets (further properties of samples) are made. */
static enum tally_status prepare_facets(struct replay *replay, struct tally_error *err)
{
	uint64_t kept = replay->options->facets;
	enum tally_status status = TALLY_OK;
	struct tally_bytes formats = perfdata_reader_features(replay->reader)->tracing_data;
	if (kept & FACET_PAYLOAD_MASK && perfdata_reader_has_tracepoints(replay->reader))
		status = tracepoint_printer_create(formats, &replay->tracepoints, err);
	if (status == TALLY_OK && kept & UINT64_C(1) << FACET_CGROUP)
		status = cgroup_names_read(&replay->cgroups, replay->reader, err);
	return status;
}

static void replay_add_fields(struct replay *replay)
{
	for (size_t i = 0; i < replay->options->field_count; i++) {
		const struct replay_field *from = &replay->options->fields[i];
		struct profile_field field = {profile_builder_string(replay->builder, from->name), from->events,
			from->width, from->is_dynamic};
		profile_builder_field(replay->builder, &field);
	}
}

static void replay_expect_rows(struct replay *replay)
{
	size_t bytes = 0;
	for (size_t i = 0; i < replay->pass_count; i++)
		bytes += replay->passes[i]->rows.len;
	profile_builder_expect_rows(replay->builder, bytes / sizeof(struct pass_row));
}

static enum tally_status build_profile(struct replay *replay, struct profile **profile, struct tally_error *err)
{
	replay->builder = profile_builder_create();
	if (replay->builder)
		profile_builder_keep_facets(replay->builder, replay->options->facets);
	struct replay_frame_ids frames = {0};
	enum tally_status status = TALLY_OK;
	if (!replay->builder || !replay_join_frames(replay, &frames) || !replay_note_outermost(replay, &frames))
		status = error_nomem(err);
	if (status == TALLY_OK) {
		replay_expect_rows(replay);
		replay_add_events(replay);
		replay_add_fields(replay);
		status = replay_name_frames(replay, err);
	}
	if (status == TALLY_OK)
		status = replay_add_samples(replay, &frames, err);
	if (status == TALLY_OK)
		status = binary_hits_finish(&replay->hits, replay->sideband.machine, replay->store, err);
	if (status == TALLY_OK) {
		struct profile_builder *builder = replay->builder;
		replay->builder = NULL; /* profile_builder_finish frees it, also on failure. */
		status = profile_builder_finish(builder, profile, err);
	}
	free(frames.items);
	free(frames.begin);
	return status;
}

static void replay_deinit(struct replay *replay)
{
	for (size_t i = 0; i < replay->pass_count; i++)
		sample_pass_destroy(replay->passes[i]);
	free(replay->passes);
	profile_builder_destroy(replay->builder);
	tracepoint_printer_destroy(replay->tracepoints);
	cgroup_names_deinit(&replay->cgroups);
	parallelism_deinit(&replay->parallelism);
	thread_namespaces_deinit(&replay->namespaces);
	sample_switches_deinit(&replay->switches);
	wait_index_deinit(&replay->wait_index);
	id_table_deinit(&replay->frames);
	free(replay->profile_binaries);
	vec_free(&replay->machine_binaries);
	vec_free(&replay->first_ips);
	free(replay->symbols);
	free(replay->profile_frames);
	free(replay->roots);
	free(replay->functions);
	free(replay->places);
	free(replay->callers);
	free(replay->roles);
	vec_free(&replay->function_roles);
	inline_frames_deinit(&replay->inlines);
	free(replay->leaf_counts);
	binary_hits_deinit(&replay->hits);
	unwind_files_deinit(&replay->unwind_files);
	arena_deinit(&replay->arena);
	sideband_deinit(&replay->sideband);
	record_run_close(&replay->run);
}

/* Reports damage of the recording, once the result is complete. */
static enum tally_status end_status(const struct replay *replay, struct tally_error *err)
{
	const struct input_health *health = &replay->sideband.health;
	if (replay->run.end_error.status != TALLY_OK) {
		if (err)
			*err = replay->run.end_error;
		return replay->run.end_error.status;
	}
	if (health->is_cut)
		return error_set_at(err, TALLY_CORRUPT, health->cut_offset, "the recording is cut or damaged");
	return TALLY_OK;
}

enum tally_status replay_profile(struct perfdata_reader *reader, struct binary_store *store,
	const struct replay_options *options, struct replay_result *result, struct tally_error *err)
{
	struct replay replay = {.reader = reader, .store = store, .options = options};
	replay.frames.words = RESOLVED_FRAME_WORDS;
	arena_init(&replay.arena);
	struct profile *profile = NULL;
	struct progress *progress = options->progress;
	progress_begin(progress, "reading the recording", 0);
	enum tally_status status = record_run_open(reader, &replay.run, err);
	replay.run.progress = progress;
	replay.run.threads = options->threads;
	if (options->max_bytes && !replay.run.is_copy && options->max_bytes < replay.run.bytes.len)
		replay.run.bytes.len = options->max_bytes;
	if (status == TALLY_OK)
		status = replay_read_samples(&replay, err);
	progress_begin(progress, "looking up names", 0);
	if (status == TALLY_OK)
		status = prepare_facets(&replay, err);
	if (status == TALLY_OK)
		status = build_profile(&replay, &profile, err);
	if (status == TALLY_OK) {
		*result = (struct replay_result){.profile = profile,
			.machine = replay.sideband.machine,
			.health = replay.sideband.health,
			.ends = replay.ends,
			.ends_on = sample_switches_end_on(&replay.switches),
			.hits = replay.hits};
		result->machine_binaries.items = replay.machine_binaries.items;
		result->machine_binaries.len = replay.machine_binaries.len;
		replay.machine_binaries.items = NULL;
		replay.sideband.machine = NULL;
		replay.hits = (struct binary_hits){0};
		status = end_status(&replay, err);
	}
	replay_deinit(&replay);
	return status;
}
