/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "kernel/events/catalogue.h"
#include "kernel/events/pfm_events.h"
#include "kernel/system/kernel_files.h"
#include "tasks/session/event_errors.h"
#include "tasks/session/event_words.h"
#include "verbs/stat/stat_cgroups.h"

#define DETAIL_LEVELS 3
static const char *const detail_events[DETAIL_LEVELS] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	"L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

struct event_making {
	const struct cli *cli;
	const struct command *command;
	const struct kernel_seam *kernel;
	struct event_catalogue *catalogue;
	struct event_list *events;
	struct metric_set *metrics;
	struct metric_machine machine;
	size_t cgroup_words; /* Number of -G options that have been applied to events. */
	int exit_code;
};

static bool stat_events_parse(struct event_making *m, const char *text)
{
	struct tally_error err = {0};
	size_t first = m->events->len;
	enum tally_status status = event_word_parse(m->cli, m->catalogue, text, m->events, &err);
	for (size_t i = first; status == TALLY_OK && i < m->events->len; i++) {
		const char *term = m->events->specs[i].recording.first;
		if (!term)
			continue;
		status = error_set(&err, TALLY_INVALID,
			"'%s' cannot be used in 'tally stat': it applies to sampling, which record does", term);
		err.offset = (uint64_t)(strstr(text, term) - text);
	}
	if (status == TALLY_OK)
		return true;
	m->exit_code = event_error_print(m->cli, m->command, "event", text, &err);
	return false;
}

static bool option_fail(struct event_making *m, const char *option, const struct tally_error *err)
{
	m->exit_code = err->status == TALLY_NOMEM ? cli_fail(m->cli, err)
						  : cli_usagef(m->cli, m->command, option, "%s", err->text);
	return false;
}

#define EXIT_NO_WORD ENOENT /* perf's exit code for an unknown metric. */

static bool metrics_add(
	struct event_making *m, const struct stat_event_settings *settings, const char *words, struct tally_error *err)
{
	const struct metric_options options = {
		settings->no_metric_group, settings->no_metric_merge, settings->merges_cores};
	return metric_set_add(m->metrics, &m->machine, words, &options, m->events, err) == TALLY_OK;
}

static bool metric_fail(struct event_making *m, int exit_code, const char *what, const struct tally_error *err)
{
	if (err->status == TALLY_NOMEM) {
		m->exit_code = cli_fail(m->cli, err);
		return false;
	}
	cli_sayf("%s%s\n", what, err->text);
	m->exit_code = exit_code;
	return false;
}

/* Adds the metric groups of the top-down levels up to the requested one, as far as this CPU has them. */
static bool topdown_add(struct event_making *m, const struct stat_event_settings *settings)
{
	static const char *const levels[] = {"TopdownL1", "TopdownL2"};
	const size_t known = ARRAY_LEN(levels);
	size_t wanted = settings->topdown_level && settings->topdown_level < known ? settings->topdown_level : known;
	struct tally_error err = {0};
	struct text words = {0};
	size_t had = 0;
	while (had < wanted && metric_set_has(&m->machine, levels[had], &err))
		text_printf(&words, "%s%s", had ? "," : "", levels[had]), had++;
	text_char(&words, '\0');
	bool ok = had > 0;
	if (!ok)
		metric_fail(
			m, EXIT_NO_METRIC, "Topdown requested but the topdown metric groups aren't present: ", &err);
	else if (settings->topdown_level > had) {
		fprintf(stderr, "Invalid top-down metrics level. The max level is %zu.\n", had);
		m->exit_code = EXIT_NO_METRIC;
		ok = false;
	} else if (words.failed) {
		m->exit_code = cli_failf(m->cli, "out of memory");
		ok = false;
	} else if (!metrics_add(m, settings, words.data, &err)) {
		ok = metric_fail(m, EXIT_NO_METRIC, "", &err);
	}
	text_deinit(&words);
	return ok;
}

/* Adds the metrics that --topdown, -T and --smi-cost stand for. */
static bool special_metrics_add(struct event_making *m, const struct stat_event_settings *settings)
{
	struct tally_error err = {0};
	if (settings->has_topdown && !topdown_add(m, settings))
		return false;
	if (settings->has_transactions &&
		!(stat_events_parse(m, "task-clock") && metrics_add(m, settings, "transaction", &err)))
		return metric_fail(m, EXIT_NO_METRIC, "Missing transaction metrics: ", &err);
	if (settings->has_smi_cost && !metrics_add(m, settings, "smi", &err))
		return metric_fail(m, EXIT_NO_METRIC, "--smi-cost: ", &err);
	return true;
}

static bool cgroup_apply(struct event_making *m, size_t first, size_t count, const char *name)
{
	struct tally_error err;
	for (size_t i = first; i < first + count; i++)
		if (event_set_cgroup(m->events, i, m->kernel, str_from(name), &err) != TALLY_OK)
			return option_fail(m, "for-each-cgroup", &err);
	return true;
}

