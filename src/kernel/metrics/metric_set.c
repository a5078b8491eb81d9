/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/metrics/metric_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "kernel/events/event_parser.h"
#include "kernel/events/tool_events.h"

#define KINDS_MAX 8 /* Maximum number of kinds of core in one machine. */

struct event_range {
	uint32_t first, count; /* count exceeds 1 for several kinds of core, or several PMUs of a family. */
};

/* Events that were opened together. */
struct metric_group {
	const char **names;
	struct event_range *ranges;
	size_t count;
};

struct wanted {
	const struct metric *metric;
	const struct metric_expr *expr;
	struct event_range *ranges; /* One per name of the expression. */
};

struct metric_set_addition {
	struct metric_set *set;
	struct metric_machine *machine;
	const struct metric_options *options;
	struct event_list *events;
	VEC(struct wanted) wanted;
	size_t first_group; /* Index of the first group that this addition may share. */
	struct tally_error *err;
};

static bool metric_set_is_first_of_name(size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (strcmp(metric_table[i].name, metric_table[row].name) == 0)
			return false;
	return true;
}

bool metric_set_has(struct metric_machine *machine, const char *group, struct tally_error *err)
{
	bool is_first = true;
	for (size_t i = 0; i < metric_table_len; i++) {
		struct metric_expr expr;
		if (!metric_is_in_group(&metric_table[i], str_from(group)))
			continue;
		if (metric_machine_expr(machine, &metric_table[i], &expr, is_first ? err : NULL) == TALLY_OK) {
			metric_expr_deinit(&expr);
			return true;
		}
		is_first = false;
	}
	return false;
}

static enum tally_status unknown_word(struct tally_str word, struct tally_error *err)
{
	static const char *const groups[] = {"Default", "Summary", "TopdownL1", "TopdownL2", "transaction", "smi"};
	const char **names = calloc(metric_table_len + ARRAY_LEN(groups), sizeof(*names));
	char text[64] = "";
	size_t n = 0;
	if (!names)
		return error_nomem(err);
	for (size_t i = 0; i < metric_table_len; i++)
		names[n++] = metric_table[i].name;
	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		names[n++] = groups[i];
	memcpy(text, word.data, word.len < sizeof(text) ? word.len : sizeof(text) - 1);
	size_t nearest = text_nearest(names, n, text);
	enum tally_status status =
		error_set(err, TALLY_NOT_FOUND, "Cannot find metric or group `%.*s'%s%s%s; 'list metric' shows them",
			(int)word.len, word.data, nearest == SIZE_MAX ? "" : "; did you mean '",
			nearest == SIZE_MAX ? "" : names[nearest], nearest == SIZE_MAX ? "" : "'?");
	free(names);
	return status;
}

/* Adds a metric to those wanted. Returns TALLY_NOT_FOUND if this machine lacks the events for the metric. */
static enum tally_status metric_want(struct metric_set_addition *a, const char *name, struct tally_error *why)
{
	for (size_t i = 0; i < a->wanted.len; i++)
		if (strcmp(a->wanted.items[i].metric->name, name) == 0)
			return TALLY_OK;
	struct metric_expr *expr = malloc(sizeof(*expr));
	if (!expr)
		return error_nomem(why);
	const struct metric *metric = metric_machine_find(a->machine, name, expr, why);
	if (!metric) {
		free(expr);
		return why->status;
	}
	if (!vec_push(&a->set->exprs, expr)) {
		metric_expr_deinit(expr);
		free(expr);
		return error_nomem(why);
	}
	return vec_push(&a->wanted, ((struct wanted){metric, expr, NULL})) ? TALLY_OK : error_nomem(why);
}

static enum tally_status word_want(struct metric_set_addition *a, struct tally_str word)
{
	size_t meant = 0, had = 0;
	struct tally_error why = {0};
	for (size_t i = 0; i < metric_table_len; i++) {
		if (!metric_set_is_first_of_name(i) || !metric_is_meant(&metric_table[i], word))
			continue;
		meant++;
		enum tally_status status = metric_want(a, metric_table[i].name, &why);
		if (status == TALLY_NOMEM)
			return error_nomem(a->err);
		had += status == TALLY_OK;
	}
	if (meant == 0)
		return unknown_word(word, a->err);
	return had > 0 ? TALLY_OK
		       : error_set(a->err, TALLY_NOT_FOUND, "metric or group `%.*s': %s", (int)word.len, word.data,
				 why.text);
}

static const struct event_range *range_in(const struct metric_group *group, const char *name)
{
	for (size_t i = 0; i < group->count; i++)
		if (strcmp(group->names[i], name) == 0)
			return &group->ranges[i];
	return NULL;
}

