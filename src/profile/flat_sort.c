/*
 * The order of rows, as perf's readers know it (found by running perf on recordings with ties):
 * - a value sorts descending; in a group the leader's value decides, or that of the member asked for, then those of the
 *   members behind the leader in their order: where another was asked for, the leader's counts no more; of
 *   children sums only the leader's counts;
 * - where call graphs are shown, rows with equal children sums and the same first thread: the one with the longer chain
 * comes first when chains start at the caller, so that callers stand above callees;
 * - keys sort ascending by what is shown, unknown objects and symbols last;
 * - rows that look alike (functions of one name, addresses without symbol) go by ascending address, the kernel's first:
 *   as numbers with a sign.
 */
#include "base/error.h"
#include "base/thread_pool.h"
#include "profile/facet_keys.h"
#include "profile/flat_table.h"

#include <stdlib.h>

struct sort_context {
	const struct flat_table *table;
	const enum profile_key *columns;
	size_t count;
	const uint32_t *ranks; /* by string id: its place among all strings, so that rows compare numbers only */
};

uint64_t flat_stat_value(const struct flat_stat *stat, enum profile_key key)
{
	switch ((int)key) {
	case KEY_OVERHEAD:
	case KEY_PERIOD:
		return stat->period;
	case KEY_OVERHEAD_SYS:
		return stat->sys_period;
	case KEY_OVERHEAD_US:
		return stat->us_period;
	case KEY_OVERHEAD_GUEST_SYS:
		return stat->guest_sys_period;
	case KEY_OVERHEAD_GUEST_US:
		return stat->guest_us_period;
	case KEY_OVERHEAD_CHILDREN:
		return stat->children_period;
	case KEY_LATENCY:
		return stat->latency;
	case KEY_LATENCY_CHILDREN:
		return stat->children_latency;
	case KEY_SAMPLE:
		return stat->count;
	case KEY_WEIGHT1:
	case KEY_WEIGHT2:
	case KEY_WEIGHT3:
		return stat->count ? (uint64_t)((double)stat->weights[key - KEY_WEIGHT1] * 1000 / (double)stat->count)
				   : 0;
	default:
		return 0;
	}
}

static int compare_text(struct tally_str a, struct tally_str b)
{
	size_t shorter = a.len < b.len ? a.len : b.len;
	int order = shorter ? memcmp(a.data, b.data, shorter) : 0;
	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_string_ids(const void *left, const void *right, void *data)
{
	const struct profile *p = data;
	return compare_text(profile_string(p, *(const uint32_t *)left), profile_string(p, *(const uint32_t *)right));
}

/* NULL: out of memory. */
static uint32_t *rank_strings(const struct profile *p)
{
	size_t count = p->strings.len;
	uint32_t *ids = malloc((count + 1) * sizeof(*ids));
	uint32_t *ranks = malloc((count + 1) * sizeof(*ranks));
	for (size_t i = 0; ids && i < count; i++)
		ids[i] = (uint32_t)i;
	if (ids && ranks) {
		qsort_r(ids, count, sizeof(*ids), compare_string_ids, (void *)(uintptr_t)p);
		for (size_t i = 0; i < count; i++)
			ranks[ids[i]] = (uint32_t)i;
	} else {
		free(ranks);
		ranks = NULL;
	}
	free(ids);
	return ranks;
}

static int compare_strings(const struct sort_context *c, uint32_t a, uint32_t b)
{
	return (c->ranks[a] > c->ranks[b]) - (c->ranks[a] < c->ranks[b]);
}

static int compare_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_binaries(const struct sort_context *c, uint32_t a, uint32_t b)
{
	const struct profile *p = c->table->profile;
	if (a == PROFILE_NONE || b == PROFILE_NONE)
		return (a == PROFILE_NONE) - (b == PROFILE_NONE);
	return compare_strings(c, p->binaries[a].name, p->binaries[b].name);
}

static int compare_functions(const struct sort_context *c, uint32_t a, uint32_t b)
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
	const struct sort_context *c, enum profile_key key, const struct flat_row *a, const struct flat_row *b)
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
		return compare_binaries(c, fa->binary, fb->binary);
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
		return facet_key_compare(
			p, key, profile_facet(p, a->facets, facet), profile_facet(p, b->facets, facet), c->ranks);
	}
}

