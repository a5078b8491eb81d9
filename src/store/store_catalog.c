/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_catalog.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"

#define STORE_EVENT_BYTES 64

struct store_catalog_label {
	uint64_t set;
	struct fleet_label label;
};

struct store_catalog_loading {
	struct store_catalog *catalog;
	const struct store_selection *selection;
	VEC(struct store_catalog_label) labels;
	bool has_sets; /* Whether the labels were combined into sets. */
	bool failed; /* Memory ran out. */
};

static bool store_catalog_text(struct store_catalog *catalog, struct tally_str text, struct tally_str *to)
{
	uint32_t id;
	if (!intern_add(&catalog->strings, text.data, text.len, &id))
		return false;
	*to = intern_get(&catalog->strings, id);
	return true;
}

static bool store_catalog_take_label(void *context, uint64_t set, struct tally_str name, struct tally_str value)
{
	struct store_catalog_loading *l = context;
	struct store_catalog_label label = {.set = set};
	l->failed = l->failed || !store_catalog_text(l->catalog, name, &label.label.name) ||
		    !store_catalog_text(l->catalog, value, &label.label.value) || !vec_push(&l->labels, label);
	return !l->failed;
}

static int store_catalog_compare(const void *left, const void *right)
{
	const struct store_catalog_label *a = left, *b = right;
	if (a->set != b->set)
		return COMPARE(a->set, b->set);
	size_t len = MIN(a->label.name.len, b->label.name.len);
	int order = memcmp(a->label.name.data, b->label.name.data, len);
	return order ? order : COMPARE(a->label.name.len, b->label.name.len);
}

static bool store_catalog_add_set(struct store_catalog *c, uint64_t id, const struct fleet_labels *labels)
{
	return map_u64_set(&c->sets, id, c->all_sets.len) && vec_push(&c->all_sets, *labels);
}

static bool store_catalog_make_sets(struct store_catalog_loading *l)
{
	struct store_catalog *c = l->catalog;
	struct fleet_label *items = arena_array(&c->arena, struct fleet_label, l->labels.len);
	bool ok = items && store_catalog_add_set(c, 0, &(struct fleet_labels){NULL, 0});
	if (ok && l->labels.len > 1)
		qsort(l->labels.items, l->labels.len, sizeof(*l->labels.items), store_catalog_compare);
	for (size_t i = 0; ok && i < l->labels.len; i++)
		items[i] = l->labels.items[i].label;
	for (size_t first = 0, end; ok && first < l->labels.len; first = end) {
		uint64_t set = l->labels.items[first].set;
		for (end = first; end < l->labels.len && l->labels.items[end].set == set;)
			end++;
		ok = store_catalog_add_set(c, set, &(struct fleet_labels){items + first, end - first});
	}
	return ok;
}

/* A missing set counts as empty: the database is damaged or has lost a label. */
static struct fleet_labels store_catalog_set(const struct store_catalog *c, uint64_t id)
{
	uint64_t index;
	if (!map_u64_find(&c->sets, id, &index))
		return (struct fleet_labels){NULL, 0};
	return c->all_sets.items[index];
}

/* Joins the labels of thread and batch; those of the thread take precedence. */
static bool store_catalog_join(struct store_catalog *c, const struct fleet_labels sets[2], struct fleet_labels *to)
{
	struct fleet_label *items = arena_array(&c->arena, struct fleet_label, sets[0].count + sets[1].count);
	struct tally_error err;
	size_t count = sets[0].count;
	if (!items)
		return false;
	if (count > 0)
		memcpy(items, sets[0].items, count * sizeof(*items));
	for (size_t i = 0; i < sets[1].count; i++)
		if (!fleet_labels_find(&sets[0], sets[1].items[i].name))
			items[count++] = sets[1].items[i];
	/* If the labels are too many or damaged, only those of the thread remain. */
	if (fleet_labels_make(items, count, to, &err) != TALLY_OK)
		*to = sets[0];
	return true;
}

static struct fleet_labels store_catalog_kept(
	const struct store_selection *selection, const struct fleet_labels *labels)
{
	const struct fleet_label *kept = fleet_labels_find(labels, selection->kept_label);
	if (!selection->merges_labels)
		return *labels;
	return (struct fleet_labels){kept, kept != NULL};
}

