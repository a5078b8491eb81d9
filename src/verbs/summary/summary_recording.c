/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/summary/summary_recording.h"

#include "analysis/wait_events.h"
#include "base/error.h"
#include "cli/progress_line.h"

const enum profile_key summary_keys[SUMMARY_KEYS] = {KEY_SYMBOL, KEY_DSO};

static enum tally_status summary_recording_replay(struct summary_recording *r, struct tally_error *err)
{
	struct replay_options options = {
		.with_stacks = true, .with_inlines = true, .with_build_ids = true, .waits = WAITS_IF_WALL};
	if (wait_events_find(r->source.reader, WAITS_IF_WALL).are_joined)
		options.facets = UINT64_C(1) << FACET_STATE;
	enum tally_status status = progress_line_replay(r->source.reader, r->source.store, &options, &r->result, err);
	/* The readable part of a damaged recording is summarized, and the summary reports what is missing. */
	if (status != TALLY_OK && r->result.profile) {
		r->is_damaged = true;
		r->damage = err ? *err : (struct tally_error){.status = status};
		return TALLY_OK;
	}
	return status;
}

static enum tally_status summary_choose_event(
	struct summary_recording *r, const char *path, const char *name, struct tally_error *err)
{
	const struct profile *p = r->result.profile;
	for (r->event = 0; r->event < p->event_count; r->event++)
		if (name ? str_equal(profile_string(p, p->events[r->event].name), str_from(name))
			 : p->events[r->event].sample_count > 0)
			return TALLY_OK;
	return name ? error_set(err, TALLY_NOT_FOUND, "no event '%s' in %s: 'tally evlist -i %s' lists its events",
			      name, path, path)
	       : recording_is_of_stat(r->source.reader) ? error_set(err, TALLY_NOT_FOUND,
								  "%s is a recording of stat, which has counts and no "
								  "samples: 'tally stat report -i %s' "
								  "shows them",
								  path, path)
							: error_set(err, TALLY_NOT_FOUND,
								  "%s has no samples: 'tally health -i %s' says what "
								  "it has, and 'tally evlist -i %s' which "
								  "events were to be sampled",
								  path, path, path);
}

enum tally_status summary_recording_open(const struct cli *cli, const struct data_input *input, const char *event,
	struct summary_recording *r, struct tally_error *err)
{
	*r = (struct summary_recording){0};
	enum tally_status status = data_source_open_reader(input, &r->source, err);
	if (status != TALLY_OK)
		return status;
	status = data_source_open_store(cli, input, &r->source, err);
	if (status == TALLY_OK)
		status = summary_recording_replay(r, err);
	r->has_health = status == TALLY_OK && recording_health_read(r->source.reader, &r->health, NULL) == TALLY_OK;
	if (status == TALLY_OK) {
		status = summary_choose_event(r, recording_name(input->file.path), event, err);
		r->is_empty = status == TALLY_NOT_FOUND && !event;
	}
	if (status == TALLY_OK) {
		const struct flat_options options = {
			.keys = summary_keys, .key_count = SUMMARY_KEYS, .first_event = r->event, .member_count = 1};
		status = flat_table_init(&r->functions, r->result.profile, &options, err);
		r->has_functions = status == TALLY_OK;
	}
	if (status == TALLY_OK)
		status = flat_table_sort(
			&r->functions, (const enum profile_key[]){KEY_OVERHEAD, KEY_SYMBOL, KEY_DSO}, 3, err);
	return status;
}

void summary_recording_close(struct summary_recording *r)
{
	if (r->has_health)
		recording_health_deinit(&r->health);
	if (r->has_functions)
		flat_table_deinit(&r->functions);
	replay_result_deinit(&r->result);
	data_source_close(&r->source);
}
