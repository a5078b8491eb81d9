/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_sums.h"

#include "base/clock.h"
#include "base/error.h"

#define STORE_SUMS_WORDS  4
#define STORE_SUMS_A_LOOK 4096 /* Number of samples between two checks of the clock. */

struct store_sums_adding {
	struct store_catalog *catalog;
	const struct store_selection *selection;
	struct store_sums *sums;
	const uint32_t *alike; /* By series: the first series with the same event and labels. */
	uint64_t seen;
	enum tally_status status; /* Reason for stopping early. */
	struct tally_error *err;
};

uint64_t store_sums_add(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

bool store_selection_is_late(const struct store_selection *selection, struct tally_error *err)
{
	if (selection->deadline_ns == 0 || clock_ns() < selection->deadline_ns)
		return false;
	(void)error_set(err, TALLY_LIMIT, "%s", STORE_IS_LATE);
	return true;
}

static bool store_sums_stop(struct store_sums_adding *a, enum tally_status status)
{
	a->status = status;
	return false;
}

static uint32_t store_sums_string(void *context, struct tally_str text)
{
	struct store_sums_adding *a = context;
	uint32_t id;
	if (intern_add(&a->catalog->strings, text.data, text.len, &id))
		return id;
	(void)store_sums_stop(a, error_nomem(a->err));
	return STORE_NONE;
}

static bool store_sums_take(void *context, const struct store_sum *sum)
{
	struct store_sums_adding *a = context;
	struct store_sums *sums = a->sums;
	const uint64_t key[STORE_SUMS_WORDS] = {a->alike[sum->series] | (uint64_t)(uint32_t)sum->state << 32,
		sum->comm | (uint64_t)sum->process_comm << 32, (uint32_t)sum->pid | (uint64_t)(uint32_t)sum->tid << 32,
		sum->stack};
	if (++a->seen % STORE_SUMS_A_LOOK == 0 && store_selection_is_late(a->selection, a->err))
		return store_sums_stop(a, TALLY_LIMIT);
	sums->has_samples[sum->series] = true;
	if (sums->values.len >= FLEET_SAMPLES)
		return store_sums_stop(a, error_set(a->err, TALLY_LIMIT,
						  "the answer has more than %u sums of samples: ask for a shorter "
						  "time, fewer hosts or one service",
						  FLEET_SAMPLES));
	bool is_new = false;
	uint32_t index = vec_reserve(&sums->values, sums->values.len + 1) ? id_table_add(&sums->keys, key, &is_new)
									  : ID_TABLE_NONE;
	if (index == ID_TABLE_NONE)
		return store_sums_stop(a, error_nomem(a->err));
	if (is_new)
		sums->values.items[sums->values.len++] = (struct store_sums_value){0, 0};
	struct store_sums_value *value = &sums->values.items[index];
	value->count = store_sums_add(value->count, sum->count);
	value->value = store_sums_add(value->value, sum->value);
	return true;
}

static bool store_sums_are_alike(const struct store_catalog_series *a, const struct store_catalog_series *b)
{
	bool are_alike = a->event == b->event && a->kept.count == b->kept.count;
	/* Texts are interned, so their addresses are compared. */
	for (size_t i = 0; are_alike && i < a->kept.count; i++)
		are_alike = a->kept.items[i].name.data == b->kept.items[i].name.data &&
			    a->kept.items[i].value.data == b->kept.items[i].value.data;
	return are_alike;
}

/* Finds for each series the first one with the same event and labels: a label may belong to the batch in one series and
 * to the thread in another. NULL if memory allocation fails. */
static uint32_t *store_sums_find_alike(struct store_catalog *catalog)
{
	uint32_t *alike = arena_array(&catalog->arena, uint32_t, catalog->series.len);
	struct map_u64 first = {0};
	for (uint32_t i = 0; alike && i < catalog->series.len; i++) {
		const struct store_catalog_series *series = &catalog->series.items[i];
		uint64_t *slot = map_u64_at(&first, store_labels_id(&series->kept) ^ series->event, NULL);
		if (!slot) {
			alike = NULL;
			break;
		}
		alike[i] = i;
		if (*slot && store_sums_are_alike(series, &catalog->series.items[*slot - 1]))
			alike[i] = (uint32_t)*slot - 1;
		else
			*slot = i + 1;
	}
	map_u64_deinit(&first);
	return alike;
}

enum tally_status store_sums_load(const struct store *store, struct store_catalog *catalog,
	const struct store_selection *selection, struct store_sums *sums, struct tally_error *err)
{
	*sums = (struct store_sums){.keys.words = STORE_SUMS_WORDS};
	struct store_sums_adding a = {
		.catalog = catalog, .selection = selection, .sums = sums, .status = TALLY_OK, .err = err};
	a.alike = store_sums_find_alike(catalog);
	sums->has_samples = arena_array(&catalog->arena, bool, catalog->series.len);
	if (!a.alike || !sums->has_samples)
		return error_nomem(err);
	const struct store_scan scan = {.range = {selection->begin_ns, selection->end_ns},
		.series = catalog->ids.items,
		.series_count = catalog->ids.len,
		.by_thread = selection->by_thread,
		.string = store_sums_string,
		.take = store_sums_take,
		.context = &a};
	enum tally_status status = store->backend->list_sums(store->db, &scan, err);
	if (status == TALLY_OK)
		status = a.status;
	if (status != TALLY_OK)
		store_sums_deinit(sums);
	return status;
}

void store_sums_deinit(struct store_sums *sums)
{
	id_table_deinit(&sums->keys);
	vec_free(&sums->values);
}

struct store_sums_key store_sums_key(const struct store_sums *sums, size_t index)
{
	const uint64_t *key = id_table_key(&sums->keys, (uint32_t)index);
	return (struct store_sums_key){.series = (uint32_t)key[0],
		.state = (int)(uint32_t)(key[0] >> 32),
		.comm = (uint32_t)key[1],
		.process_comm = (uint32_t)(key[1] >> 32),
		.pid = (int32_t)(uint32_t)key[2],
		.tid = (int32_t)(uint32_t)(key[2] >> 32),
		.stack = key[3]};
}
