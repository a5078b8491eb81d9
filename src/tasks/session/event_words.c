/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/event_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"
#include "kernel/events/sample_filter.h"
#include "kernel/system/kernel_files.h"
#include "tasks/probing/probe_words.h"

/* Returns the directory of cgroups for perf events: the perf_event hierarchy of version 1, or the unified
 * hierarchy. */
static const char *cgroup_root(const struct kernel_seam *kernel)
{
	if (kernel_has(kernel, "/sys/fs/cgroup/perf_event/tasks"))
		return "/sys/fs/cgroup/perf_event";
	if (kernel_has(kernel, "/sys/fs/cgroup/unified/cgroup.procs"))
		return "/sys/fs/cgroup/unified";
	return "/sys/fs/cgroup";
}

static enum tally_status event_words_parse_all(const struct cli *cli, struct event_catalogue *catalogue,
	const char *text, struct event_list *events, struct tally_error *err)
{
	enum tally_status status = event_parse(catalogue, text, events, err);
	const char *open = strrchr(text, '{');
	if (status == TALLY_OK || status == TALLY_NOMEM || !open || strchr(open, '}'))
		return status;
	char *apart = strdup(text);
	if (!apart)
		return error_nomem(err);
	memmove(apart + (open - text), open + 1, strlen(open));
	if (event_parse(catalogue, apart, events, NULL) == TALLY_OK) {
		cli_sayf("%s: '%s': the group is not closed with '}'; its events are taken one by one\n", cli->program,
			open);
		status = TALLY_OK;
	}
	free(apart);
	return status;
}

enum tally_status event_word_parse(const struct cli *cli, struct event_catalogue *catalogue, const char *text,
	struct event_list *events, struct tally_error *err)
{
	struct probe_words words;
	size_t first = events->len;
	enum tally_status status = probe_words_expand(cli, catalogue->kernel, text, &words, err);
	if (status != TALLY_OK)
		return status;
	status = event_words_parse_all(cli, catalogue, probe_words_text(&words), events, err);
	if (status == TALLY_OK)
		status = probe_words_rename(&words, events, first, err);
	else if (err)
		err->offset = probe_words_column(&words, err->offset);
	probe_words_deinit(&words);
	return status;
}

enum tally_status event_set_cgroup(struct event_list *events, size_t index, const struct kernel_seam *kernel,
	struct tally_str name, struct tally_error *err)
{
	struct event_spec *spec = &events->specs[index];
	bool has_slash = name.len > 0 && name.data[0] == '/';
	spec->cgroup = arena_string(&events->arena, name.data, name.len);
	spec->cgroup_path = arena_printf(&events->arena, "%s%s%s%.*s", kernel->root, cgroup_root(kernel),
		has_slash ? "" : "/", (int)name.len, name.data);
	if (!spec->cgroup || !spec->cgroup_path)
		return error_nomem(err);
	if (access(spec->cgroup_path, R_OK) != 0)
		return error_set(err, TALLY_NOT_FOUND, "no access to cgroup %s", spec->cgroup_path);
	return TALLY_OK;
}

enum tally_status event_set_cgroups(struct event_list *events, const struct kernel_seam *kernel, const char *names,
	size_t *used, struct tally_error *err)
{
	struct tally_str rest = str_from(names), name;
	bool is_single = !strchr(names, ',');
	if (events->len == 0)
		return error_set(err, TALLY_INVALID, "-G refers to events: name them with -e before it");
	while (str_next(&rest, ',', &name)) {
		if (*used >= events->len)
			return error_set(err, TALLY_INVALID, "-G names more cgroups than there are events: %s", names);
		do {
			name = str_trim(name);
			enum tally_status status =
				name.len ? event_set_cgroup(events, *used, kernel, name, err) : TALLY_OK;
			if (status != TALLY_OK)
				return status;
			(*used)++;
		} while (is_single && *used < events->len);
	}
	return TALLY_OK;
}

enum tally_status event_add_sample_filter(struct event_list *events, size_t first, const char *filter,
	const struct kernel_seam *kernel, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = first; status == TALLY_OK && i < events->len; i++) {
		struct event_spec *spec = &events->specs[i];
		struct sample_filter_list *whole = arena_new(&events->arena, struct sample_filter_list);
		if (!whole)
			return error_nomem(err);
		*whole = spec->sample_filter ? *spec->sample_filter : (struct sample_filter_list){0};
		status = sample_filter_parse(filter, kernel, whole, err);
		spec->sample_filter = whole;
	}
	return status;
}

enum tally_status event_add_filter(
	struct event_list *events, size_t first, const char *filter, const char *option, struct tally_error *err)
{
	if (first >= events->len)
		return error_set(err, TALLY_INVALID,
			"--%s applies to the events before it, and there is none: put it behind -e", option);
	for (size_t i = first; i < events->len; i++) {
		struct event_spec *spec = &events->specs[i];
		if (!spec->tracepoint_name)
			return error_set(err, TALLY_INVALID,
				"--%s option should follow a -e tracepoint option; %s is not a tracepoint and has no "
				"fields",
				option, spec->name);
		spec->filter = spec->filter ? arena_printf(&events->arena, "(%s) && (%s)", spec->filter, filter)
					    : arena_printf(&events->arena, "%s", filter);
		if (!spec->filter)
			return error_nomem(err);
	}
	return TALLY_OK;
}