/* Which members' sums decide: how many, and the first of them; behind it come those from the second on. */
static uint32_t deciding_members(const struct flat_table *table, enum profile_key key, uint32_t *first)
{
	bool leader_decides = key == KEY_OVERHEAD_CHILDREN || table->options.sort_member >= table->options.member_count;
	*first = leader_decides ? 0 : table->options.sort_member;
	return leader_decides ? 1 : table->options.member_count;
}

int flat_stats_compare(
	const struct flat_table *table, const struct flat_stat *a, const struct flat_stat *b, enum profile_key key)
{
	uint32_t first, count = deciding_members(table, key, &first);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t member = i ? i : first;
		uint64_t va = flat_stat_value(&a[member], key), vb = flat_stat_value(&b[member], key);
		if (va != vb)
			return va > vb ? -1 : 1;
	}
	return 0;
}

static int compare_value(const struct flat_table *t, enum profile_key key, uint32_t a, uint32_t b)
{
	int order = flat_stats_compare(t, flat_table_stat(t, a, 0), flat_table_stat(t, b, 0), key);
	if (order)
		return order;
	if (key != KEY_OVERHEAD_CHILDREN || !t->options.with_chains || t->rows[a].thread != t->rows[b].thread)
		return 0;
	int deeper = compare_number(t->rows[b].max_depth, t->rows[a].max_depth);
	return t->options.is_caller_first ? deeper : -deeper;
}

static uint64_t row_address(const struct profile *p, const struct flat_row *row)
{
	const struct profile_frame *frame = &p->frames[row->frame];
	return frame->function == PROFILE_NONE ? row->address : p->functions[frame->function].start;
}

static int compare_rows(const void *left, const void *right, void *data)
{
	const struct sort_context *c = data;
	const struct flat_table *t = c->table;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	for (size_t i = 0; i < c->count; i++) {
		enum profile_key key = c->columns[i];
		int order = profile_key_get(key)->is_value ? compare_value(t, key, a, b)
							   : compare_key(c, key, &t->rows[a], &t->rows[b]);
		if (order)
			return order;
	}
	uint64_t address_a = row_address(t->profile, &t->rows[a]), address_b = row_address(t->profile, &t->rows[b]);
	if (address_a != address_b)
		return (int64_t)address_a < (int64_t)address_b ? -1 : 1;
	return compare_number(t->rows[a].number, t->rows[b].number);
}

/*
 * Most rows of a large table have few samples and are told apart by their keys only, so that a comparison by the
 * tables above waits for memory a dozen times. Each row's words are therefore written down once, in the order in which
 * they count, such that smaller comes first.
 */
#define SORT_WORDS_MAX 12

struct sort_plan {
	const struct sort_context *context;
	size_t words; /* of a row; the last one is its number, and the row itself */
	size_t tie_word; /* thread and depth, behind the children's sum; 0: no such rule */
	bool is_caller_first;
};

static uint64_t rank_or_last(const struct sort_context *c, uint32_t string)
{
	return string == PROFILE_NONE ? UINT64_MAX : c->ranks[string];
}

static uint64_t signed_word(int64_t value)
{
	return (uint64_t)value ^ (UINT64_C(1) << 63);
}

/* The word by which rows sort as compare_key has it; false for keys that are compared otherwise. */
static bool key_word(const struct sort_context *c, enum profile_key key, const struct flat_row *row, uint64_t *word)
{
	const struct profile *p = c->table->profile;
	const struct profile_frame *frame = &p->frames[row->frame];
	switch ((int)key) {
	case KEY_PID:
		*word = signed_word(p->threads[row->thread].tid);
		return true;
	case KEY_TGID:
		*word = signed_word(p->threads[row->thread].pid);
		return true;
	case KEY_COMM:
		*word = c->ranks[p->threads[row->thread].comm];
		return true;
	case KEY_CPU:
		*word = signed_word(row->cpu);
		return true;
	case KEY_DSO:
		*word = rank_or_last(c, frame->binary == PROFILE_NONE ? PROFILE_NONE : p->binaries[frame->binary].name);
		return true;
	case KEY_SYMBOL:
		*word = rank_or_last(
			c, frame->function == PROFILE_NONE ? PROFILE_NONE : p->functions[frame->function].name);
		return true;
	default:
		return false;
	}
}

