/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/memory/c2c_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

#define LEAST_SHARE 0.001 /* Smallest share of the displayed accesses for which a line is shown. */

uint64_t c2c_displayed(const struct c2c_table *t, const struct access_counts *c)
{
	switch (t->display) {
	case C2C_LOCAL:
		return c->n[ACCESS_LOCAL_HITM];
	case C2C_REMOTE:
		return c->n[ACCESS_REMOTE_HITM];
	case C2C_PEER:
		return access_counts_peers(c);
	case C2C_TOTAL:
	default:
		return access_counts_hitms(c);
	}
}

bool c2c_entry_is_shown(const struct c2c_table *table, const struct cache_entry *entry)
{
	return c2c_displayed(table, &entry->counts) + entry->counts.n[ACCESS_STORE] > 0;
}

uint64_t c2c_shared_lines(const struct c2c_table *table, struct access_counts *sum)
{
	uint64_t count = 0;
	*sum = (struct access_counts){0};
	for (size_t i = 0; i < table->lines->lines.len; i++) {
		const struct access_counts *one = &table->lines->lines.items[i].counts;
		if (access_counts_hitms(one) + access_counts_peers(one) == 0)
			continue;
		access_counts_merge(sum, one);
		count++;
	}
	return count;
}

static int c2c_table_compare_lines(const void *left, const void *right, void *context)
{
	const struct c2c_order *p = context;
	const struct cache_line *a = &p->table->lines->lines.items[*(const uint32_t *)left];
	const struct cache_line *b = &p->table->lines->lines.items[*(const uint32_t *)right];
	uint64_t of_a = c2c_displayed(p->table, &a->counts), of_b = c2c_displayed(p->table, &b->counts);
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	if (a->is_mapped != b->is_mapped)
		return a->is_mapped ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return COMPARE(a->memory, b->memory);
}

static int c2c_table_compare_keys(const struct c2c_order *p, uint32_t left, uint32_t right)
{
	const struct c2c_table *t = p->table;
	const struct cache_entry *a = &t->lines->entries.items[left], *b = &t->lines->entries.items[right];
	int order = 0;
	for (size_t i = 0; i < t->key_count && !order; i++) {
		switch (t->keys[i]) {
		case C2C_KEY_PID:
			order = COMPARE(a->pid, b->pid);
			break;
		case C2C_KEY_TID:
			order = COMPARE(a->tid, b->tid);
			break;
		case C2C_KEY_IADDR:
			order = COMPARE(a->code, b->code);
			break;
		case C2C_KEY_DSO:
			order = strcmp(t->labels[left].object, t->labels[right].object);
			break;
		case C2C_KEYS:
		default:
			break;
		}
	}
	return order ? order : COMPARE(left, right);
}

static int compare_entries(const void *left, const void *right, void *context)
{
	const struct c2c_order *p = context;
	const struct cache_entry *a = &p->table->lines->entries.items[*(const uint32_t *)left];
	const struct cache_entry *b = &p->table->lines->entries.items[*(const uint32_t *)right];
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	uint64_t of_a = c2c_displayed(p->table, &a->counts), of_b = c2c_displayed(p->table, &b->counts);
	bool is_peer = p->table->display == C2C_PEER;
	if (of_a == of_b && !is_peer) {
		of_a = access_counts_hitms(&a->counts);
		of_b = access_counts_hitms(&b->counts);
	}
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return c2c_table_compare_keys(p, *(const uint32_t *)left, *(const uint32_t *)right);
}

static int compare_uses(const void *left, const void *right, void *context)
{
	const struct c2c_order *p = context;
	const struct cache_use *a = &p->table->lines->uses.items[*(const uint32_t *)left];
	const struct cache_use *b = &p->table->lines->uses.items[*(const uint32_t *)right];
	if (a->entry != b->entry)
		return a->entry < b->entry ? -1 : 1;
	return COMPARE(a->cpu, b->cpu);
}

static uint32_t *new_order(struct c2c_order *p, size_t count, int (*compare)(const void *, const void *, void *))
{
	uint32_t *order = malloc((count + 1) * sizeof(*order));
	if (!order)
		return NULL;
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(*order), compare, p);
	return order;
}

/* Sorts the lines so that those to be shown come first. */
bool c2c_order_init(struct c2c_order *order, const struct c2c_table *table)
{
	const struct cache_lines *lines = table->lines;
	*order = (struct c2c_order){.table = table};
	order->lines = new_order(order, lines->lines.len, c2c_table_compare_lines);
	order->entries = new_order(order, lines->entries.len, compare_entries);
	order->uses = new_order(order, lines->uses.len, compare_uses);
	order->first_use = calloc(lines->entries.len + 1, sizeof(*order->first_use));
	order->first_entry = calloc(lines->lines.len + 1, sizeof(*order->first_entry));
	if (!order->lines || !order->entries || !order->uses || !order->first_use || !order->first_entry)
		return false;
	for (size_t i = 0; i < lines->entries.len; i++)
		order->first_entry[lines->entries.items[i].line + 1]++;
	for (size_t i = 0; i < lines->lines.len; i++)
		order->first_entry[i + 1] += order->first_entry[i];
	for (size_t i = 0; i < lines->uses.len; i++)
		order->first_use[lines->uses.items[i].entry + 1]++;
	for (size_t i = 0; i < lines->entries.len; i++)
		order->first_use[i + 1] += order->first_use[i];
	for (size_t i = 0; i < lines->lines.len; i++)
		order->displayed += c2c_displayed(table, &lines->lines.items[i].counts);
	for (; order->line_count < lines->lines.len; order->line_count++) {
		uint64_t part = c2c_displayed(table, &lines->lines.items[order->lines[order->line_count]].counts);
		if (!table->shows_all && (!part || (double)part < LEAST_SHARE * (double)order->displayed))
			break;
	}
	return true;
}

void c2c_order_deinit(struct c2c_order *order)
{
	free(order->lines);
	free(order->entries);
	free(order->uses);
	free(order->first_use);
	free(order->first_entry);
}
