#include "cli/stat_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/event_errors.h"
#include "cli/help.h"
#include "kernel/events/catalogue.h"
#include "kernel/system/kernel_files.h"

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
	size_t cgroup_words; /* how many -G have been used */
	int exit_code;
};

static bool usage_fail(struct event_making *m, const char *option, const char *format, const char *detail)
{
	m->exit_code = cli_usagef(m->cli, m->command, option, "%s%s", format, detail);
	return false;
}

static bool parse(struct event_making *m, const char *text)
{
	struct tally_error err = {0};
	if (event_parse(m->catalogue, text, m->events, &err) == TALLY_OK)
		return true;
	m->exit_code = event_error_print(m->cli, m->command, "event", text, &err);
	return false;
}

/* Where cgroups of perf events are: the unified hierarchy, or version 1's perf_event. */
static const char *cgroup_root(const struct kernel_seam *kernel)
{
	if (kernel_has(kernel, "/sys/fs/cgroup/perf_event/tasks"))
		return "/sys/fs/cgroup/perf_event";
	if (kernel_has(kernel, "/sys/fs/cgroup/unified/cgroup.procs"))
		return "/sys/fs/cgroup/unified";
	return "/sys/fs/cgroup";
}

static bool cgroup_set(struct event_making *m, struct event_spec *spec, struct tally_str name, const char *option)
{
	struct arena *arena = &m->events->arena;
	bool has_slash = name.len > 0 && name.data[0] == '/';
	spec->cgroup = arena_string(arena, name.data, name.len);
	spec->cgroup_path = arena_printf(arena, "%s%s%s%.*s", m->kernel->root, cgroup_root(m->kernel),
		has_slash ? "" : "/", (int)name.len, name.data);
	if (!spec->cgroup || !spec->cgroup_path) {
		m->exit_code = cli_failf(m->cli, "out of memory");
		return false;
	}
	if (access(spec->cgroup_path, R_OK) != 0)
		return usage_fail(m, option, "no access to cgroup ", spec->cgroup_path);
	return true;
}

/* -G a,b,c: one for each event in its order, an empty one for none; a single one for all. */
static bool cgroups_apply(struct event_making *m, const char *text)
{
	struct tally_str rest = str_from(text), name;
	struct event_list *events = m->events;
	bool is_single = !strchr(text, ',');
	if (events->len == 0)
		return usage_fail(m, "cgroup", "-G refers to events: name them with -e before it", "");
	size_t i = m->cgroup_words;
	while (str_next(&rest, ',', &name)) {
		if (i >= events->len)
			return usage_fail(m, "cgroup", "-G names more cgroups than there are events: ", text);
		for (; i < events->len; i++) {
			if (name.len > 0 && !cgroup_set(m, &events->specs[i], name, "cgroup"))
				return false;
			if (!is_single)
				break;
		}
		i++;
	}
	m->cgroup_words = i;
	return true;
}

static bool filter_apply(struct event_making *m, const char *text, size_t first)
{
	struct event_list *events = m->events;
	bool used = false;
	for (size_t i = first; i < events->len; i++) {
		if (!events->specs[i].tracepoint_name)
			continue;
		events->specs[i].filter = text;
		used = true;
	}
	return used || usage_fail(m, "filter", "--filter belongs behind a tracepoint: -e SYSTEM:NAME --filter ", text);
}

static bool each_cgroup_apply(struct event_making *m, const char *text)
{
	struct tally_str rest = str_from(text), name;
	size_t count = m->events->len, first = 0;
	bool is_first = true;
	while (str_next(&rest, ',', &name)) {
		struct tally_error err;
		if (!is_first) {
			first = m->events->len;
			if (event_list_repeat(m->events, 0, count, &err) != TALLY_OK) {
				m->exit_code = cli_fail(m->cli, &err);
				return false;
			}
		}
		is_first = false;
		for (size_t i = first; i < first + count; i++)
			if (!cgroup_set(m, &m->events->specs[i], name, "for-each-cgroup"))
				return false;
	}
	return true;
}

/* perf's default set; the stalls where the PMU names them. */
static bool defaults_add(struct event_making *m, bool is_system_wide)
{
	const char *events = "/sys/bus/event_source/devices/cpu/events";
	if (!parse(m, is_system_wide ? "cpu-clock" : "task-clock") ||
		!parse(m, "context-switches,cpu-migrations,page-faults,cycles"))
		return false;
	if (kernel_has(m->kernel, "%s/stalled-cycles-frontend", events) && !parse(m, "stalled-cycles-frontend"))
		return false;
	if (kernel_has(m->kernel, "%s/stalled-cycles-backend", events) && !parse(m, "stalled-cycles-backend"))
		return false;
	return parse(m, "instructions,branches,branch-misses");
}

static bool words_apply(struct event_making *m, const struct stat_settings *settings)
{
	size_t last = 0;
	for (size_t i = 0; i < settings->words.len; i++) {
		const struct stat_event_word *word = &settings->words.items[i];
		bool ok = true;
		switch (word->kind) {
		case WORD_EVENT:
			last = m->events->len;
			ok = parse(m, word->text);
			break;
		case WORD_CGROUP:
			ok = cgroups_apply(m, word->text);
			break;
		case WORD_FILTER:
			ok = filter_apply(m, word->text, last);
			break;
		}
		if (!ok)
			return false;
	}
	return true;
}

static void modes_apply(const struct stat_settings *settings, struct event_list *events)
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

int stat_events_make(const struct cli *cli, const struct command *command, const struct kernel_seam *kernel,
	const struct stat_settings *settings, bool is_system_wide, struct event_list *events)
{
	struct event_making m = {.cli = cli, .command = command, .kernel = kernel, .events = events};
	struct tally_error err;
	if (settings->is_null)
		return 0;
	if (event_catalogue_create(kernel, &m.catalogue, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	bool ok = words_apply(&m, settings);
	if (ok && events->len == 0)
		ok = defaults_add(&m, is_system_wide);
	for (unsigned i = 0; ok && i < settings->detail && i < DETAIL_LEVELS; i++)
		ok = parse(&m, detail_events[i]);
	if (ok && settings->for_each_cgroup)
		ok = each_cgroup_apply(&m, settings->for_each_cgroup);
	if (ok)
		modes_apply(settings, events);
	event_catalogue_destroy(m.catalogue);
	return ok ? 0 : m.exit_code;
}