static bool write_words(const struct sort_plan *plan, uint32_t index, uint64_t *words)
{
	const struct sort_context *c = plan->context;
	const struct flat_table *t = c->table;
	const struct flat_row *row = &t->rows[index];
	size_t at = 0;
	for (size_t i = 0; i < c->count; i++) {
		if (!profile_key_get(c->columns[i])->is_value) {
			if (!key_word(c, c->columns[i], row, &words[at++]))
				return false;
			continue;
		}
		uint32_t first, members = deciding_members(t, c->columns[i], &first);
		for (uint32_t m = 0; m < members; m++)
			words[at++] = ~flat_stat_value(flat_table_stat(t, index, m ? m : first), c->columns[i]);
		if (at == plan->tie_word)
			words[at++] = (uint64_t)row->thread << 32 | row->max_depth;
	}
	words[at++] = signed_word((int64_t)row_address(t->profile, row));
	words[at] = (uint64_t)row->number << 32 | index;
	return true;
}

static int compare_words(const void *left, const void *right, void *data)
{
	const struct sort_plan *plan = data;
	const uint64_t *a = left, *b = right;
	for (size_t i = 0; i < plan->words; i++) {
		if (a[i] == b[i])
			continue;
		if (i != plan->tie_word || i == 0)
			return a[i] < b[i] ? -1 : 1;
		/* Of one thread, the deeper chain decides; rows of several threads are not compared by it. */
		if (a[i] >> 32 == b[i] >> 32)
			return (a[i] < b[i]) == plan->is_caller_first ? 1 : -1;
	}
	return 0;
}

/* False: too many columns, or one that has no word. */
static bool make_plan(const struct sort_context *c, struct sort_plan *plan)
{
	const struct flat_table *t = c->table;
	*plan = (struct sort_plan){.context = c, .words = 2, .is_caller_first = t->options.is_caller_first};
	for (size_t i = 0; i < c->count; i++) {
		uint64_t word;
		uint32_t first;
		bool is_value = profile_key_get(c->columns[i])->is_value;
		if (!is_value && !key_word(c, c->columns[i], &t->rows[t->order[0]], &word))
			return false;
		if (t->options.member_count > SORT_WORDS_MAX)
			return false;
		plan->words += is_value ? deciding_members(t, c->columns[i], &first) : 1;
		if (plan->words > SORT_WORDS_MAX)
			return false;
		if (c->columns[i] == KEY_OVERHEAD_CHILDREN && t->options.with_chains && plan->tie_word == 0)
			plan->tie_word = plan->words++ - 2;
	}
	return plan->words <= SORT_WORDS_MAX;
}

/*
 * A merge sort of parts: how many they are depends on the number of rows alone, so that workers have no say in the
 * order of rows of which nothing decides.
 */
#define SORT_PARTS     8
#define SORT_PARTS_MIN 4096 /* rows; fewer are one part */

struct word_sort {
	const struct sort_plan *plan;
	uint64_t *words; /* by place in the table's order before */
	uint32_t *places, *merged; /* places as sorted so far, and where they are merged to */
	size_t count, parts;
};

struct part {
	size_t begin, count;
};

/* Halves of halves. */
static struct part part_of(size_t count, size_t parts, size_t index)
{
	struct part part = {0, count};
	for (size_t half = parts / 2; half; half /= 2) {
		size_t first = part.count / 2;
		if (index & half) {
			part.begin += first;
			part.count -= first;
		} else {
			part.count = first;
		}
	}
	return part;
}

static int compare_places(const void *left, const void *right, void *data)
{
	const struct word_sort *sort = data;
	size_t words = sort->plan->words;
	return compare_words(&sort->words[*(const uint32_t *)left * words],
		&sort->words[*(const uint32_t *)right * words], (void *)(uintptr_t)sort->plan);
}

