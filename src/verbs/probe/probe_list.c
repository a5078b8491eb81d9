/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/probe/probe_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "code/binaries/build_id_cache.h"
#include "kernel/probes/probe_files.h"
#include "tasks/probing/cached_probes.h"
#include "tasks/probing/probe_show.h"
#include "verbs/probe/probe_json.h"

static bool probe_list_is_wanted(const struct probe_settings *settings, const struct probe_event *event)
{
	for (size_t i = 0; i < settings->wishes.len; i++)
		if (probe_event_matches(event, str_from(settings->wishes.items[i].text)))
			return true;
	return settings->wishes.len == 0;
}

/* Reports on standard error that there is no probe; the list itself is empty, as in perf. */
static void probe_list_say_none(const struct probe_settings *settings, const char *where, const char *pattern)
{
	struct text text = {0};
	if (settings->is_quiet)
		return;
	text_printf(&text, "%s has no probe", where);
	if (pattern) {
		text_str(&text, " that matches '");
		text_visible(&text, str_from(pattern));
		text_char(&text, '\'');
	}
	cli_sayf("%.*s.\n", (int)text.len, text_view(&text).data);
	text_deinit(&text);
}

/* Splits "GROUP:EVENT". A pattern without a group matches any group. */
static struct cached_probe_query probe_list_query(const struct build_id_cache *cache, const char *pattern)
{
	struct cached_probe_query query = {.cache = cache, .event = str_from(pattern), .has_stale = true};
	const char *colon = strchr(pattern, ':');
	if (colon) {
		query.group = (struct tally_str){pattern, (size_t)(colon - pattern)};
		query.event = str_from(colon + 1);
	}
	if (query.group.len > 0 && query.group.data[0] == '%')
		query.group = (struct tally_str){query.group.data + 1, query.group.len - 1};
	return query;
}

static int probe_list_cached(const struct cli *cli, const struct probe_settings *settings, bool is_removal)
{
	struct build_id_cache cache;
	struct tally_error err;
	struct text out = {0};
	struct json j;
	bool is_json = settings->is_json && !is_removal;
	if (is_json)
		probe_json_begin(&j, &out, "cached");
	enum tally_status status = build_id_cache_init(&cache, cli_build_id_dir(cli, settings->symfs), &err);
	size_t count = settings->wishes.len;
	for (size_t i = 0; i < (count ? count : 1) && status == TALLY_OK; i++) {
		struct cached_probe_list list;
		struct cached_probe_query query =
			probe_list_query(&cache, count ? settings->wishes.items[i].text : "*");
		if (settings->has_target && settings->target.kind == PROBE_PROGRAM)
			query.path = settings->target.name;
		status = cached_probes_find(&query, &list, &err);
		if (status == TALLY_NOT_FOUND && !is_removal) {
			probe_list_say_none(settings, "The probe cache", count ? settings->wishes.items[i].text : NULL);
			status = TALLY_OK;
			continue;
		}
		if (status != TALLY_OK)
			break;
		if (is_json)
			probe_json_cached(&j, &list);
		else if (!is_removal)
			cached_probes_print(&list, &out);
		else if (!settings->is_dry)
			status = cached_probes_remove(&cache, &list, &err);
		for (size_t p = 0; is_removal && status == TALLY_OK && !settings->is_quiet && p < list.probes.len; p++)
			if (cached_probes_begins_entry(&list, p))
				cli_sayf("Removed cached event: %.*s\n", (int)list.probes.items[p].text.len,
					list.probes.items[p].text.data);
		cached_probe_list_deinit(&list);
	}
	if (is_json)
		probe_json_end(&j);
	if (status == TALLY_OK)
		return cli_finish_text(cli, &out);
	text_deinit(&out);
	return probe_settings_fail(settings, &err, is_removal ? "delete events" : "show event list");
}