/* Events that can be sampled with more or less precision and count the same in any case. */
static bool store_catalog_is_precise(struct tally_str base)
{
	static const struct tally_str names[] = {STR("cpu-clock"), STR("task-clock"), STR("cycles"), STR("cpu-cycles"),
		STR("ref-cycles"), STR("instructions"), STR("branches"), STR("branch-instructions"),
		STR("branch-misses")};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_equal(base, names[i]))
			return true;
	return false;
}

/* The name without precision modifiers: "cpu-clock:ppp", the default of record, becomes "cpu-clock", which the agent
 * uses. `room` has STORE_EVENT_BYTES; a longer name remains as it is. */
static struct tally_str store_catalog_event(struct tally_str name, char *room)
{
	const char *colon = name.len ? memchr(name.data, ':', name.len) : NULL;
	size_t base = colon ? (size_t)(colon - name.data) : name.len, len = base;
	if (!colon || name.len > STORE_EVENT_BYTES || !store_catalog_is_precise((struct tally_str){name.data, base}))
		return name;
	memcpy(room, name.data, base);
	for (size_t i = base + 1; i < name.len; i++) {
		char c = name.data[i];
		if (!c || !strchr("ukhIGHpPSDWbe", c))
			return name;
		if (c == 'p' || c == 'P')
			continue;
		if (len == base)
			room[len++] = ':';
		room[len++] = c;
	}
	return (struct tally_str){room, len};
}

/* Whether the event is selected; *event becomes its name in the answer. */
static bool store_catalog_wants(const struct store_selection *selection, struct tally_str *event, char *room)
{
	struct tally_str name = store_catalog_event(*event, room);
	bool is_wanted =
		selection->event.len == 0 || str_equal(selection->event, *event) || str_equal(selection->event, name);
	*event = selection->event.len ? selection->event : name;
	return is_wanted;
}

static bool store_catalog_take_series(void *context, const struct store_series *series)
{
	struct store_catalog_loading *l = context;
	struct store_catalog *c = l->catalog;
	const struct store_selection *selection = l->selection;
	struct store_catalog_series to = {.batch_labels = series->labels};
	struct tally_str event = series->event;
	char room[STORE_EVENT_BYTES];
	if (!l->has_sets && !store_catalog_make_sets(l)) {
		l->failed = true;
		return false;
	}
	l->has_sets = true;
	struct fleet_labels sets[2] = {
		store_catalog_set(c, series->thread_labels), store_catalog_set(c, series->labels)};
	if (!store_catalog_wants(selection, &event, room) ||
		!label_query_matches(selection->query, sets, ARRAY_LEN(sets)))
		return true;
	l->failed = !store_catalog_join(c, sets, &to.labels) ||
		    !intern_add(&c->strings, event.data, event.len, &to.event) || !vec_push(&c->ids, series->id);
	to.kept = store_catalog_kept(selection, &to.labels);
	l->failed = l->failed || !vec_push(&c->series, to);
	return !l->failed;
}

enum tally_status store_catalog_load(const struct store_backend *backend, void *db,
	const struct store_selection *selection, struct store_catalog *catalog, struct tally_error *err)
{
	struct store_catalog_loading l = {.catalog = catalog, .selection = selection};
	const struct store_series_take take = {store_catalog_take_label, store_catalog_take_series, &l};
	*catalog = (struct store_catalog){0};
	arena_init(&catalog->arena);
	intern_init(&catalog->strings);
	enum tally_status status =
		backend->list_series(db, (struct store_range){selection->begin_ns, selection->end_ns}, &take, err);
	if (status == TALLY_OK && (l.failed || (!l.has_sets && !store_catalog_make_sets(&l))))
		status = error_nomem(err);
	vec_free(&l.labels);
	if (status != TALLY_OK)
		store_catalog_deinit(catalog);
	return status;
}

void store_catalog_deinit(struct store_catalog *catalog)
{
	arena_deinit(&catalog->arena);
	intern_deinit(&catalog->strings);
	vec_free(&catalog->series);
	vec_free(&catalog->ids);
	vec_free(&catalog->all_sets);
	map_u64_deinit(&catalog->sets);
}

bool store_catalog_has_labels(
	const struct store_catalog *catalog, const struct store_selection *selection, uint64_t batch_labels)
{
	struct fleet_labels labels = store_catalog_set(catalog, batch_labels);
	if (label_query_matches(selection->query, &labels, 1))
		return true;
	for (size_t i = 0; i < catalog->series.len; i++)
		if (catalog->series.items[i].batch_labels == batch_labels)
			return true;
	return false;
}
