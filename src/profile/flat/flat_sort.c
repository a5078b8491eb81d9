/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows are ordered as in perf (found by running perf on recordings with ties):
 * - Values sort descending. In a group of events the leader's value decides, or that of the requested member, then the
 *   values of the members after the leader in their order. If another member was requested, the leader's value does not
 *   count. Of children sums only the leader's counts.
 * - If call graphs are shown, of rows with equal children sums the one with the longer chain comes first when chains
 *   start at the caller, so that callers stand above callees. perf does so only for rows of one thread, and compares
 *   the next keys between threads. This is no strict order: the result depends on perf's tree, and may differ here.
 * - Keys sort ascending by the shown text; unknown objects and symbols come last.
 * - Rows that look the same (functions with one name, addresses without symbol) sort by ascending address as a signed
 *   number, so the kernel's come first.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/key_sort.h"
#include "base/order.h"
#include "profile/flat/facet_keys.h"
#include "profile/flat/flat_words.h"

static uint64_t flat_sort_more(const struct flat_table *table, const struct flat_stat *stat, unsigned which)
{
	return which < table->more_count ? stat->more[which] : 0;
}

static uint64_t average_weight(const struct flat_table *table, const struct flat_stat *stat, unsigned weight)
{
	uint64_t sum = flat_sort_more(table, stat, MORE_WEIGHTS + weight);
	return stat->count ? (uint64_t)((double)sum * 1000 / (double)stat->count) : 0;
}

uint64_t flat_stat_value(const struct flat_table *table, const struct flat_stat *stat, enum profile_key key)
{
	switch ((int)key) {
	case KEY_OVERHEAD:
	case KEY_PERIOD:
	case KEY_PART_OPERATION:
	case KEY_PART_CACHE:
	case KEY_PART_MEMORY:
	case KEY_PART_SNOOP:
	case KEY_PART_TLB:
		return stat->period;
	case KEY_OVERHEAD_SYS:
		return flat_sort_more(table, stat, MORE_SYS);
	case KEY_OVERHEAD_US:
		return flat_sort_more(table, stat, MORE_US);
	case KEY_OVERHEAD_GUEST_SYS:
		return flat_sort_more(table, stat, MORE_GUEST_SYS);
	case KEY_OVERHEAD_GUEST_US:
		return flat_sort_more(table, stat, MORE_GUEST_US);
	case KEY_OVERHEAD_CHILDREN:
		return stat->children_period;
	case KEY_LATENCY:
		return flat_sort_more(table, stat, MORE_LATENCY);
	case KEY_LATENCY_CHILDREN:
		return flat_sort_more(table, stat, MORE_LATENCY_CHILDREN);
	case KEY_WAIT:
		return flat_sort_more(table, stat, MORE_WAIT);
	case KEY_RUN_LATENCY:
		return flat_sort_more(table, stat, MORE_RUN_LATENCY);
	case KEY_SAMPLE:
		return stat->count;
	case KEY_WEIGHT1:
	case KEY_WEIGHT2:
	case KEY_WEIGHT3:
		return average_weight(table, stat, (unsigned)(key - KEY_WEIGHT1));
	default:
		return 0;
	}
}

static int compare_string_ids(const void *left, const void *right, void *data)
{
	const struct profile *p = data;
	struct tally_str a = profile_string(p, *(const uint32_t *)left),
			 b = profile_string(p, *(const uint32_t *)right);
	size_t shorter = MIN(a.len, b.len);
	int order = shorter ? memcmp(a.data, b.data, shorter) : 0;
	return order ? order : COMPARE(a.len, b.len);
}

/* Most texts differ in their first bytes; only the others are compared. */
static void flat_sort_order_strings(const struct profile *p, struct sort_key *keys, uint32_t *ids)
{
	size_t count = p->strings.len;
	for (size_t i = 0; i < count; i++) {
		struct tally_str text = profile_string(p, (uint32_t)i);
		uint64_t first_bytes = 0;
		if (text.len > 0)
			memcpy(&first_bytes, text.data, MIN(text.len, sizeof(first_bytes)));
		/* Big-endian numbers have the order of the texts. */
		keys[i] = (struct sort_key){be64toh(first_bytes), i};
	}
	key_sort(keys, keys + count, count);
	for (size_t i = 0; i < count; i++)
		ids[i] = (uint32_t)keys[i].index;
	for (size_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count && keys[end].key == keys[begin].key; end++)
			;
		if (end - begin > 1)
			qsort_r(ids + begin, end - begin, sizeof(*ids), compare_string_ids, (void *)(uintptr_t)p);
	}
}

