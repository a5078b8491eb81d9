/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_coverage.h"

#include "base/error.h"
#include "store/content_id.h"

struct store_coverage_search {
	struct store_coverage *coverage;
	const struct store_catalog *catalog;
};

void store_coverage_deinit(struct store_coverage *coverage)
{
	map_u64_deinit(&coverage->windows);
}

static uint64_t store_coverage_key(uint64_t batch_labels, uint64_t begin_ns)
{
	struct content_id c = content_id_begin(CONTENT_SERIES);
	content_id_number(&c, batch_labels);
	content_id_number(&c, begin_ns);
	return content_id_end(&c);
}

void store_coverage_add(struct store_coverage *coverage, uint64_t batch_labels, uint64_t begin_ns, bool has_waits)
{
	uint64_t *known = map_u64_at(&coverage->windows, store_coverage_key(batch_labels, begin_ns), NULL);
	if (!known) {
		coverage->failed = true;
		return;
	}
	coverage->with_waits += has_waits && *known < 2;
	*known = has_waits ? 2 : MAX(*known, 1);
}

/* Marks a window as one with waits. Windows that store_coverage_add has not listed before are ignored. */
static bool store_coverage_take_window(void *context, const struct store_window *window)
{
	const struct store_coverage_search *search = context;
	uint64_t known;
	if (window->series == STORE_NONE)
		return true;
	uint64_t labels = search->catalog->series.items[window->series].batch_labels;
	if (map_u64_find(&search->coverage->windows, store_coverage_key(labels, window->begin_ns), &known))
		store_coverage_add(search->coverage, labels, window->begin_ns, true);
	return !search->coverage->failed;
}

enum tally_status store_coverage_find_others(struct store_coverage *coverage, const struct store *store,
	const struct store_selection *selection, struct tally_error *err)
{
	const struct store_selection waits = {.begin_ns = selection->begin_ns,
		.end_ns = selection->end_ns,
		.event = STR("offcpu-time"),
		.deadline_ns = selection->deadline_ns};
	struct store_catalog catalog;
	enum tally_status status = store_catalog_load(store->backend, store->db, &waits, &catalog, err);
	if (status != TALLY_OK)
		return status;
	struct store_coverage_search search = {coverage, &catalog};
	const struct store_window_scan scan = {.range = {waits.begin_ns, waits.end_ns},
		.series = catalog.ids.items,
		.series_count = catalog.ids.len,
		.take = store_coverage_take_window,
		.context = &search};
	status = store->backend->list_windows(store->db, &scan, err);
	store_catalog_deinit(&catalog);
	return status == TALLY_OK && coverage->failed ? error_nomem(err) : status;
}
