#include "profile/flat_words.h"
#include "base/key_sort.h"
#include "base/thread_pool.h"
#include "profile/flat_merge.h"
#include "profile/flat_tree.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BITS      64
#define KEY_WORDS_MAX  7
#define ITEM_WORDS_MAX (KEY_WORDS_MAX + 1)
#define USUAL_WORDS    4 /* of an item by children, overhead, command, object and symbol */
#define FIELDS_MAX     32
#define TIE_BITS       (WORD_BITS - FLAT_MERGE_ROW_BITS)
#define ROWS_AHEAD     8

struct word_field {
	enum profile_key key;
	bool is_value;
	uint32_t member; /* of a value */
	uint64_t most; /* of a value */
	unsigned bits;
};

/* An item has the bits of the fields, one after another, then a word: the row in its lower half; above, where chains
 * decide between rows of one thread, that thread and how deep they are. */
struct word_plan {
	const struct flat_sort *sort;
	struct word_field fields[FIELDS_MAX];
	size_t field_count;
	unsigned words; /* of an item */
	unsigned tie_after; /* bits of the first word that decide before the chains do; 0: these decide nothing */
	unsigned depth_bits;
	bool is_complete; /* all columns are fields */
};

static unsigned bits_of(uint64_t most)
{
	return most ? WORD_BITS - (unsigned)__builtin_clzll(most) : 1;
}

/* No row has more. */
static uint64_t most_of_value(const struct flat_table *t, enum profile_key key, uint32_t member)
{
	const struct flat_total *total = &t->totals[member];
	switch ((int)key) {
	case KEY_SAMPLE:
		return total->passed_count;
	case KEY_LATENCY:
	case KEY_LATENCY_CHILDREN:
		return total->passed_latency;
	case KEY_WEIGHT1:
	case KEY_WEIGHT2:
	case KEY_WEIGHT3:
		return UINT64_MAX;
	default:
		return total->passed_period;
	}
}

/* 0: it is compared otherwise. */
static unsigned key_bits(const struct flat_sort *sort, enum profile_key key)
{
	const struct profile *p = sort->table->profile;
	switch ((int)key) {
	case KEY_PID:
	case KEY_TGID:
	case KEY_CPU:
		return 32;
	case KEY_SYMBOL:
		return sort->is_by_entry ? WORD_BITS : bits_of(p->strings.len);
	case KEY_COMM:
	case KEY_DSO:
		return bits_of(p->strings.len);
	default:
		return 0;
	}
}

static uint64_t signed_number(int32_t value)
{
	return (uint32_t)value ^ (uint32_t)INT32_MIN;
}

/* What is unknown comes last. */
static uint64_t rank_or_last(const struct flat_sort *sort, uint32_t string)
{
	return string == PROFILE_NONE ? sort->table->profile->strings.len : sort->ranks[string];
}

static uint64_t key_number(const struct flat_sort *sort, enum profile_key key, const struct flat_row *row)
{
	const struct profile *p = sort->table->profile;
	const struct profile_frame *frame = &p->frames[row->frame];
	switch ((int)key) {
	case KEY_PID:
		return signed_number(p->threads[row->thread].tid);
	case KEY_TGID:
		return signed_number(p->threads[row->thread].pid);
	case KEY_CPU:
		return signed_number(row->cpu);
	case KEY_COMM:
		return sort->ranks[p->threads[row->thread].comm];
	case KEY_SYMBOL:
		if (sort->is_by_entry)
			return flat_row_address(p, row) ^ (UINT64_C(1) << (WORD_BITS - 1));
		return rank_or_last(
			sort, frame->function == PROFILE_NONE ? PROFILE_NONE : p->functions[frame->function].name);
	default:
		return rank_or_last(sort, flat_binary_name(p, &sort->table->options, frame->binary));
	}
}

/* False: there is no room for it. */
static bool add_field(struct word_plan *plan, unsigned *bits, const struct word_field *field)
{
	if (plan->field_count == FIELDS_MAX || *bits + field->bits > KEY_WORDS_MAX * WORD_BITS)
		return false;
	plan->fields[plan->field_count++] = *field;
	*bits += field->bits;
	return true;
}

static bool add_value(struct word_plan *plan, unsigned *bits, enum profile_key key)
{
	const struct flat_table *t = plan->sort->table;
	uint32_t first, members = flat_deciding_members(t, key, &first);
	for (uint32_t m = 0; m < members; m++) {
		struct word_field field = {.key = key, .is_value = true, .member = m ? m : first};
		field.most = most_of_value(t, key, field.member);
		field.bits = bits_of(field.most);
		if (!add_field(plan, bits, &field))
			return false;
	}
	if (key != KEY_OVERHEAD_CHILDREN || !t->options.with_chains || plan->tie_after)
		return true;
	plan->tie_after = *bits;
	if (*bits <= WORD_BITS)
		return true;
	plan->field_count -= members;
	plan->tie_after = 0;
	return false;
}