int probe_list_run(const struct cli *cli, const struct probe_settings *settings)
{
	struct probe_list list;
	struct probe_viewer viewer;
	struct tally_error err;
	struct text out = {0};
	struct json j;
	size_t shown = 0;
	if (settings->use_cache)
		return probe_list_cached(cli, settings, false);
	if (probe_list_read(kernel_seam_linux(), &list, &err) != TALLY_OK)
		return probe_settings_fail(settings, &err, "show event list");
	probe_viewer_init(&viewer, settings->symfs, settings->vmlinux);
	if (settings->is_json)
		probe_json_begin(&j, &out, "probes");
	for (size_t i = 0; i < list.events.len; i++) {
		const struct probe_event *event = &list.events.items[i];
		if (!probe_list_is_wanted(settings, event))
			continue;
		shown++;
		if (settings->is_json) {
			probe_json_event(&j, &viewer, event);
			continue;
		}
		probe_show_listed(&viewer, event, &out);
		if (settings->verbose > 0) {
			text_str(&out, "    ");
			probe_event_print(event, &out);
			text_char(&out, '\n');
		}
	}
	if (settings->is_json)
		probe_json_end(&j);
	for (size_t i = 0; shown == 0 && i < settings->wishes.len; i++)
		probe_list_say_none(settings, "The kernel", settings->wishes.items[i].text);
	if (list.events.len == 0 && settings->wishes.len == 0)
		probe_list_say_none(settings, "The kernel", NULL);
	probe_viewer_deinit(&viewer);
	probe_list_deinit(&list);
	return cli_finish_text(cli, &out);
}

static bool probe_list_is_same(const struct probe_event *a, const struct probe_event *b)
{
	return str_equal(a->event, b->event) && str_equal(a->group, b->group) && a->is_user == b->is_user;
}

static int probe_list_by_name(const void *a, const void *b)
{
	const struct probe_event *x = a, *y = b;
	struct tally_str pairs[2][2] = {{x->group, y->group}, {x->event, y->event}};
	for (size_t i = 0; i < 2; i++) {
		struct tally_str p = pairs[i][0], q = pairs[i][1];
		int order = memcmp(p.data, q.data, p.len < q.len ? p.len : q.len);
		if (order || p.len != q.len)
			return order ? order : p.len < q.len ? -1 : 1;
	}
	return (x->is_user > y->is_user) - (x->is_user < y->is_user);
}

/* Merges the probes of an event, because they are removed together. */
static size_t probe_list_unite(struct probe_event *events, size_t count)
{
	size_t kept = 0;
	if (count > 1)
		qsort(events, count, sizeof(*events), probe_list_by_name);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || !probe_list_is_same(&events[kept - 1], &events[i]))
			events[kept++] = events[i];
	return kept;
}

static enum tally_status probe_list_remove(
	const struct probe_settings *settings, struct probe_list *list, struct tally_error *err)
{
	struct probe_event *events = list->events.items;
	size_t count = 0;
	for (size_t i = 0; i < list->events.len; i++)
		if (probe_list_is_wanted(settings, &events[i]))
			events[count++] = events[i];
	if (count == 0) {
		struct text names = {0};
		for (size_t i = 0; i < settings->wishes.len; i++)
			text_printf(&names, "%s%s", i > 0 ? "|" : "", settings->wishes.items[i].text);
		enum tally_status status = error_set(err, TALLY_NOT_FOUND, "\"%.*s\" does not hit any event.",
			(int)names.len, text_view(&names).data);
		text_deinit(&names);
		return status;
	}
	count = probe_list_unite(events, count);
	bool *removed = calloc(count, sizeof(*removed));
	if (!removed)
		return error_nomem(err);
	enum tally_status status = TALLY_OK;
	if (settings->is_dry)
		memset(removed, true, count);
	else
		status = probe_files_remove(kernel_seam_linux(), events, count, removed, err);
	for (size_t i = 0; i < count && !settings->is_quiet; i++)
		if (removed[i])
			cli_sayf("Removed event: %.*s:%.*s\n", (int)events[i].group.len, events[i].group.data,
				(int)events[i].event.len, events[i].event.data);
	free(removed);
	return status;
}

int probe_remove_run(const struct cli *cli, const struct probe_settings *settings)
{
	struct probe_list list;
	struct tally_error err;
	if (settings->use_cache)
		return probe_list_cached(cli, settings, true);
	enum tally_status status = probe_list_read(kernel_seam_linux(), &list, &err);
	if (status == TALLY_OK) {
		status = probe_list_remove(settings, &list, &err);
		probe_list_deinit(&list);
	}
	return status == TALLY_OK ? 0 : probe_settings_fail(settings, &err, "delete events");
}
