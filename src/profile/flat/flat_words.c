/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/flat_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/key_sort.h"
#include "base/thread_pool.h"

#define WORD_BITS	     64
#define WORDS_MAX	     7 /* Maximum number of words per item. */
#define FIELDS_MAX	     32
#define DEPTH_BITS	     16
#define FLAT_WORDS_TASK_ROWS 8192
#define FLAT_WORDS_MANY_ROWS 4096 /* Fewer rows are sorted by one worker. */
#define ROWS_AHEAD	     8

struct word_field {
	enum profile_key key;
	bool is_value, is_depth;
	uint32_t member; /* For a value: which event of the group has it. */
	uint64_t most; /* Upper limit of a value. */
	unsigned bits;
};

/* Describes items: the numbers by which rows are sorted. An item consists of the bits of the fields, one after
 * another. */
struct word_plan {
	const struct flat_sort *sort;
	struct word_field fields[FIELDS_MAX];
	size_t field_count;
	unsigned words; /* Words per item. */
	bool is_complete; /* All columns are fields. */
};

static unsigned flat_words_bits_of(uint64_t most)
{
	return most ? WORD_BITS - (unsigned)__builtin_clzll(most) : 1;
}

/* Returns a limit that no row exceeds. */
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

/* Returns 0 if the key is not a field but compared otherwise. */
static unsigned key_bits(const struct flat_sort *sort, enum profile_key key)
{
	const struct profile *p = sort->table->profile;
	switch ((int)key) {
	case KEY_PID:
	case KEY_TGID:
	case KEY_CPU:
		return 32;
	case KEY_SYMBOL:
	case KEY_COMM:
	case KEY_DSO:
	case KEY_PARENT:
	case KEY_SRCLINE:
	case KEY_SRCFILE:
		return flat_words_bits_of(p->strings.len);
	default:
		return 0;
	}
}

static uint64_t signed_number(int32_t value)
{
	return (uint32_t)value ^ (uint32_t)INT32_MIN;
}

/* Unknown strings come last. */
static uint64_t rank_or_last(const struct flat_sort *sort, uint32_t string)
{
	return string == PROFILE_NONE ? sort->table->profile->strings.len : sort->ranks[string];
}

static uint64_t function_rank(const struct flat_sort *sort, uint32_t function)
{
	const struct profile *p = sort->table->profile;
	return rank_or_last(sort, function == PROFILE_NONE ? PROFILE_NONE : p->functions[function].name);
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
		return function_rank(sort, frame->function);
	case KEY_PARENT:
		return function_rank(sort, row->parent);
	case KEY_SRCLINE:
		return sort->ranks[row->place.line];
	case KEY_SRCFILE:
		return sort->ranks[row->place.file];
	default:
		return rank_or_last(sort, flat_binary_name(p, &sort->table->options, frame->binary));
	}
}

/* Returns false if there is no room for the field. */
static bool flat_words_add_field(struct word_plan *plan, unsigned *bits, const struct word_field *field)
{
	if (plan->field_count == FIELDS_MAX || *bits + field->bits > WORDS_MAX * WORD_BITS)
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
		field.bits = flat_words_bits_of(field.most);
		if (!flat_words_add_field(plan, bits, &field))
			return false;
	}
	if (key != KEY_OVERHEAD_CHILDREN || !t->options.with_chains)
		return true;
	return flat_words_add_field(plan, bits, &(struct word_field){.is_depth = true, .bits = DEPTH_BITS});
}