static void make_plan(const struct flat_sort *sort, struct word_plan *plan)
{
	const struct profile *p = sort->table->profile;
	unsigned bits = 0;
	*plan = (struct word_plan){.sort = sort, .is_complete = true};
	plan->depth_bits = TIE_BITS - bits_of(p->thread_count < UINT32_MAX / 2 ? p->thread_count : UINT32_MAX / 2);
	for (size_t i = 0; i < sort->count && plan->is_complete; i++) {
		enum profile_key key = sort->columns[i];
		struct word_field field = {.key = key};
		if (profile_key_get(key)->is_value && sort->is_by_entry)
			continue;
		if (profile_key_get(key)->is_value) {
			plan->is_complete = add_value(plan, &bits, key);
			continue;
		}
		field.bits = key_bits(sort, key);
		plan->is_complete = field.bits && add_field(plan, &bits, &field);
	}
	plan->is_complete = plan->is_complete && bits + WORD_BITS <= KEY_WORDS_MAX * WORD_BITS;
	if (plan->is_complete)
		bits += WORD_BITS; /* the address */
	plan->words = (bits + WORD_BITS - 1) / WORD_BITS + 1;
	plan->words = plan->words < USUAL_WORDS ? USUAL_WORDS : plan->words;
}

/* Appends the lowest bits of a number. */
static void put_bits(uint64_t *words, unsigned *at, uint64_t number, unsigned bits)
{
	uint64_t *word = &words[*at / WORD_BITS];
	unsigned room = WORD_BITS - *at % WORD_BITS;
	*at += bits;
	if (bits <= room) {
		word[0] |= number << (room - bits);
		return;
	}
	word[0] |= number >> (bits - room);
	word[1] |= number << (WORD_BITS - (bits - room));
}

static void write_item(const struct word_plan *plan, uint32_t index, uint64_t *item)
{
	const struct flat_table *t = plan->sort->table;
	const struct flat_row *row = &t->rows[index];
	unsigned at = 0;
	memset(item, 0, plan->words * sizeof(*item));
	for (size_t i = 0; i < plan->field_count; i++) {
		const struct word_field *field = &plan->fields[i];
		uint64_t number;
		if (field->is_value) {
			uint64_t value = flat_stat_value(t, flat_table_stat(t, index, field->member), field->key);
			number = value < field->most ? field->most - value : 0;
		} else {
			number = key_number(plan->sort, field->key, row);
		}
		put_bits(item, &at, number, field->bits);
	}
	if (plan->is_complete)
		put_bits(item, &at, flat_row_address(t->profile, row) ^ (UINT64_C(1) << (WORD_BITS - 1)), WORD_BITS);
	uint64_t deepest = (UINT64_C(1) << plan->depth_bits) - 1;
	uint64_t depth = row->max_depth < deepest ? row->max_depth : deepest;
	item[plan->words - 1] = (uint64_t)row->thread << (FLAT_MERGE_ROW_BITS + plan->depth_bits) |
				depth << FLAT_MERGE_ROW_BITS | index;
}

/* Of rows of which the items' words do not decide. */
static bool is_first_row(const void *context, uint32_t b, uint32_t a)
{
	const struct word_plan *plan = context;
	const struct flat_row *rows = plan->sort->table->rows;
	return plan->is_complete ? rows[b].number < rows[a].number : flat_sort_compare(plan->sort, b, a) < 0;
}

/*
 * A merge sort of parts: how many they are depends on the number of rows alone, so that workers have no say in the
 * order of rows of which nothing decides.
 */
#define SORT_PARTS     8
#define SORT_PARTS_MIN 4096 /* rows; fewer are one part */

struct word_sort {
	const struct word_plan *plan;
	struct flat_merge_order order; /* of merges */
	uint64_t *items, *merged; /* as sorted so far, and where they are merged to */
	struct sort_key *keys; /* of the items' first words; NULL: they are not sorted by keys */
	size_t count, parts;
};

static struct flat_merge_order merge_order(const struct word_plan *plan)
{
	return (struct flat_merge_order){.words = plan->words,
		.tie_bits = plan->sort->ties ? 0 : plan->tie_after,
		.depth_bits = plan->depth_bits,
		.is_deepest_first = plan->sort->table->options.is_caller_first,
		.is_first_row = is_first_row,
		.context = plan};
}

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

