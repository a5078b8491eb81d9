/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "base/wide.h"
#include "store/store_answer.h"
#include "store/store_coverage.h"

struct store_loading {
	const struct store_query *query;
	struct store_point *points;
	size_t count;
	uint64_t begin_ns, end_ns; /* Range of the points. */
	uint64_t step_ns;
	uint64_t lost; /* Number of lost samples in all points. */
	uint64_t seen;
	struct store_coverage *coverage; /* NULL if coverage is irrelevant. */
	struct map_u64 asked; /* By label set of a batch: 2 if it matches the selection, otherwise 1. */
	enum tally_status status; /* Reason for stopping early. */
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

/* Whether a batch with losses matches the selection. */
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

/* Share of a window's value in its first `ns` nanoseconds, rounded so that the parts add up to the value. */
static uint64_t store_query_share(uint64_t value, uint64_t ns, uint64_t window_ns)
{
	return (uint64_t)((wide_u128)value * ns / window_ns);
}

static void store_query_add_part(
	struct store_point *point, const struct store_window *window, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t *const sums[] = {&point->samples, &point->running_ns, &point->waiting_ns, &point->lost_samples};
	const uint64_t values[] = {window->samples, window->running_ns, window->waiting_ns, window->lost_samples};
	uint64_t window_ns = window->end_ns - window->begin_ns;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		*sums[i] = store_sums_add(
			*sums[i], store_query_share(values[i], until_ns - window->begin_ns, window_ns) -
					  store_query_share(values[i], from_ns - window->begin_ns, window_ns));
}

/* The times of the samples within a window are unknown, so they are spread evenly. */
static void store_query_spread(struct store_loading *l, const struct store_window *window)
{
	struct store_window spread = *window;
	if (spread.end_ns <= spread.begin_ns) /* The window is an instant. */
		spread.end_ns = spread.begin_ns + 1;
	uint64_t from = MAX(spread.begin_ns, l->begin_ns), end = MIN(spread.end_ns, l->end_ns);
	while (from < end) {
		uint64_t index = (from - l->begin_ns) / l->step_ns;
		if (index >= l->count)
			return;
		uint64_t next = l->points[index].begin_ns + MIN(l->step_ns, UINT64_MAX - l->points[index].begin_ns);
		uint64_t until = MIN(end, next);
		store_query_add_part(&l->points[index], &spread, from, until);
		from = until;
	}
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
	if (l->coverage && window->series != STORE_NONE) {
		const struct store_catalog *catalog = &l->query->catalog;
		const struct store_catalog_series *series = &catalog->series.items[window->series];
		bool has_waits = window->waiting_ns > 0 ||
				 profile_event_is_waiting(intern_get(&catalog->strings, series->event));
		store_coverage_add(l->coverage, series->batch_labels, window->begin_ns, has_waits);
	}
	if (l->points)
		store_query_spread(l, window);
	return true;
}

static enum tally_status store_query_list_windows(struct store_loading *l, size_t series_count, struct tally_error *err)
{
	const struct store_query *q = l->query;
	const struct store_window_scan scan = {
		.range = {l->points ? l->begin_ns : q->selection->begin_ns, q->selection->end_ns},
		.reaches_in = l->points != NULL,
		.series = q->catalog.ids.items,
		.series_count = series_count,
		.take = store_query_take_window,
		.context = l};
	l->err = err;
	enum tally_status status = q->store->backend->list_windows(q->store->db, &scan, err);
	map_u64_deinit(&l->asked);
	return status == TALLY_OK ? l->status : status;
}

/* Whether the answer includes waits besides time on the CPU. */
static bool store_query_has_waits(const struct store_query *q)
{
	for (size_t i = 0; i < q->catalog.series.len; i++)
		if (profile_event_is_waiting(intern_get(&q->catalog.strings, q->catalog.series.items[i].event)))
			return true;
	return false;
}

static enum tally_status store_query_losses(
	const struct store_query *query, struct fleet_losses *losses, struct tally_error *err)
{
	struct store_coverage coverage = {0};
	bool has_waits = store_query_has_waits(query);
	struct store_loading loading = {.query = query, .coverage = has_waits ? &coverage : NULL};
	enum tally_status status = store_query_list_windows(&loading, has_waits ? query->catalog.ids.len : 0, err);
	if (status == TALLY_OK && coverage.failed)
		status = error_nomem(err);
	if (status == TALLY_OK && coverage.with_waits < coverage.windows.len && query->selection->query)
		status = store_coverage_find_others(&coverage, query->store, query->selection, err);
	*losses = (struct fleet_losses){.lost_samples = MIN(loading.lost, INT64_MAX),
		.windows = coverage.windows.len,
		.wait_windows = coverage.with_waits};
	store_coverage_deinit(&coverage);
	return status;
}

enum tally_status store_query(struct store *store, const struct store_selection *selection, struct fleet_batch **result,
	struct tally_error *err)
{
	struct store_query query;
	struct fleet_losses losses = {0};
	enum tally_status status = store_query_begin(store, selection, &query, err);
	if (status != TALLY_OK)
		return status;
	status = store_sums_load(store, &query.catalog, selection, &query.sums, err);
	if (status == TALLY_OK)
		status = store_query_losses(&query, &losses, err);
	if (status == TALLY_OK)
		status = store_answer_make(&query, &losses, result, err);
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
	/* Windows that began before the range and reach into it count, too. */
	struct store_selection wide = *selection;
	wide.begin_ns -= MIN(wide.begin_ns, STORE_REACH_NS);
	status = store_query_begin(store, &wide, &query, err);
	if (status == TALLY_OK) {
		struct store_loading load = {.query = &query,
			.points = made.items,
			.count = made.count,
			.begin_ns = selection->begin_ns,
			.end_ns = selection->end_ns,
			.step_ns = step_ns};
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

/* Label names, values of a label, or events of the series. */
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
	/* The texts are reported in order and without duplicates. */
	if (status == TALLY_OK && texts.list.len > 1)
		qsort(texts.list.items, texts.list.len, sizeof(*texts.list.items), store_query_compare);
	for (size_t i = 0; status == TALLY_OK && i < texts.list.len; i++)
		if (i == 0 || !str_equal(texts.list.items[i], texts.list.items[i - 1]))
			taker->take(taker->context, texts.list.items[i]);
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