static void make_plan(const struct flat_sort *sort, struct word_plan *plan)
{
	unsigned bits = 0;
	*plan = (struct word_plan){.sort = sort, .is_complete = true};
	for (size_t i = 0; i < sort->count && plan->is_complete; i++) {
		enum profile_key key = sort->columns[i];
		struct word_field field = {.key = key};
		if (profile_key_get(key)->is_value) {
			plan->is_complete = add_value(plan, &bits, key);
			continue;
		}
		field.bits = key_bits(sort, key);
		plan->is_complete = field.bits && flat_words_add_field(plan, &bits, &field);
	}
	plan->is_complete = plan->is_complete && bits + WORD_BITS <= WORDS_MAX * WORD_BITS;
	if (plan->is_complete)
		bits += WORD_BITS; /* Room for the address. */
	plan->words = bits ? (bits + WORD_BITS - 1) / WORD_BITS : 1;
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

static uint64_t field_number(const struct flat_sort *sort, const struct word_field *field, uint32_t row)
{
	const struct flat_table *t = sort->table;
	if (field->is_depth) {
		/* Callers stand above callees if chains begin with them. */
		uint64_t deepest = (UINT64_C(1) << DEPTH_BITS) - 1, depth = MIN(t->rows[row].max_depth, deepest);
		return t->options.is_caller_first ? deepest - depth : depth;
	}
	if (!field->is_value)
		return key_number(sort, field->key, &t->rows[row]);
	uint64_t value = flat_stat_value(t, flat_table_stat(t, row, field->member), field->key);
	return value < field->most ? field->most - value : 0;
}

static void write_item(const struct word_plan *plan, uint32_t row, uint64_t *item)
{
	const struct flat_table *t = plan->sort->table;
	unsigned at = 0;
	memset(item, 0, plan->words * sizeof(*item));
	for (size_t i = 0; i < plan->field_count; i++)
		put_bits(item, &at, field_number(plan->sort, &plan->fields[i], row), plan->fields[i].bits);
	if (plan->is_complete)
		put_bits(item, &at, flat_row_address(t->profile, &t->rows[row]) ^ (UINT64_C(1) << (WORD_BITS - 1)),
			WORD_BITS);
}

struct word_sort {
	const struct word_plan *plan;
	uint64_t *items; /* Indexed by row. */
	struct sort_key *keys, *room; /* keys: a word of each row, and the row; room: the same, divided into parts. */
	size_t count, ends[KEY_SORT_PARTS];
	struct sort_key largest[KEY_SORT_PARTS]; /* Numbers of the parts, the largest first. */
};

/* If all rows are shown, they are handled in the order of memory. */
static void flat_words_write_some(void *context, size_t task, unsigned worker)
{
	const struct word_sort *sort = context;
	const struct flat_table *t = sort->plan->sort->table;
	const uint32_t *order = sort->count < t->row_count ? t->order : NULL;
	size_t end = thread_pool_task_end(task, FLAT_WORDS_TASK_ROWS, sort->count);
	for (size_t i = task * FLAT_WORDS_TASK_ROWS; i < end; i++) {
		size_t row = order ? order[i] : i,
		       ahead = order || i + ROWS_AHEAD >= t->row_count ? row : i + ROWS_AHEAD;
		uint64_t *item = sort->items + row * sort->plan->words;
		__builtin_prefetch(&t->profile->frames[t->rows[ahead].frame]);
		write_item(sort->plan, (uint32_t)row, item);
		sort->keys[i] = (struct sort_key){item[0], row};
	}
}

static int flat_words_compare_rows(const void *left, const void *right, void *context)
{
	const struct sort_key *a = left, *b = right;
	return flat_sort_compare(context, (uint32_t)a->index, (uint32_t)b->index);
}

/* Sorts rows that are equal up to a word: by that word, then by the following words, and at last by the keys that are
 * not in words. Most rows differ in the first word. */
static void order_equal(
	const struct word_sort *sort, struct sort_key *keys, struct sort_key *room, size_t count, unsigned word)
{
	const struct word_plan *plan = sort->plan;
	const struct flat_row *rows = plan->sort->table->rows;
	key_sort(keys, room, count);
	for (size_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count && keys[end].key == keys[begin].key; end++)
			;
		if (end - begin == 1 || word == plan->words)
			continue;
		if (word + 1 == plan->words && !plan->is_complete) {
			qsort_r(keys + begin, end - begin, sizeof(*keys), flat_words_compare_rows,
				(void *)(uintptr_t)plan->sort);
			continue;
		}
		for (size_t i = begin; i < end; i++)
			keys[i].key = word + 1 < plan->words ? sort->items[keys[i].index * plan->words + word + 1]
							     : rows[keys[i].index].number;
		order_equal(sort, keys + begin, room + begin, end - begin, word + 1);
	}
}

static size_t part_begin(const struct word_sort *sort, size_t part)
{
	return part ? sort->ends[part - 1] : 0;
}

/* Orders the parts by size. The rows with one sample each, which are often the most, are in one part: its sorting must
 * not begin last. */
static void order_largest_first(struct word_sort *sort)
{
	struct sort_key room[KEY_SORT_PARTS];
	for (size_t part = 0; part < KEY_SORT_PARTS; part++)
		sort->largest[part] =
			(struct sort_key){sort->count - (sort->ends[part] - part_begin(sort, part)), part};
	key_sort(sort->largest, room, KEY_SORT_PARTS);
}

static void order_part(void *context, size_t index, unsigned worker)
{
	const struct word_sort *sort = context;
	size_t part = sort->largest[index].index, begin = part_begin(sort, part), count = sort->ends[part] - begin;
	struct sort_key *keys = sort->keys + begin, *room = sort->room + begin;
	uint32_t *order = sort->plan->sort->table->order + begin;
	memcpy(keys, room, count * sizeof(*keys));
	order_equal(sort, keys, room, count, 0);
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)keys[i].index;
}

bool flat_words_sort(const struct flat_sort *by)
{
	const struct flat_table *t = by->table;
	struct word_plan plan;
	make_plan(by, &plan);
	struct word_sort sort = {.plan = &plan,
		.items = malloc((t->row_count + 1) * plan.words * sizeof(*sort.items)),
		.keys = malloc((t->shown_count * 2 + 1) * sizeof(*sort.keys)),
		.count = t->shown_count};
	bool is_done = sort.items && sort.keys;
	if (is_done) {
		unsigned workers = sort.count < FLAT_WORDS_MANY_ROWS ? 1 : 0;
		sort.room = sort.keys + sort.count;
		thread_pool_for(
			thread_pool_tasks(sort.count, FLAT_WORDS_TASK_ROWS), workers, flat_words_write_some, &sort);
		key_sort_divide(sort.keys, sort.room, sort.count, sort.ends, workers);
		order_largest_first(&sort);
		thread_pool_for(KEY_SORT_PARTS, workers, order_part, &sort);
	}
	free(sort.items);
	free(sort.keys);
	return is_done;
}