/* Returns a group with all of the names; NULL if there is none. */
static const struct metric_group *group_with(
	const struct metric_set_addition *a, const char *const *names, size_t count)
{
	for (size_t g = a->first_group; !a->options->no_merge && g < a->set->groups.len; g++) {
		const struct metric_group *group = &a->set->groups.items[g];
		size_t had = 0;
		while (had < count && range_in(group, names[had]))
			had++;
		if (had == count)
			return group;
	}
	return NULL;
}

static const struct metric_group *group_make(struct metric_set_addition *a, const char *const *names, size_t count)
{
	struct arena *arena = &a->set->arena;
	struct metric_group group = {.names = arena_array(arena, const char *, count),
		.ranges = arena_array(arena, struct event_range, count),
		.count = count};
	size_t first = a->events->len;
	bool has_uncore = false;
	if (!group.names || !group.ranges) {
		error_nomem(a->err);
		return NULL;
	}
	memcpy(group.names, names, count * sizeof(*names));
	/* Intel's event "slots" must lead the events that are shares of it. */
	for (size_t i = 1; i < count; i++) {
		if (strcmp(group.names[i], "slots") == 0) {
			group.names[i] = group.names[0];
			group.names[0] = "slots";
		}
	}
	for (size_t i = 0; i < count; i++) {
		size_t start = a->events->len;
		if (event_parse(a->machine->catalogue, group.names[i], a->events, a->err) != TALLY_OK)
			return NULL;
		group.ranges[i] = (struct event_range){(uint32_t)start, (uint32_t)(a->events->len - start)};
	}
	for (size_t i = first; i < a->events->len; i++)
		has_uncore |= a->events->specs[i].is_uncore;
	if (count > 1 && !has_uncore)
		event_list_group(a->events, first, true);
	if (!vec_push(&a->set->groups, group)) {
		error_nomem(a->err);
		return NULL;
	}
	return &a->set->groups.items[a->set->groups.len - 1];
}

static bool metric_set_events_take(struct metric_set_addition *a, const char *const *names, size_t count)
{
	return count == 0 || group_with(a, names, count) || group_make(a, names, count);
}

/* Finds the events of the expression's names in the group `whole`, which has all of them; if it is NULL, each in the
 * latest group that has the name. */
static void ranges_find(const struct metric_set_addition *a, struct wanted *w, const struct metric_group *whole)
{
	for (size_t i = 0; i < w->expr->name_count; i++) {
		const char *name = w->expr->names[i];
		const struct event_range *range = whole ? range_in(whole, name) : NULL;
		for (size_t g = a->set->groups.len; !range && g-- > 0;)
			range = range_in(&a->set->groups.items[g], name);
		w->ranges[i] = *range;
	}
}

static enum tally_status wanted_place(struct metric_set_addition *a, struct wanted *w)
{
	size_t count = w->expr->name_count, grouped = 0;
	const char **names = calloc(count + 1, sizeof(*names));
	w->ranges = arena_array(&a->set->arena, struct event_range, count + 1);
	bool ok = names && w->ranges;
	if (!ok)
		error_nomem(a->err);
	for (size_t i = 0; ok && i < count; i++) {
		if (a->options->no_group || tool_event_find(str_from(w->expr->names[i])) != TOOL_NONE)
			ok = metric_set_events_take(a, &w->expr->names[i], 1);
		else
			names[grouped++] = w->expr->names[i];
	}
	ok = ok && metric_set_events_take(a, names, grouped);
	if (ok) {
		const struct metric_group *whole =
			a->options->no_merge || grouped == 0 ? NULL : group_with(a, names, grouped);
		ranges_find(a, w, whole);
	}
	free(names);
	return ok ? TALLY_OK : a->err->status;
}

/* Metrics with many events are placed first, because metrics with fewer events may share their groups. */
static enum tally_status all_place(struct metric_set_addition *a)
{
	size_t most = 0;
	for (size_t i = 0; i < a->wanted.len; i++)
		most = MAX(a->wanted.items[i].expr->name_count, most);
	for (size_t n = most + 1; n-- > 0;) {
		for (size_t i = 0; i < a->wanted.len; i++) {
			struct wanted *w = &a->wanted.items[i];
			enum tally_status status = w->expr->name_count == n ? wanted_place(a, w) : TALLY_OK;
			if (status != TALLY_OK)
				return status;
		}
	}
	return TALLY_OK;
}

/* Finds the kinds of core among the events; returns 0 if there is only one. */
static size_t kinds_find(const struct metric_set_addition *a, const struct wanted *w, const char *kinds[KINDS_MAX])
{
	size_t count = 0;
	for (size_t i = 0; i < w->expr->name_count; i++) {
		for (uint32_t k = 0; k < w->ranges[i].count; k++) {
			const struct event_spec *spec = &a->events->specs[w->ranges[i].first + k];
			size_t found = 0;
			if (!spec->pmu || !spec->cpus || spec->is_uncore)
				continue;
			while (found < count && strcmp(kinds[found], spec->pmu) != 0)
				found++;
			if (found == count && count < KINDS_MAX)
				kinds[count++] = spec->pmu;
		}
	}
	return count;
}

