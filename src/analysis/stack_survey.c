/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stack_survey.h"

#include "analysis/resolve.h"
#include "analysis/sideband.h"
#include "base/error.h"

struct survey {
	struct perfdata_reader *reader;
	struct record_run run;
	struct sideband sideband;
	struct binary_store *store;
	struct unwind_files files;
	struct sample_unwinder unwinder;
	struct resolver resolver;
};

bool stack_survey_has_stacks(struct perfdata_reader *reader)
{
	return perfdata_reader_has_samples_with(reader, SAMPLE_STACK_USER);
}

static void stack_survey_visit(struct survey *s, const struct record *record, size_t position)
{
	const struct perfdata_event *event = perfdata_reader_event_of(s->reader, record);
	struct sample sample;
	if (!event || sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK)
		return;
	uint64_t order = sample_clock_at(&s->sideband.clock, event, position, sample.time);
	struct resolve_where where = resolver_where(&s->resolver, (int32_t)sample.pid, order);
	(void)resolver_sample_chain(&s->resolver, &where, &event->layout, &sample);
}

static enum tally_status stack_survey_read_all(struct survey *s, struct tally_error *err)
{
	enum tally_status status = sideband_read(s->reader, &s->run, &s->sideband, err);
	if (status == TALLY_OK && !resolver_init(&s->resolver, s->sideband.machine, s->run.swap))
		status = error_nomem(err);
	if (status != TALLY_OK)
		return status;
	unwind_files_init(&s->files, s->sideband.machine, s->store);
	sample_unwinder_init(&s->unwinder, &s->files, perfdata_reader_features(s->reader), s->run.swap);
	s->resolver.deferred = &s->sideband.deferred;
	s->resolver.unwinder = &s->unwinder;
	size_t position = s->sideband.chunks.len > 0 ? s->sideband.chunks.items[0] : s->sideband.end;
	while (position < s->sideband.end && !s->resolver.failed) {
		struct record record;
		size_t start = position;
		if (record_run_next(&s->run, &position, &record, NULL) != TALLY_OK)
			break;
		if (record.type == RECORD_SAMPLE)
			stack_survey_visit(s, &record, start);
	}
	return s->resolver.failed ? error_nomem(err) : TALLY_OK;
}

enum tally_status stack_survey_read(struct perfdata_reader *reader, const struct binary_store_options *options,
	struct stack_ends *ends, struct tally_error *err)
{
	struct survey s = {.reader = reader};
	if (!stack_survey_has_stacks(reader)) {
		*ends = (struct stack_ends){0};
		return TALLY_OK;
	}
	perfdata_reader_rewind(reader);
	enum tally_status status = binary_store_create(options, &s.store, err);
	if (status == TALLY_OK)
		status = record_run_open(reader, &s.run, err);
	if (status == TALLY_OK)
		status = stack_survey_read_all(&s, err);
	if (status == TALLY_OK)
		*ends = s.unwinder.ends;
	resolver_deinit(&s.resolver);
	sample_unwinder_deinit(&s.unwinder);
	unwind_files_deinit(&s.files);
	sideband_deinit(&s.sideband);
	record_run_close(&s.run);
	binary_store_destroy(s.store);
	return status;
}
