/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/inject/inject_survey.h"

#include <stdlib.h>

#include "base/error.h"

static bool add_build_id(struct inject_survey *survey, const struct record *record)
{
	struct record_fields fields;
	if (record_decode(record, &fields, NULL) != TALLY_OK)
		return true; /* A damaged record is copied unchanged; nothing can be learned from it. */
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

static void inject_survey_hit(struct inject_survey *survey, uint32_t frame)
{
	const struct resolver *resolver = &survey->pass.resolver;
	if (resolver->failed)
		return;
	uint32_t binary = resolved_frame_get(&resolver->frames, frame).binary;
	if (binary != RESOLVE_NONE)
		survey->is_hit[binary] = 1;
}

static void hit_sample(struct inject_survey *survey, const struct record *record)
{
	struct recording_pass *pass = &survey->pass;
	const struct perfdata_event *event = perfdata_reader_event_of(pass->reader, record);
	struct sample sample;
	if (!event || sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK)
		return;
	uint64_t clock =
		sample_clock_at(&pass->sideband.clock, event, record_run_position(&pass->run, record), sample.time);
	struct resolve_where where = resolver_where(&pass->resolver, (int32_t)sample.pid, clock);
	if (sample.present & SAMPLE_IP)
		inject_survey_hit(
			survey, resolver_frame(&pass->resolver, &where, record->misc & MISC_CPUMODE_MASK, sample.ip));
	if (!(sample.present & SAMPLE_CALLCHAIN))
		return;
	struct sample_array whole = resolver_whole_chain(&pass->resolver, &sample.callchain);
	struct resolved_chain chain = resolver_chain_frames(&pass->resolver, &where, &whole);
	for (size_t i = 0; i < chain.count; i++)
		inject_survey_hit(survey, chain.frames[i]);
}

static enum tally_status read_hits(struct inject_survey *survey, struct tally_error *err)
{
	struct recording_pass *pass = &survey->pass;
	struct record record;
	size_t position = 0;
	enum tally_status status = recording_pass_resolve(pass, NULL, err);
	if (status != TALLY_OK)
		return status;
	while (position < pass->sideband.end && record_run_next(&pass->run, &position, &record, NULL) == TALLY_OK)
		if (record.type == RECORD_SAMPLE)
			hit_sample(survey, &record);
	return pass->resolver.failed ? error_nomem(err) : TALLY_OK;
}

static enum tally_status read_machine(
	struct perfdata_reader *reader, bool all, struct inject_survey *survey, struct tally_error *err)
{
	enum tally_status status = recording_pass_read(&survey->pass, reader, &(struct recording_pass_input){0}, err);
	if (status != TALLY_OK)
		return status;
	size_t count = machine_binary_count(survey->pass.sideband.machine);
	survey->is_hit = calloc(count ? count : 1, 1);
	if (!survey->is_hit)
		return error_nomem(err);
	if (all)
		memset(survey->is_hit, 1, count);
	else
		status = read_hits(survey, err);
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
	/* The files that AUX data hits are unknown until it is decoded. */
	if (status == TALLY_OK && depth != INJECT_SURVEY_RECORDS)
		status = read_machine(reader, depth == INJECT_SURVEY_FILES || has_aux, survey, err);
	if (status != TALLY_OK)
		inject_survey_deinit(survey);
	return status;
}

void inject_survey_deinit(struct inject_survey *survey)
{
	free(survey->is_hit);
	recording_pass_close(&survey->pass);
	vec_free(&survey->build_ids);
	arena_deinit(&survey->arena);
	*survey = (struct inject_survey){0};
}