/* Rows lie in another order: what the next ones are made of is fetched ahead. */
static void expect_row(const struct flat_table *t, size_t at, size_t end)
{
	if (at + 2 * ROWS_AHEAD < end) {
		__builtin_prefetch(&t->rows[t->order[at + 2 * ROWS_AHEAD]]);
		__builtin_prefetch(flat_table_stat(t, t->order[at + 2 * ROWS_AHEAD], 0));
	}
	if (at + ROWS_AHEAD < end)
		__builtin_prefetch(&t->profile->frames[t->rows[t->order[at + ROWS_AHEAD]].frame]);
}

static void write_part(void *context, size_t index, unsigned worker)
{
	const struct word_sort *sort = context;
	const struct flat_table *t = sort->plan->sort->table;
	struct part part = part_of(sort->count, sort->parts, index);
	unsigned words = sort->plan->words;
	uint64_t *items = sort->items + part.begin * words;
	for (size_t i = 0; i < part.count; i++) {
		expect_row(t, part.begin + i, part.begin + part.count);
		write_item(sort->plan, t->order[part.begin + i], items + i * words);
		if (sort->keys)
			sort->keys[part.begin + i] = (struct sort_key){items[i * words], part.begin + i};
	}
}

static void sort_part(void *context, size_t index, unsigned worker)
{
	const struct word_sort *sort = context;
	struct part part = part_of(sort->count, sort->parts, index);
	unsigned words = sort->plan->words;
	uint64_t *items = sort->items + part.begin * words, *copy = sort->merged + part.begin * words;
	memcpy(copy, items, part.count * words * sizeof(*items));
	flat_merge_sort(&sort->order, copy, items, part.count);
}

static void merge_parts(void *context, size_t index, unsigned worker)
{
	const struct word_sort *sort = context;
	struct part part = part_of(sort->count, sort->parts, index);
	size_t begin = part.begin * sort->plan->words;
	flat_merge_halves(&sort->order, sort->items + begin, sort->merged + begin, part.count);
}

static uint32_t row_of(const struct word_sort *sort, size_t item)
{
	return (uint32_t)sort->items[(item + 1) * sort->plan->words - 1];
}

/* The last two parts are merged into the order itself. */
static void order_parts(struct word_sort *sort, uint32_t *order)
{
	thread_pool_for(sort->parts, 0, sort_part, sort);
	while (sort->parts > 2) {
		sort->parts /= 2;
		thread_pool_for(sort->parts, 0, merge_parts, sort);
		uint64_t *sorted = sort->merged;
		sort->merged = sort->items;
		sort->items = sorted;
	}
	if (sort->parts == 2)
		flat_merge_rows(&sort->order, sort->items, order, sort->count);
	else
		for (size_t i = 0; i < sort->count; i++)
			order[i] = row_of(sort, i);
}

struct key_order {
	const struct word_sort *sort;
	struct sort_key *keys, *room; /* room has the parts */
	size_t ends[KEY_SORT_PARTS];
	uint32_t *order;
};

/* Some rows that are equal up to a word, whose keys are that word: by it, where they are equal by those behind it, and
 * by the rows' numbers at last. Most rows differ in the first word. */
static void order_equal(
	const struct key_order *o, struct sort_key *keys, struct sort_key *room, size_t count, unsigned word)
{
	const struct word_sort *sort = o->sort;
	unsigned words = sort->plan->words;
	const struct flat_row *rows = sort->plan->sort->table->rows;
	key_sort(keys, room, count);
	for (size_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count && keys[end].key == keys[begin].key; end++)
			;
		if (end - begin == 1 || word == words - 1)
			continue;
		for (size_t i = begin; i < end; i++)
			keys[i].key = word + 1 < words - 1 ? sort->items[keys[i].index * words + word + 1]
							   : rows[row_of(sort, keys[i].index)].number;
		order_equal(o, keys + begin, room + begin, end - begin, word + 1);
	}
}

static void order_part(void *context, size_t index, unsigned worker)
{
	const struct key_order *o = context;
	size_t begin = index ? o->ends[index - 1] : 0, count = o->ends[index] - begin;
	struct sort_key *keys = o->keys + begin, *room = o->room + begin;
	memcpy(keys, room, count * sizeof(*keys));
	order_equal(o, keys, room, count, 0);
	for (size_t i = 0; i < count; i++)
		o->order[begin + i] = row_of(o->sort, keys[i].index);
}

