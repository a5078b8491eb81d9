/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/list/list_sdt.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/error.h"
#include "tasks/probing/cached_probes.h"

#define LIST_SDT_NAME_BYTES 512 /* Size of a buffer for GROUP:EVENT. The kernel limits both names to 63 characters. */

static int list_sdt_compare(const void *a, const void *b)
{
	const struct listed_event *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->description, y->description);
}

static bool list_sdt_matches(struct tally_str pattern, const char *name)
{
	char low_name[LIST_SDT_NAME_BYTES], low_pattern[LIST_SDT_NAME_BYTES];
	size_t i = 0, k = 0;
	for (; name[i] && i < sizeof(low_name); i++)
		low_name[i] = (char)tolower((unsigned char)name[i]);
	for (; k < pattern.len && k < sizeof(low_pattern); k++)
		low_pattern[k] = (char)tolower((unsigned char)pattern.data[k]);
	return str_glob((struct tally_str){low_pattern, k}, (struct tally_str){low_name, i});
}

/* Merges rows with equal names into one that lists all of their programs. */
static bool list_sdt_merge(struct event_listing *listing, size_t first)
{
	size_t kept = first;
	struct listed_event *items = listing->events.items;
	for (size_t i = first; i < listing->events.len; i++) {
		struct listed_event *last = kept > first ? &items[kept - 1] : NULL;
		if (!last || strcmp(last->name, items[i].name) != 0) {
			items[kept++] = items[i];
			continue;
		}
		if (strstr(last->description, items[i].description))
			continue; /* The program contains the probe several times. */
		last->description = arena_printf(&listing->arena, "%s, %s", last->description, items[i].description);
		if (!last->description)
			return false;
	}
	listing->events.len = kept;
	return true;
}

enum tally_status list_sdt_add(
	struct event_listing *listing, const char *build_id_dir, const char *pattern, struct tally_error *err)
{
	struct build_id_cache cache;
	struct cached_probe_list probes;
	size_t first = listing->events.len;
	bool ok = true;
	if (build_id_cache_init(&cache, build_id_dir, NULL) != TALLY_OK)
		return TALLY_OK;
	struct cached_probe_query query = {
		.cache = &cache, .group = STR("sdt_*"), .event = STR("*"), .has_stale = true};
	enum tally_status status = cached_probes_find(&query, &probes, err);
	if (status != TALLY_OK)
		return status == TALLY_NOMEM ? status : TALLY_OK;
	for (size_t i = 0; i < probes.probes.len && ok; i++) {
		const struct cached_probe *probe = &probes.probes.items[i];
		struct listed_event event = {.kind = LISTED_SDT,
			.name = arena_printf(&listing->arena, "%.*s:%.*s", (int)probe->group.len, probe->group.data,
				(int)probe->event.len, probe->event.data),
			.description = arena_string(&listing->arena, probe->path, strlen(probe->path))};
		ok = event.name && event.description;
		if (ok && list_sdt_matches(str_from(pattern), event.name))
			ok = vec_push(&listing->events, event);
	}
	cached_probe_list_deinit(&probes);
	if (listing->events.len > first)
		qsort(listing->events.items + first, listing->events.len - first, sizeof(*listing->events.items),
			list_sdt_compare);
	return ok && list_sdt_merge(listing, first) ? TALLY_OK : error_nomem(err);
}
