/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/chain_survey.h"

#include <string.h>

#include "abi/perf_constants.h"
#include "analysis/recording_pass.h"
#include "base/array.h"
#include "base/error.h"

#define SHALLOW_FRAMES 2
#define CHAINS_LEAST   50
#define BROKEN_PERCENT 80

bool chain_survey_is_of(const struct perf_attr *attr)
{
	return (attr->sample_type & SAMPLE_CALLCHAIN) != 0 &&
	       !(attr->sample_type & (SAMPLE_STACK_USER | SAMPLE_BRANCH_STACK)) &&
	       !ATTR_HAS(attr, EXCLUDE_CALLCHAIN_USER);
}

bool chain_survey_is_by_frame_pointer(const struct perfdata_features *features)
{
	for (size_t i = 0; i < features->cmdline.len; i++) {
		struct tally_str word = features->cmdline.items[i];
		if (memmem(word.data, word.len, "dwarf", 5) || memmem(word.data, word.len, "lbr", 3))
			return false;
	}
	return true;
}

/* A chain that ends in the C library is complete: it has reached the function that starts a thread or calls main. */
static bool is_c_library(struct tally_str path)
{
	static const char *const names[] = {"libc.", "libc-", "ld-", "libpthread", "libc.musl"};
	size_t base = path.len;
	while (base && path.data[base - 1] != '/')
		base--;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_starts_with((struct tally_str){path.data + base, path.len - base}, str_from(names[i])))
			return true;
	return false;
}

void chain_survey_add(
	struct chain_survey *survey, struct resolver *r, const struct resolve_where *where, const struct sample *sample)
{
	uint64_t outermost = 0, frames = 0;
	bool is_user = false;
	for (uint32_t i = 0; i < sample->callchain.count; i++) {
		uint64_t entry = sample_u64_at(sample->callchain.data, i, sample->swap);
		bool is_mark = entry >= CONTEXT_MAX;
		if (is_mark)
			is_user = entry == CONTEXT_USER;
		if (is_mark || !is_user)
			continue;
		outermost = entry;
		frames++;
	}
	if (frames == 0)
		return;
	survey->chains++;
	if (frames > SHALLOW_FRAMES)
		return;
	uint32_t id = resolver_frame(r, where, MISC_CPUMODE_USER, outermost);
	uint32_t binary = r->failed ? RESOLVE_NONE : resolved_frame_get(&r->frames, id).binary;
	survey->broken += binary == RESOLVE_NONE ||
			  !is_c_library(machine_string(r->machine, machine_binary_get(r->machine, binary)->path));
}

bool chain_survey_tells_of_broken(const struct chain_survey *survey)
{
	return survey->chains >= CHAINS_LEAST && survey->broken * 100 >= survey->chains * BROKEN_PERCENT;
}

bool chain_survey_has_any(const struct perfdata_reader *reader)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++)
		if (chain_survey_is_of(&events[i].attr))
			return chain_survey_is_by_frame_pointer(perfdata_reader_features(reader));
	return false;
}

enum tally_status chain_survey_read(
	struct perfdata_reader *reader, struct chain_survey *survey, struct tally_error *err)
{
	struct recording_pass pass;
	*survey = (struct chain_survey){0};
	if (!chain_survey_has_any(reader))
		return TALLY_OK;
	perfdata_reader_rewind(reader);
	enum tally_status status = recording_pass_open(&pass, reader, &(struct recording_pass_input){0}, err);
	size_t position = 0;
	struct record record;
	while (status == TALLY_OK && position < pass.sideband.end && chain_survey_wants(survey) &&
		!pass.resolver.failed && record_run_next(&pass.run, &position, &record, NULL) == TALLY_OK) {
		const struct perfdata_event *event =
			record.type == RECORD_SAMPLE ? perfdata_reader_event_of(reader, &record) : NULL;
		struct sample sample;
		if (!event || !chain_survey_is_of(&event->attr) ||
			sample_decode(&event->layout, &record, &sample, NULL) != TALLY_OK)
			continue;
		struct resolve_where where = resolver_where(&pass.resolver, (int32_t)sample.pid, sample.time);
		chain_survey_add(survey, &pass.resolver, &where, &sample);
	}
	if (status == TALLY_OK && pass.resolver.failed)
		status = error_nomem(err);
	recording_pass_close(&pass);
	return status;
}