static uint32_t event_of_kind(const struct metric_set_addition *a, struct event_range range, const char *kind)
{
	for (uint32_t i = range.first; kind && i < range.first + range.count; i++)
		if (a->events->specs[i].pmu && strcmp(a->events->specs[i].pmu, kind) == 0)
			return i;
	return range.first;
}

static enum tally_status use_add(struct metric_set_addition *a, const struct wanted *w, const char *kind)
{
	struct arena *arena = &a->set->arena;
	size_t count = w->expr->name_count;
	uint32_t *events = arena_array(arena, uint32_t, count + 1);
	const char *unit = w->metric->unit;
	const char *label = arena_printf(arena, "%s%s%s%s%s%s", unit, *unit ? "  " : "", w->metric->name,
		kind ? " (" : "", kind ? kind : "", kind ? ")" : "");
	if (!events || !label)
		return error_nomem(a->err);
	for (size_t i = 0; i < count; i++)
		events[i] = event_of_kind(a, w->ranges[i], kind);
	struct metric_use use = {w->metric, w->expr, events, events[0], label};
	return vec_push(&a->set->uses, use) ? TALLY_OK : error_nomem(a->err);
}

static enum tally_status uses_add(struct metric_set_addition *a)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < a->wanted.len && status == TALLY_OK; i++) {
		const struct wanted *w = &a->wanted.items[i];
		const char *kinds[KINDS_MAX];
		size_t count = a->options->merges_cores ? 0 : kinds_find(a, w, kinds);
		if (count <= 1)
			status = use_add(a, w, NULL);
		for (size_t k = 0; count > 1 && k < count && status == TALLY_OK; k++)
			status = use_add(a, w, kinds[k]);
	}
	return status;
}

enum tally_status metric_set_add(struct metric_set *set, struct metric_machine *machine, const char *words,
	const struct metric_options *options, struct event_list *events, struct tally_error *err)
{
	struct tally_error own;
	struct metric_set_addition a = {.set = set,
		.machine = machine,
		.options = options,
		.events = events,
		.first_group = set->groups.len,
		.err = err ? err : &own};
	struct tally_str rest = str_from(words), word;
	enum tally_status status = TALLY_OK;
	if (!set->has_arena) {
		arena_init(&set->arena);
		set->has_arena = true;
	}
	while (status == TALLY_OK && str_next(&rest, ',', &word))
		status = word_want(&a, str_trim(word));
	if (status == TALLY_OK)
		status = all_place(&a);
	if (status == TALLY_OK)
		status = uses_add(&a);
	vec_free(&a.wanted);
	return status;
}

enum tally_status metric_set_repeat(struct metric_set *set, size_t count, uint32_t shift, struct tally_error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct metric_use use = set->uses.items[i];
		size_t names = use.expr->name_count;
		uint32_t *events = arena_array(&set->arena, uint32_t, names + 1);
		if (!events)
			return error_nomem(err);
		for (size_t k = 0; k < names; k++)
			events[k] = use.events[k] + shift;
		use.events = events;
		use.lead += shift;
		if (!vec_push(&set->uses, use))
			return error_nomem(err);
	}
	return TALLY_OK;
}

static uint32_t index_now(const struct event_list *events, uint32_t added_as)
{
	uint32_t i = 0;
	while (i + 1 < events->len && events->specs[i].added_as != added_as)
		i++;
	return i;
}

enum tally_status metric_set_follow(struct metric_set *set, const struct event_list *events, struct tally_error *err)
{
	for (size_t i = 0; i < set->uses.len; i++) {
		struct metric_use *use = &set->uses.items[i];
		uint32_t *now = arena_array(&set->arena, uint32_t, use->expr->name_count + 1);
		if (!now)
			return error_nomem(err);
		for (size_t k = 0; k < use->expr->name_count; k++)
			now[k] = index_now(events, use->events[k]);
		use->events = now;
		use->lead = index_now(events, use->lead);
	}
	return TALLY_OK;
}

void metric_set_deinit(struct metric_set *set)
{
	for (size_t i = 0; i < set->exprs.len; i++) {
		metric_expr_deinit(set->exprs.items[i]);
		free(set->exprs.items[i]);
	}
	vec_free(&set->exprs);
	vec_free(&set->uses);
	vec_free(&set->groups);
	if (set->has_arena)
		arena_deinit(&set->arena);
	*set = (struct metric_set){0};
}