static void sort_part(void *context, size_t index, unsigned worker)
{
	const struct word_sort *sort = context;
	const struct sort_plan *plan = sort->plan;
	struct part part = part_of(sort->count, sort->parts, index);
	for (size_t i = part.begin; i < part.begin + part.count; i++) {
		(void)write_words(plan, plan->context->table->order[i], &sort->words[i * plan->words]);
		sort->places[i] = (uint32_t)i;
	}
	qsort_r(sort->places + part.begin, part.count, sizeof(*sort->places), compare_places, context);
}

static void merge_parts(void *context, size_t index, unsigned worker)
{
	const struct word_sort *sort = context;
	struct part a = part_of(sort->count, 2 * sort->parts, 2 * index);
	struct part b = part_of(sort->count, 2 * sort->parts, 2 * index + 1);
	const uint32_t *left = sort->places + a.begin, *right = sort->places + b.begin;
	const uint32_t *left_end = left + a.count, *right_end = right + b.count;
	uint32_t *to = sort->merged + a.begin;
	while (left < left_end && right < right_end)
		*to++ = compare_places(left, right, context) <= 0 ? *left++ : *right++;
	memcpy(to, left, (size_t)(left_end - left) * sizeof(*to));
	memcpy(to + (left_end - left), right, (size_t)(right_end - right) * sizeof(*to));
}

static void sort_places(struct word_sort *sort)
{
	sort->parts = sort->count < SORT_PARTS_MIN ? 1 : SORT_PARTS;
	thread_pool_for(sort->parts, 0, sort_part, sort);
	while (sort->parts > 1) {
		sort->parts /= 2;
		thread_pool_for(sort->parts, 0, merge_parts, sort);
		uint32_t *sorted = sort->merged;
		sort->merged = sort->places;
		sort->places = sorted;
	}
}

/* False: no such plan, or no memory for it. */
static bool sort_by_words(const struct sort_context *c)
{
	struct sort_plan plan;
	const struct flat_table *t = c->table;
	if (!make_plan(c, &plan))
		return false;
	struct word_sort sort = {.plan = &plan, .count = t->shown_count};
	sort.words = malloc(sort.count * plan.words * sizeof(*sort.words));
	sort.places = malloc(sort.count * sizeof(*sort.places));
	sort.merged = malloc(sort.count * sizeof(*sort.merged));
	bool is_sorted = sort.words && sort.places && sort.merged;
	if (is_sorted)
		sort_places(&sort);
	for (size_t i = 0; is_sorted && i < sort.count; i++)
		t->order[i] = (uint32_t)sort.words[sort.places[i] * plan.words + plan.words - 1];
	free(sort.words);
	free(sort.places);
	free(sort.merged);
	return is_sorted;
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
	struct sort_context context = {table, columns, count, ranks};
	if (!sort_by_words(&context))
		qsort_r(table->order, table->shown_count, sizeof(*table->order), compare_rows, &context);
	free(ranks);
	return TALLY_OK;
}

struct flat_order {
	struct sort_context context;
	uint32_t *ranks;
};

enum tally_status flat_order_create(const struct flat_table *table, struct flat_order **order, struct tally_error *err)
{
	struct flat_order *made = calloc(1, sizeof(*made));
	if (made)
		made->ranks = rank_strings(table->profile);
	if (!made || !made->ranks) {
		free(made);
		return error_nomem(err);
	}
	made->context = (struct sort_context){.table = table, .ranks = made->ranks};
	*order = made;
	return TALLY_OK;
}

void flat_order_destroy(struct flat_order *order)
{
	if (order)
		free(order->ranks);
	free(order);
}

int flat_order_compare(const struct flat_order *order, enum profile_key key, uint32_t row_a, uint32_t row_b)
{
	const struct flat_table *t = order->context.table;
	int result = compare_key(&order->context, key, &t->rows[row_a], &t->rows[row_b]);
	if (result || key != KEY_SYMBOL)
		return result;
	uint64_t a = row_address(t->profile, &t->rows[row_a]), b = row_address(t->profile, &t->rows[row_b]);
	return (a > b) - (a < b);
}