/* Returns NULL if out of memory. */
static uint32_t *rank_strings(const struct profile *p)
{
	size_t count = p->strings.len;
	struct sort_key *keys = malloc((2 * count + 1) * sizeof(*keys));
	uint32_t *ids = malloc((count + 1) * sizeof(*ids));
	uint32_t *ranks = malloc((count + 1) * sizeof(*ranks));
	if (keys && ids && ranks) {
		flat_sort_order_strings(p, keys, ids);
		for (size_t i = 0; i < count; i++)
			ranks[ids[i]] = (uint32_t)i;
	} else {
		free(ranks);
		ranks = NULL;
	}
	free(keys);
	free(ids);
	return ranks;
}

static int compare_strings(const struct flat_sort *c, uint32_t a, uint32_t b)
{
	return COMPARE(c->ranks[a], c->ranks[b]);
}

static int compare_number(int64_t a, int64_t b)
{
	return COMPARE(a, b);
}

static int flat_sort_compare_binaries(const struct flat_sort *c, uint32_t a, uint32_t b)
{
	const struct profile *p = c->table->profile;
	if (a == PROFILE_NONE || b == PROFILE_NONE)
		return (a == PROFILE_NONE) - (b == PROFILE_NONE);
	const struct flat_options *o = &c->table->options;
	return compare_strings(c, flat_binary_name(p, o, a), flat_binary_name(p, o, b));
}

static int compare_functions(const struct flat_sort *c, uint32_t a, uint32_t b)
{
	const struct profile *p = c->table->profile;
	if (a == PROFILE_NONE || b == PROFILE_NONE)
		return (a == PROFILE_NONE) - (b == PROFILE_NONE);
	return compare_strings(c, p->functions[a].name, p->functions[b].name);
}

static int64_t function_size(const struct profile *p, uint32_t function)
{
	return function == PROFILE_NONE ? 0 : (int64_t)p->functions[function].size;
}

static int compare_key(
	const struct flat_sort *c, enum profile_key key, const struct flat_row *a, const struct flat_row *b)
{
	const struct profile *p = c->table->profile;
	const struct profile_frame *fa = &p->frames[a->frame], *fb = &p->frames[b->frame];
	const struct profile_thread *ta = &p->threads[a->thread], *tb = &p->threads[b->thread];
	switch ((int)key) {
	case KEY_PID:
		return compare_number(ta->tid, tb->tid);
	case KEY_TGID:
		return compare_number(ta->pid, tb->pid);
	case KEY_COMM:
		return compare_strings(c, ta->comm, tb->comm);
	case KEY_PARENT:
		return compare_functions(c, a->parent, b->parent);
	case KEY_CPU:
		return compare_number(a->cpu, b->cpu);
	case KEY_DSO:
		return flat_sort_compare_binaries(c, fa->binary, fb->binary);
	case KEY_SRCLINE:
		return compare_strings(c, a->place.line, b->place.line);
	case KEY_SRCFILE:
		return compare_strings(c, a->place.file, b->place.file);
	case KEY_SYMBOL:
		return compare_functions(c, fa->function, fb->function);
	case KEY_SYMBOL_SIZE:
		return compare_number(function_size(p, fa->function), function_size(p, fb->function));
	default:
		if (profile_key_get(key)->form == KEY_FORM_ROW)
			return 0;
		unsigned facet = profile_key_facet(key);
		return facet_key_compare(c->table, key, profile_facet(p, a->facets, facet),
			profile_facet(p, b->facets, facet), c->ranks);
	}
}

