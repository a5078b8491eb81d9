/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "store/store_answer.h"

struct store_loading {
	const struct store_query *query;
	struct store_point *points;
	size_t count;
	uint64_t step_ns;
	uint64_t lost; /* in all points */
	uint64_t seen;
	struct map_u64 asked; /* by label set of a batch: 1, or 2 if it belongs to what was selected */
	enum tally_status status; /* why it was stopped */
	struct tally_error *err;
};

static enum tally_status store_query_begin(const struct store *store, const struct store_selection *selection,
	struct store_query *query, struct tally_error *err)
{
	*query = (struct store_query){.store = store, .selection = selection};
	enum tally_status status = store->backend->begin_list(store->db, selection->deadline_ns, err);
	if (status != TALLY_OK)
		return status;
	status = store_catalog_load(store->backend, store->db, selection, &query->catalog, err);
	if (status != TALLY_OK)
		store->backend->end_list(store->db);
	return status;
}

static void store_query_end(struct store_query *query)
{
	query->store->backend->end_list(query->store->db);
	store_catalog_deinit(&query->catalog);
	store_sums_deinit(&query->sums);
}

/* Of a batch that lost something. */
static bool store_query_has_batch(struct store_loading *l, uint64_t labels)
{
	uint64_t *known = map_u64_at(&l->asked, labels, NULL);
	if (!known) {
		l->status = error_nomem(l->err);
		return false;
	}
	if (*known == 0)
		*known = 1 + store_catalog_has_labels(&l->query->catalog, l->query->selection, labels);
	return *known == 2;
}

static bool store_query_take_window(void *context, const struct store_window *window)
{
	struct store_loading *l = context;
	const struct store_selection *selection = l->query->selection;
	if (++l->seen % 4096 == 0 && store_selection_is_late(selection, l->err)) {
		l->status = TALLY_LIMIT;
		return false;
	}
	if (window->series == STORE_NONE && !store_query_has_batch(l, window->labels))
		return l->status == TALLY_OK;
	l->lost = store_sums_add(l->lost, window->lost_samples);
	if (!l->points || window->begin_ns < selection->begin_ns)
		return true;
	uint64_t index = (window->begin_ns - selection->begin_ns) / l->step_ns;
	if (index >= l->count)
		return true;
	struct store_point *point = &l->points[index];
	point->samples = store_sums_add(point->samples, window->samples);
	point->running_ns = store_sums_add(point->running_ns, window->running_ns);
	point->waiting_ns = store_sums_add(point->waiting_ns, window->waiting_ns);
	point->lost_samples = store_sums_add(point->lost_samples, window->lost_samples);
	return true;
}

static enum tally_status store_query_list_windows(struct store_loading *l, size_t series_count, struct tally_error *err)
{
	const struct store_query *q = l->query;
	const struct store_window_scan scan = {.range = {q->selection->begin_ns, q->selection->end_ns},
		.series = q->catalog.ids.items,
		.series_count = series_count,
		.take = store_query_take_window,
		.context = l};
	l->err = err;
	enum tally_status status = q->store->backend->list_windows(q->store->db, &scan, err);
	map_u64_deinit(&l->asked);
	return status == TALLY_OK ? l->status : status;
}

enum tally_status store_query(struct store *store, const struct store_selection *selection, struct fleet_batch **result,
	struct tally_error *err)
{
	struct store_query query;
	struct store_loading losses = {.query = &query};
	enum tally_status status = store_query_begin(store, selection, &query, err);
	if (status != TALLY_OK)
		return status;
	status = store_sums_load(store, &query.catalog, selection, &query.sums, err);
	if (status == TALLY_OK)
		status = store_query_list_windows(&losses, 0, err);
	if (status == TALLY_OK)
		status = store_answer_make(
			&query, &(struct fleet_losses){.lost_samples = MIN(losses.lost, INT64_MAX)}, result, err);
	store_query_end(&query);
	return status;
}

static enum tally_status store_query_points(
	const struct store_selection *selection, uint64_t step_ns, struct store_points *points, struct tally_error *err)
{
	uint64_t span = selection->end_ns > selection->begin_ns ? selection->end_ns - selection->begin_ns : 0;
	if (step_ns == 0)
		return error_set(err, TALLY_INVALID, "the step of the load over time is 0");
	uint64_t count = span / step_ns + (span % step_ns > 0);
	if (count > LIMIT_STORE_POINTS)
		return error_set(err, TALLY_LIMIT,
			"the load over time has %llu points, and the limit is %u: ask for a longer step or a shorter "
			"time",
			(unsigned long long)count, LIMIT_STORE_POINTS);
	points->items = calloc(count + 1, sizeof(*points->items));
	if (!points->items)
		return error_nomem(err);
	points->count = (size_t)count;
	for (size_t i = 0; i < points->count; i++)
		points->items[i].begin_ns = selection->begin_ns + i * step_ns;
	return TALLY_OK;
}

