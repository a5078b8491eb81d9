/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/fleet/fleet_settings.h"

#include "base/error.h"
#include "tasks/fleet/fleet_time.h"

#define USUAL_SINCE "1h"

static enum tally_status read_times(
	const char *since, const char *until, uint64_t now_ns, struct fleet_question *question, struct tally_error *err)
{
	question->end_ns = now_ns;
	if (until && !fleet_time_parse(str_from(until), now_ns, &question->end_ns))
		return error_set(err, TALLY_INVALID, "--until " FLEET_TIME_EXPECTED ", not '%.64s'", until);
	if (!fleet_time_parse(str_from(since), now_ns, &question->begin_ns))
		return error_set(err, TALLY_INVALID, "--since " FLEET_TIME_EXPECTED ", not '%.64s'", since);
	if (question->begin_ns >= question->end_ns)
		return error_set(err, TALLY_INVALID, "--since is not before --until");
	return TALLY_OK;
}

enum tally_status fleet_settings_question(const struct fleet_settings *settings, const char *query, uint64_t now_ns,
	struct fleet_question *question, struct tally_error *err)
{
	*question = (struct fleet_question){.query = str_from(query), .event = str_from(settings->event)};
	return read_times(settings->since ? settings->since : USUAL_SINCE, settings->until, now_ns, question, err);
}

bool fleet_settings_have_baseline(const struct fleet_settings *settings)
{
	return settings->baseline || settings->baseline_since;
}

/* Settings that the baseline does not have are taken from the query. */
enum tally_status fleet_settings_baseline(const struct fleet_settings *settings, const char *query, uint64_t now_ns,
	struct fleet_question *question, struct tally_error *err)
{
	enum tally_status status = fleet_settings_question(
		settings, settings->baseline ? settings->baseline : query, now_ns, question, err);
	if (status != TALLY_OK || !settings->baseline_since)
		return status;
	status = read_times(settings->baseline_since, settings->baseline_until, now_ns, question, err);
	return status == TALLY_OK ? status : error_prefix(err, "the baseline");
}

struct tally_str fleet_settings_title(const struct fleet_question *question)
{
	return question->query.len ? question->query : STR("all samples");
}
