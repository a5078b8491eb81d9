/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stack_survey.h"

#include "analysis/recording_pass.h"
#include "base/error.h"

bool stack_survey_has_stacks(struct perfdata_reader *reader)
{
	return perfdata_reader_has_samples_with(reader, SAMPLE_STACK_USER);
}

static void stack_survey_visit(struct recording_pass *pass, const struct record *record, size_t position)
{
	const struct perfdata_event *event = perfdata_reader_event_of(pass->reader, record);
	struct sample sample;
	if (!event || sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK)
		return;
	uint64_t order = sample_clock_at(&pass->sideband.clock, event, position, sample.time);
	struct resolve_where where = resolver_where(&pass->resolver, (int32_t)sample.pid, order);
	(void)resolver_sample_chain(&pass->resolver, &where, &event->layout, &sample);
}

enum tally_status stack_survey_read(
	struct perfdata_reader *reader, struct binary_store *store, struct stack_ends *ends, struct tally_error *err)
{
	struct recording_pass pass;
	if (!stack_survey_has_stacks(reader)) {
		*ends = (struct stack_ends){0};
		return TALLY_OK;
	}
	perfdata_reader_rewind(reader);
	enum tally_status status =
		recording_pass_open(&pass, reader, &(struct recording_pass_input){.store = store}, err);
	if (status == TALLY_OK) {
		const struct sideband *sideband = &pass.sideband;
		size_t position = sideband->chunks.len > 0 ? sideband->chunks.items[0] : sideband->end;
		while (position < sideband->end && !pass.resolver.failed) {
			struct record record;
			size_t start = position;
			if (record_run_next(&pass.run, &position, &record, NULL) != TALLY_OK)
				break;
			if (record.type == RECORD_SAMPLE)
				stack_survey_visit(&pass, &record, start);
		}
		if (pass.resolver.failed)
			status = error_nomem(err);
		else
			*ends = pass.unwinder.ends;
	}
	recording_pass_close(&pass);
	return status;
}