enum tally_status store_load(struct store *store, const struct store_selection *selection, uint64_t step_ns,
	struct store_points *points, struct tally_error *err)
{
	struct store_query query;
	struct store_points made = {NULL, 0};
	enum tally_status status = store_query_points(selection, step_ns, &made, err);
	if (status != TALLY_OK)
		return status;
	status = store_query_begin(store, selection, &query, err);
	if (status == TALLY_OK) {
		struct store_loading load = {
			.query = &query, .points = made.items, .count = made.count, .step_ns = step_ns};
		status = store_query_list_windows(&load, query.catalog.ids.len, err);
		store_query_end(&query);
	}
	if (status == TALLY_OK)
		*points = made;
	else
		free(made.items);
	return status;
}

static int store_query_compare(const void *left, const void *right)
{
	const struct tally_str *a = left, *b = right;
	size_t len = MIN(a->len, b->len);
	int order = len ? memcmp(a->data, b->data, len) : 0;
	return order ? order : COMPARE(a->len, b->len);
}

struct store_query_texts {
	VEC(struct tally_str) list;
};

/* In order, each once. */
static void store_query_give(
	struct store_query_texts *texts, void (*take)(void *context, struct tally_str text), void *context)
{
	if (texts->list.len > 1)
		qsort(texts->list.items, texts->list.len, sizeof(*texts->list.items), store_query_compare);
	for (size_t i = 0; i < texts->list.len; i++)
		if (i == 0 || !str_equal(texts->list.items[i], texts->list.items[i - 1]))
			take(context, texts->list.items[i]);
}

/* What the series say: label names, values of a label, or events. */
enum store_query_what { STORE_QUERY_NAMES, STORE_QUERY_VALUES, STORE_QUERY_EVENTS };
static bool store_query_add_texts(const struct store_query *query, size_t series, enum store_query_what what,
	struct tally_str name, struct store_query_texts *to)
{
	const struct store_catalog_series *from = &query->catalog.series.items[series];
	if (what == STORE_QUERY_EVENTS)
		return vec_push(&to->list, intern_get(&query->catalog.strings, from->event));
	bool ok = true;
	for (size_t i = 0; ok && i < from->labels.count; i++) {
		const struct fleet_label *label = &from->labels.items[i];
		if (what == STORE_QUERY_NAMES || str_equal(label->name, name))
			ok = vec_push(&to->list, what == STORE_QUERY_NAMES ? label->name : label->value);
	}
	return ok;
}

static enum tally_status store_query_texts(const struct store_query *query, enum store_query_what what,
	struct tally_str name, struct store_query_texts *to, struct tally_error *err)
{
	const struct store *store = query->store;
	const struct store_range range = {query->selection->begin_ns, query->selection->end_ns};
	size_t count = query->catalog.ids.len;
	bool *has = calloc(count + 1, sizeof(*has));
	if (!has)
		return error_nomem(err);
	enum tally_status status =
		store->backend->find_windows(store->db, range, query->catalog.ids.items, count, has, err);
	for (size_t i = 0; status == TALLY_OK && i < count; i++)
		if (has[i] && !store_query_add_texts(query, i, what, name, to))
			status = error_nomem(err);
	free(has);
	return status;
}

struct store_query_taker {
	void (*take)(void *context, struct tally_str text);
	void *context;
};

static enum tally_status store_query_list_texts(struct store *store, const struct store_selection *selection,
	enum store_query_what what, struct tally_str name, const struct store_query_taker *taker,
	struct tally_error *err)
{
	struct store_query query;
	struct store_query_texts texts = {0};
	enum tally_status status = store_query_begin(store, selection, &query, err);
	if (status != TALLY_OK)
		return status;
	status = store_query_texts(&query, what, name, &texts, err);
	if (status == TALLY_OK)
		store_query_give(&texts, taker->take, taker->context);
	vec_free(&texts.list);
	store_query_end(&query);
	return status;
}

enum tally_status store_label_values(struct store *store, const struct store_selection *selection,
	struct tally_str name, void (*take)(void *context, struct tally_str text), void *context,
	struct tally_error *err)
{
	return store_query_list_texts(store, selection, name.len ? STORE_QUERY_VALUES : STORE_QUERY_NAMES, name,
		&(struct store_query_taker){take, context}, err);
}

enum tally_status store_events(struct store *store, const struct store_selection *selection,
	void (*take)(void *context, struct tally_str text), void *context, struct tally_error *err)
{
	return store_query_list_texts(
		store, selection, STORE_QUERY_EVENTS, STR(""), &(struct store_query_taker){take, context}, err);
}