/* The same where nothing but the items' words and the rows' numbers decides. */
static void order_keys(const struct word_sort *sort, uint32_t *order)
{
	struct key_order o = {.sort = sort, .keys = sort->keys, .room = sort->keys + sort->count, .order = order};
	unsigned workers = sort->count < SORT_PARTS_MIN ? 1 : 0;
	key_sort_divide(sort->keys, o.room, sort->count, o.ends, workers);
	thread_pool_for(KEY_SORT_PARTS, workers, order_part, &o);
}

/* In a larger tree each row would wait for memory; there the order of such rows is that of a merge. */
#define TREE_ROWS_MAX 65536

/* Whether three rows may each come before the next: chains decide, and rows are of several threads. */
static bool needs_tree(const struct word_plan *plan)
{
	const struct flat_table *t = plan->sort->table;
	bool is_of_several = false;
	bool decide = plan->tie_after && !plan->sort->ties && t->shown_count <= TREE_ROWS_MAX;
	for (size_t i = 1; decide && i < t->shown_count && !is_of_several; i++)
		is_of_several = t->rows[t->order[i]].thread != t->rows[t->order[0]].thread ||
				t->rows[t->order[i]].tid != t->rows[t->order[0]].tid;
	return is_of_several;
}

static void tell_ties(const struct word_sort *sort, uint64_t *ties)
{
	const struct word_plan *plan = sort->plan;
	const uint32_t *order = plan->sort->table->order;
	for (size_t i = 0; i < sort->count; i++)
		ties[order[i]] = sort->items[i * plan->words] >> (WORD_BITS - plan->tie_after);
}

/* rows, in the order in which they are put into the tree, get what decides there. */
static bool rank_rows(const struct flat_sort *by, struct flat_tree_row *rows)
{
	const struct flat_table *t = by->table;
	uint64_t *ties = malloc((t->row_count + 1) * sizeof(*ties));
	uint32_t *ranks = malloc((t->row_count + 1) * sizeof(*ranks));
	struct flat_sort strict = *by;
	strict.ties = ties;
	bool is_done = ties && ranks && flat_words_sort(&strict);
	for (uint32_t i = 0; is_done && i < t->shown_count; i++)
		ranks[t->order[i]] = i;
	for (size_t i = 0; is_done && i < t->shown_count; i++) {
		const struct flat_row *row = &t->rows[rows[i].row];
		rows[i].tie = ties[rows[i].row];
		rows[i].rank = ranks[rows[i].row];
		rows[i].thread = row->tid ? (uint32_t)row->tid : ~row->thread;
		rows[i].depth = row->max_depth;
	}
	free(ties);
	free(ranks);
	return is_done;
}

static bool sort_by_tree(const struct flat_sort *by)
{
	const struct flat_table *t = by->table;
	struct flat_tree_row *rows = malloc((t->shown_count + 1) * sizeof(*rows));
	struct flat_sort entry = *by;
	entry.is_by_entry = true;
	bool is_done = rows && flat_words_sort(&entry);
	for (size_t i = 0; is_done && i < t->shown_count; i++)
		rows[i].row = t->order[i];
	is_done = is_done && rank_rows(by, rows) &&
		  flat_tree_order(rows, t->shown_count, t->options.is_caller_first, t->order);
	free(rows);
	return is_done;
}

bool flat_words_sort(const struct flat_sort *by)
{
	struct word_plan plan;
	const struct flat_table *t = by->table;
	make_plan(by, &plan);
	if (needs_tree(&plan))
		return sort_by_tree(by);
	struct word_sort sort = {.plan = &plan, .order = merge_order(&plan), .count = t->shown_count};
	bool is_by_keys = plan.is_complete && (!plan.tie_after || by->ties);
	size_t bytes = sort.count * plan.words * sizeof(*sort.items);
	sort.items = malloc(bytes);
	sort.merged = is_by_keys ? NULL : malloc(bytes);
	sort.keys = is_by_keys ? malloc((sort.count * 2 + 1) * sizeof(*sort.keys)) : NULL;
	bool is_done = sort.items && (is_by_keys ? sort.keys != NULL : sort.merged != NULL);
	sort.parts = sort.count < SORT_PARTS_MIN ? 1 : SORT_PARTS;
	if (is_done)
		thread_pool_for(sort.parts, 0, write_part, &sort);
	if (is_done && by->ties)
		tell_ties(&sort, by->ties);
	if (is_done && is_by_keys)
		order_keys(&sort, t->order);
	else if (is_done)
		order_parts(&sort, t->order);
	free(sort.items);
	free(sort.merged);
	free(sort.keys);
	return is_done;
}