uint32_t flat_deciding_members(const struct flat_table *table, enum profile_key key, uint32_t *first)
{
	bool leader_decides = key == KEY_OVERHEAD_CHILDREN || table->options.sort_member >= table->options.member_count;
	*first = leader_decides ? 0 : table->options.sort_member;
	return leader_decides ? 1 : table->options.member_count;
}

int flat_stats_compare(
	const struct flat_table *table, const struct flat_stat *a, const struct flat_stat *b, enum profile_key key)
{
	uint32_t first, count = flat_deciding_members(table, key, &first);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t member = i ? i : first;
		uint64_t va = flat_stat_value(table, flat_member_stat(table, a, member), key);
		uint64_t vb = flat_stat_value(table, flat_member_stat(table, b, member), key);
		if (va != vb)
			return va > vb ? -1 : 1;
	}
	return 0;
}

static int compare_value(const struct flat_sort *c, enum profile_key key, uint32_t a, uint32_t b)
{
	const struct flat_table *t = c->table;
	int order = flat_stats_compare(t, flat_table_stat(t, a, 0), flat_table_stat(t, b, 0), key);
	if (order)
		return order;
	if (key != KEY_OVERHEAD_CHILDREN || !t->options.with_chains)
		return 0;
	int deeper = compare_number(t->rows[b].max_depth, t->rows[a].max_depth);
	return t->options.is_caller_first ? deeper : -deeper;
}

static int compare_addresses(const struct flat_table *t, uint32_t a, uint32_t b)
{
	return compare_number(
		(int64_t)flat_row_address(t->profile, &t->rows[a]), (int64_t)flat_row_address(t->profile, &t->rows[b]));
}

static int compare_column(const struct flat_sort *c, enum profile_key key, uint32_t a, uint32_t b)
{
	const struct flat_table *t = c->table;
	if (profile_key_get(key)->is_value)
		return compare_value(c, key, a, b);
	return compare_key(c, key, &t->rows[a], &t->rows[b]);
}

int flat_sort_compare(const struct flat_sort *c, uint32_t a, uint32_t b)
{
	const struct flat_table *t = c->table;
	for (size_t i = 0; i < c->count; i++) {
		int order = compare_column(c, c->columns[i], a, b);
		if (order)
			return order;
	}
	int order = compare_addresses(t, a, b);
	return order ? order : compare_number(t->rows[a].number, t->rows[b].number);
}

enum tally_status flat_table_sort(
	struct flat_table *table, const enum profile_key *columns, size_t count, struct tally_error *err)
{
	if (table->shown_count == 0)
		return TALLY_OK;
	for (size_t i = 0; i < count; i++) {
		if (columns[i] >= PROFILE_KEY_COUNT)
			return error_set(err, TALLY_INVALID, "no such column %d", (int)columns[i]);
	}
	uint32_t *ranks = rank_strings(table->profile);
	if (!ranks)
		return error_nomem(err);
	bool is_sorted = flat_words_sort(
		&(struct flat_sort){.table = table, .columns = columns, .count = count, .ranks = ranks});
	free(ranks);
	return is_sorted ? TALLY_OK : error_nomem(err);
}

struct flat_row_order {
	struct flat_sort context;
	uint32_t *ranks;
};

enum tally_status flat_row_order_create(
	const struct flat_table *table, struct flat_row_order **order, struct tally_error *err)
{
	struct flat_row_order *made = calloc(1, sizeof(*made));
	if (made)
		made->ranks = rank_strings(table->profile);
	if (!made || !made->ranks) {
		free(made);
		return error_nomem(err);
	}
	made->context = (struct flat_sort){.table = table, .ranks = made->ranks};
	*order = made;
	return TALLY_OK;
}

void flat_row_order_destroy(struct flat_row_order *order)
{
	if (order)
		free(order->ranks);
	free(order);
}

int flat_row_order_compare(const struct flat_row_order *order, enum profile_key key, uint32_t row_a, uint32_t row_b)
{
	const struct flat_table *t = order->context.table;
	int result = compare_key(&order->context, key, &t->rows[row_a], &t->rows[row_b]);
	if (result || key != KEY_SYMBOL)
		return result;
	return compare_addresses(t, row_a, row_b);
}