static bool each_cgroup_apply(struct event_making *m, const char *text)
{
	struct name_list names = {0};
	size_t count = m->events->len, uses = m->metrics->uses.len;
	struct tally_error err;
	bool ok =
		stat_cgroups_find(m->kernel, text, &names, &err) == TALLY_OK || option_fail(m, "for-each-cgroup", &err);
	for (size_t i = 0; ok && i < names.len; i++) {
		size_t first = i == 0 ? 0 : m->events->len;
		if (i > 0 && (event_list_repeat(m->events, 0, count, &err) != TALLY_OK ||
				     metric_set_repeat(m->metrics, uses, (uint32_t)first, &err) != TALLY_OK)) {
			m->exit_code = cli_fail(m->cli, &err);
			ok = false;
		}
		ok = ok && cgroup_apply(m, first, count, names.items[i]);
	}
	name_list_deinit(&names);
	return ok;
}

/* Adds perf's default events. The stalled-cycles events are included only if the PMU names them in sysfs. */
static bool defaults_add(struct event_making *m, bool is_system_wide)
{
	const char *events = "/sys/bus/event_source/devices/cpu/events";
	if (!stat_events_parse(m, is_system_wide ? "cpu-clock" : "task-clock") ||
		!stat_events_parse(m, "context-switches,cpu-migrations,page-faults,cycles"))
		return false;
	if (kernel_has(m->kernel, "%s/stalled-cycles-frontend", events) &&
		!stat_events_parse(m, "stalled-cycles-frontend"))
		return false;
	if (kernel_has(m->kernel, "%s/stalled-cycles-backend", events) &&
		!stat_events_parse(m, "stalled-cycles-backend"))
		return false;
	return stat_events_parse(m, "instructions,branches,branch-misses");
}

static bool words_apply(struct event_making *m, const struct stat_event_settings *settings)
{
	size_t last = 0;
	struct tally_error err;
	for (size_t i = 0; i < settings->words.len; i++) {
		const struct stat_event_word *word = &settings->words.items[i];
		bool ok = true;
		switch (word->kind) {
		case WORD_EVENT:
			last = m->events->len;
			ok = stat_events_parse(m, word->text);
			break;
		case WORD_PFM:
			last = m->events->len;
			ok = pfm_events_parse(m->catalogue, word->text, m->events, &err) == TALLY_OK;
			if (!ok)
				m->exit_code = event_error_print(m->cli, m->command, "pfm-events", word->text, &err);
			break;
		case WORD_METRIC:
			ok = metrics_add(m, settings, word->text, &err) || metric_fail(m, EXIT_NO_WORD, "", &err);
			break;
		case WORD_CGROUP:
			ok = event_set_cgroups(m->events, m->kernel, word->text, &m->cgroup_words, &err) == TALLY_OK ||
			     option_fail(m, "cgroup", &err);
			break;
		case WORD_FILTER:
			ok = event_add_filter(m->events, last, word->text, "filter", &err) == TALLY_OK ||
			     option_fail(m, "filter", &err);
			break;
		}
		if (!ok)
			return false;
	}
	return true;
}

static void modes_apply(const struct stat_event_settings *settings, struct event_list *events)
{
	for (size_t i = 0; i < events->len; i++) {
		struct event_spec *spec = &events->specs[i];
		if (settings->all_user || settings->all_kernel)
			spec->has_exclude = true;
		if (settings->all_user)
			spec->attr.flags |= ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HV);
		if (settings->all_kernel)
			spec->attr.flags |= ATTR_FLAG(ATTR_BIT_EXCLUDE_USER);
		if (settings->one_group) {
			spec->leader = 0;
			spec->member_count = i == 0 ? (uint32_t)events->len : 1;
		}
	}
}

/* Limits events to the core type that --cputype names. */
static bool cores_limit(struct event_making *m, const struct stat_event_settings *settings)
{
	const char *type = settings->core_type;
	if (!type || event_catalogue_limit_cores(m->catalogue, type))
		return true;
	m->exit_code = cli_usagef(m->cli, m->command, "cputype",
		"--cputype %s is not supported! There is no such kind of core here; a machine with one kind has no "
		"names for it",
		type);
	return false;
}

int stat_events_make(const struct cli *cli, const struct command *command, const struct kernel_seam *kernel,
	const struct stat_event_settings *settings, bool is_system_wide, struct stat_counted *counted)
{
	struct event_list *events = counted->events;
	struct event_making m = {
		.cli = cli, .command = command, .kernel = kernel, .events = events, .metrics = counted->metrics};
	struct tally_error err;
	if (settings->is_null)
		return 0;
	if (event_catalogue_create(kernel, &m.catalogue, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	m.machine = (struct metric_machine){m.catalogue, is_system_wide};
	bool ok = cores_limit(&m, settings) && words_apply(&m, settings) && special_metrics_add(&m, settings);
	if (ok && events->len == 0)
		ok = defaults_add(&m, is_system_wide);
	for (unsigned i = 0; ok && i < settings->detail && i < DETAIL_LEVELS; i++)
		ok = stat_events_parse(&m, detail_events[i]);
	if (ok && settings->for_each_cgroup)
		ok = each_cgroup_apply(&m, settings->for_each_cgroup);
	if (ok && settings->merges_cores && event_list_merge_cores(events, &err) != TALLY_OK) {
		m.exit_code = cli_fail(cli, &err);
		ok = false;
	}
	if (ok)
		modes_apply(settings, events);
	event_catalogue_destroy(m.catalogue);
	return ok ? 0 : m.exit_code;
}
