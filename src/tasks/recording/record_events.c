/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_events.h"

#include <stdio.h>
#include <unistd.h>

#include "kernel/events/pfm_events.h"
#include "kernel/system/capabilities.h"
#include "tasks/recording/record_waits.h"
#include "tasks/session/event_errors.h"
#include "tasks/session/event_words.h"

#define AUX_START_PAUSED 1u /* The only bit of aux_action that concerns the AUX event itself. */

struct record_events_making {
	const struct cli *cli;
	const struct command *command;
	const struct kernel_seam *kernel;
	struct event_catalogue *catalogue;
	struct event_list *events;
	size_t last; /* Index of the first event of the most recent -e. */
	size_t with_cgroup; /* Number of events that already have a cgroup from -G. */
};

static int record_events_parse(struct record_events_making *m, const char *text, struct event_list *events)
{
	struct tally_error err = {0};
	return event_word_parse(m->cli, m->catalogue, text, events, &err) == TALLY_OK
		       ? 0
		       : event_error_print(m->cli, m->command, "event", text, &err);
}

static int record_events_tell(const struct record_events_making *m, const char *option, enum tally_status status,
	const struct tally_error *err)
{
	if (status == TALLY_OK)
		return 0;
	return status == TALLY_NOMEM ? cli_fail(m->cli, err) : cli_usagef(m->cli, m->command, option, "%s", err->text);
}

static int add_cgroups(struct record_events_making *m, const char *names, bool is_system_wide)
{
	struct tally_error err = {0};
	if (!is_system_wide)
		return cli_usagef(m->cli, m->command, "cgroup",
			"cgroup monitoring only available in system-wide mode: a cgroup's tasks are known per CPU "
			"only, add -a");
	return record_events_tell(
		m, "cgroup", event_set_cgroups(m->events, m->kernel, names, &m->with_cgroup, &err), &err);
}

static int add_filter(struct record_events_making *m, const char *filter, const char *option)
{
	struct tally_error err = {0};
	return record_events_tell(m, option, event_add_filter(m->events, m->last, filter, option, &err), &err);
}

/* Adds a filter to the events of the last -e: the kernel filters tracepoints by their fields; a BPF program filters the
 * samples of other events. */
static int add_sample_filter(struct record_events_making *m, const char *filter)
{
	bool is_of_fields = m->last >= m->events->len;
	struct tally_error err = {0};
	for (size_t i = m->last; i < m->events->len; i++)
		is_of_fields |= m->events->specs[i].tracepoint_name != NULL;
	if (is_of_fields)
		return add_filter(m, filter, "filter");
	return event_add_sample_filter(m->events, m->last, filter, m->kernel, &err) == TALLY_OK
		       ? 0
		       : filter_error_print(m->cli, m->command, "filter", filter, &err);
}

static int add_pfm_events(struct record_events_making *m, const char *text)
{
	struct tally_error err = {0};
	m->last = m->events->len;
	return pfm_events_parse(m->catalogue, text, m->events, &err) == TALLY_OK
		       ? 0
		       : event_error_print(m->cli, m->command, "pfm-events", text, &err);
}

static int record_events_add_word(
	struct record_events_making *m, const struct record_event_word *word, bool is_system_wide)
{
	char own[64];
	switch (word->kind) {
	case RECORD_WORD_EVENT:
		m->last = m->events->len;
		return record_events_parse(m, word->text, m->events);
	case RECORD_WORD_PFM:
		return add_pfm_events(m, word->text);
	case RECORD_WORD_CGROUP:
		return add_cgroups(m, word->text, is_system_wide);
	case RECORD_WORD_FILTER:
		return add_sample_filter(m, word->text);
	case RECORD_WORD_EXCLUDE_PERF:
		if (pid_namespace_is_nested(m->kernel))
			return cli_failf(m->cli,
				"--exclude-perf: the kernel compares the numbers that processes have in the machine's "
				"first PID namespace, and this process is in another one: record outside of the "
				"container, or without this option");
		snprintf(own, sizeof(own), "common_pid != %d", (int)getpid());
		return add_filter(m, own, "exclude-perf");
	}
	return 0;
}

/* Returns NULL, or why record does not support the terms of the event. */
static const char *terms_refusal(const struct event_spec *spec, bool is_leader, const struct record_settings *s)
{
	enum term_choice overwrite = spec->recording.overwrite;
	const struct perf_attr *attr = &spec->attr;
	bool wants_aux = ATTR_HAS(attr, AUX_OUTPUT) || attr->aux_sample_size || (attr->aux_action & ~AUX_START_PAUSED);
	if (spec->is_shared)
		return "counters are shared (:b) for counts: only stat takes it";
	if (spec->is_per_core)
		return "percore adds up counts: only stat takes it";
	if (spec->recording.most_events)
		return "nr= is not supported by record: it stores all events that come";
	if (overwrite && (overwrite == TERM_YES) != s->overwrites)
		return "all events of a CPU share a ring, so they cannot differ in overwriting: use --overwrite for "
		       "all of them";
	if (wants_aux && is_leader)
		return "terms about AUX data need an event of a PMU that writes some (intel_pt, arm_spe, cs_etm) as "
		       "their group's leader";
	return NULL;
}

static int record_events_check(const struct record_events_making *m, const struct record_settings *s)
{
	for (size_t i = 0; i < m->events->len; i++) {
		const struct event_spec *spec = &m->events->specs[i];
		const char *why = terms_refusal(spec, spec->leader == i, s);
		if (why)
			return cli_failf(m->cli, "%s: %s", spec->name, why);
		if (spec->tool != TOOL_NONE)
			return cli_failf(m->cli,
				"%s is measured by stat itself and cannot be sampled; use cpu-clock or task-clock",
				spec->name);
	}
	return 0;
}

int record_events_make(const struct cli *cli, const struct command *command, const struct kernel_seam *kernel,
	const struct record_settings *s, struct event_list *events, struct event_list *switch_events)
{
	struct record_events_making m = {.cli = cli, .command = command, .kernel = kernel, .events = events};
	struct tally_error err = {0};
	int code = 0;
	if (event_catalogue_create(kernel, &m.catalogue, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	if (s->wall && !record_settings_have(s, RECORD_WORD_EVENT) && !record_settings_have(s, RECORD_WORD_PFM))
		/* The default event must be in the list before options that refer to the previous event. */
		code = record_events_parse(&m, "cpu-clock", events);
	for (size_t i = 0; code == 0 && i < s->event_words.len; i++)
		code = record_events_add_word(&m, &s->event_words.items[i], s->target.system_wide);
	if (code == 0 && events->len == 0)
		code = record_events_parse(&m, "cycles:P", events);
	if (code == 0 && (s->off_cpu || s->wall))
		code = record_events_parse(&m, RECORD_WAITS_EVENT, events);
	for (size_t i = 0; code == 0 && i < s->switch_events.len; i++)
		code = record_events_parse(&m, s->switch_events.items[i], switch_events);
	event_catalogue_destroy(m.catalogue);
	return code == 0 ? record_events_check(&m, s) : code;
}
