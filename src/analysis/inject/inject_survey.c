/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/inject/inject_survey.h"

#include <stdlib.h>

#include "analysis/resolve.h"
#include "base/error.h"

struct survey_pass {
	struct perfdata_reader *reader;
	struct inject_survey *survey;
	struct resolver resolver;
};

static bool add_build_id(struct inject_survey *survey, const struct record *record)
{
	struct record_fields fields;
	if (record_decode(record, &fields, NULL) != TALLY_OK)
		return true; /* carried over as it is, nothing to learn from it */
	struct tally_str name = fields.build_id.filename;
	char *copy = arena_string(&survey->arena, name.data, name.len);
	struct perfdata_build_id id = {
		.pid = fields.build_id.pid,
		.misc = record->misc,
		.size = fields.build_id.size,
		.filename = {copy, name.len},
	};
	memcpy(id.bytes, fields.build_id.bytes, sizeof(id.bytes));
	return copy && vec_push(&survey->build_ids, id);
}

static enum tally_status read_records(
	struct perfdata_reader *reader, struct inject_survey *survey, bool *has_aux, struct tally_error *err)
{
	struct record record;
	*has_aux = false;
	while (perfdata_reader_next(reader, &record, NULL) == TALLY_OK) {
		*has_aux = *has_aux || record.type == RECORD_AUXTRACE;
		if (record.type == RECORD_HEADER_BUILD_ID && !add_build_id(survey, &record))
			return error_nomem(err);
	}
	perfdata_reader_rewind(reader);
	return TALLY_OK;
}

static void inject_survey_hit(struct survey_pass *pass, uint32_t frame)
{
	if (pass->resolver.failed)
		return;
	uint32_t binary = resolved_frame_get(&pass->resolver.frames, frame).binary;
	if (binary != RESOLVE_NONE)
		pass->survey->is_hit[binary] = 1;
}

static void hit_sample(struct survey_pass *pass, const struct record *record)
{
	const struct perfdata_event *event = perfdata_reader_event_of(pass->reader, record);
	struct sample sample;
	if (!event || sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK)
		return;
	uint64_t clock = sample_clock_at(
		&pass->survey->sideband.clock, event, record_run_position(&pass->survey->run, record), sample.time);
	struct resolve_where where = resolver_where(&pass->resolver, (int32_t)sample.pid, clock);
	if (sample.present & SAMPLE_IP)
		inject_survey_hit(
			pass, resolver_frame(&pass->resolver, &where, record->misc & MISC_CPUMODE_MASK, sample.ip));
	if (!(sample.present & SAMPLE_CALLCHAIN))
		return;
	struct sample_array whole = resolver_whole_chain(&pass->resolver, &sample.callchain);
	struct resolved_chain chain = resolver_chain_frames(&pass->resolver, &where, &whole);
	for (size_t i = 0; i < chain.count; i++)
		inject_survey_hit(pass, chain.frames[i]);
}

static enum tally_status read_hits(struct survey_pass *pass, struct tally_error *err)
{
	struct inject_survey *survey = pass->survey;
	struct record record;
	size_t position = 0;
	if (!resolver_init(&pass->resolver, survey->sideband.machine, survey->run.swap))
		return error_nomem(err);
	pass->resolver.deferred = &survey->sideband.deferred;
	while (position < survey->sideband.end && record_run_next(&survey->run, &position, &record, NULL) == TALLY_OK)
		if (record.type == RECORD_SAMPLE)
			hit_sample(pass, &record);
	bool failed = pass->resolver.failed;
	resolver_deinit(&pass->resolver);
	return failed ? error_nomem(err) : TALLY_OK;
}

static enum tally_status read_machine(
	struct perfdata_reader *reader, bool all, struct inject_survey *survey, struct tally_error *err)
{
	struct survey_pass pass = {.reader = reader, .survey = survey};
	enum tally_status status = record_run_open(reader, &survey->run, err);
	if (status == TALLY_OK)
		status = sideband_read(reader, &survey->run, &survey->sideband, err);
	if (status != TALLY_OK)
		return status;
	size_t count = machine_binary_count(survey->sideband.machine);
	survey->is_hit = calloc(count ? count : 1, 1);
	if (!survey->is_hit)
		return error_nomem(err);
	if (all)
		memset(survey->is_hit, 1, count);
	else
		status = read_hits(&pass, err);
	perfdata_reader_rewind(reader);
	return status;
}

enum tally_status inject_survey_read(struct perfdata_reader *reader, enum inject_survey_depth depth,
	struct inject_survey *survey, struct tally_error *err)
{
	bool has_aux;
	*survey = (struct inject_survey){0};
	arena_init(&survey->arena);
	enum tally_status status = read_records(reader, survey, &has_aux, err);
	/* Nobody knows what AUX data hit before it is decoded. */
	if (status == TALLY_OK && depth != INJECT_SURVEY_RECORDS)
		status = read_machine(reader, depth == INJECT_SURVEY_FILES || has_aux, survey, err);
	if (status != TALLY_OK)
		inject_survey_deinit(survey);
	return status;
}

void inject_survey_deinit(struct inject_survey *survey)
{
	free(survey->is_hit);
	sideband_deinit(&survey->sideband);
	record_run_close(&survey->run);
	vec_free(&survey->build_ids);
	arena_deinit(&survey->arena);
	*survey = (struct inject_survey){0};
}
