#include "profile/flat_merge.h"

#include <string.h>

#include "base/thread_pool.h"

#define USUAL_WORDS 4 /* of rows by children, overhead, command, object and symbol: with code of their own */
#define FEW	    3 /* items, which are sorted without a merge */
#define WORD_BITS   64

__extension__ typedef unsigned __int128 wide;

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* What a comparison needs, where a compiler keeps it in registers. */
struct rule {
	const struct flat_merge_order *order;
	unsigned words;
	unsigned tie_shift, depth_bits;
	bool has_ties, is_deepest_first;
	bool to_rows; /* of items only these are told */
};

ALWAYS_INLINE struct rule rule_of(const struct flat_merge_order *order, unsigned words, bool to_rows)
{
	return (struct rule){.order = order,
		.words = words,
		.tie_shift = order->tie_bits ? WORD_BITS - order->tie_bits : 0,
		.depth_bits = order->depth_bits,
		.has_ties = order->tie_bits > 0,
		.is_deepest_first = order->is_deepest_first,
		.to_rows = to_rows};
}

/*
 * Does b come before a? Which of two rows it is nobody can foretell, a processor neither: there are no branches but for
 * items whose words are all the same.
 */
ALWAYS_INLINE bool is_first(const struct rule rule, const uint64_t *b, const uint64_t *a)
{
	const unsigned last = rule.words - 1;
	bool is_less = false, is_same = true;
	for (unsigned i = last; i > 1; i -= 2) {
		wide two_b = (wide)b[i - 2] << WORD_BITS | b[i - 1], two_a = (wide)a[i - 2] << WORD_BITS | a[i - 1];
		is_less = (two_b < two_a) | ((two_b == two_a) & is_less);
		is_same &= two_b == two_a;
	}
	if (last % 2 != 0) {
		is_less = (b[0] < a[0]) | ((b[0] == a[0]) & is_less);
		is_same &= b[0] == a[0];
	}
	/* Of one thread, the deeper chain decides; rows of several threads are not compared by it. */
	uint64_t tie = (a[0] ^ b[0]) >> rule.tie_shift;
	uint64_t differs = (a[last] >> FLAT_MERGE_ROW_BITS) ^ (b[last] >> FLAT_MERGE_ROW_BITS);
	bool is_by_depth = ((tie | differs >> rule.depth_bits) == 0) & (differs != 0) & rule.has_ties;
	bool is_depth_first = (b[last] > a[last]) == rule.is_deepest_first;
	if (__builtin_expect(is_same & !is_by_depth, false))
		return rule.order->is_first_row(rule.order->context, (uint32_t)b[last], (uint32_t)a[last]);
	return is_less ^ ((is_less ^ is_depth_first) & is_by_depth);
}

ALWAYS_INLINE void copy_item(const struct rule rule, uint64_t *to, const uint64_t *from)
{
	memcpy(to, from, rule.words * sizeof(*to));
}

struct merge { /* of two sorted runs */
	const uint64_t *a, *a_end, *b, *b_end;
	uint64_t *to;
	uint32_t *rows;
};

struct items { /* at both places; sorted are those at to */
	uint64_t *from, *to;
	size_t count;
};

ALWAYS_INLINE struct merge merge_of(const struct rule rule, const struct items *all)
{
	const uint64_t *middle = all->from + all->count / 2 * rule.words;
	return (struct merge){all->from, middle, middle, all->from + all->count * rule.words, all->to, NULL};
}

/* So many words are taken before one of the runs may be empty. */
ALWAYS_INLINE size_t safe_words(const struct merge *m)
{
	ptrdiff_t a = m->a_end - m->a, b = m->b_end - m->b;
	return (size_t)(a < b ? a : b);
}

ALWAYS_INLINE void put_item(const struct rule rule, struct merge *m, const uint64_t *item)
{
	if (rule.to_rows) {
		*m->rows++ = (uint32_t)item[rule.words - 1];
		return;
	}
	copy_item(rule, m->to, item);
	m->to += rule.words;
}

ALWAYS_INLINE void take_item(const struct rule rule, struct merge *m)
{
	size_t is_b = is_first(rule, m->b, m->a);
	uintptr_t a = (uintptr_t)m->a, b = (uintptr_t)m->b;
	/* Not by ?:, which compilers make a branch of. */
	put_item(rule, m, (const uint64_t *)(a ^ ((a ^ b) & (0 - is_b))));
	m->b += is_b * rule.words;
	m->a += (1 - is_b) * rule.words;
}

ALWAYS_INLINE void take_safe_items(const struct rule rule, struct merge *m)
{
	for (size_t left; (left = safe_words(m)) > 0;)
		for (; left > 0; left -= rule.words)
			take_item(rule, m);
}

ALWAYS_INLINE void finish_merge(const struct rule rule, struct merge m)
{
	take_safe_items(rule, &m);
	for (; m.a < m.a_end; m.a += rule.words)
		put_item(rule, &m, m.a);
	for (; m.b < m.b_end; m.b += rule.words)
		put_item(rule, &m, m.b);
}

/* Two merges take turns: while one waits to know which of its items comes next, the other goes on. Until a run of one is
 * empty. */
ALWAYS_INLINE void take_turns(const struct rule rule, struct merge *m, struct merge *n)
{
	for (;;) {
		size_t left = safe_words(m), others = safe_words(n);
		left = left < others ? left : others;
		if (left == 0)
			return;
		for (; left > 0; left -= rule.words) {
			take_item(rule, m);
			take_item(rule, n);
		}
	}
}

ALWAYS_INLINE void merge_both(const struct rule rule, struct merge m, struct merge n)
{
	take_turns(rule, &m, &n);
	finish_merge(rule, m);
	finish_merge(rule, n);
}

/* As merges would: the last two, then the first one with these. */
ALWAYS_INLINE void sort_few(const struct rule rule, const struct items *all)
{
	const uint64_t *a = all->from, *b = a + (all->count > 2 ? rule.words : 0), *c = b + rule.words;
	uint64_t *to = all->to;
	if (all->count < 2)
		return;
	if (is_first(rule, c, b)) {
		const uint64_t *swap = b;
		b = c;
		c = swap;
	}
	if (all->count > 2) {
		unsigned place = !is_first(rule, b, a) ? 0 : !is_first(rule, c, a) ? 1 : 2;
		copy_item(rule, to + place * rule.words, a);
		copy_item(rule, to + (place == 0 ? rule.words : 0), b);
		to += (place == 2 ? 1 : 2) * rule.words;
	} else {
		copy_item(rule, to, b);
		to += rule.words;
	}
	copy_item(rule, to, c);
}

/* For merges, what is sorted lies where the result does not. */
static void divide(const struct items *all, unsigned words, struct items halves[2])
{
	size_t half = all->count / 2, begin = half * words;
	halves[0] = (struct items){all->to, all->from, half};
	halves[1] = (struct items){all->to + begin, all->from + begin, all->count - half};
}

typedef void sort_function(const struct flat_merge_order *order, const struct items both[2]);

/* Items at two places, which differ in number by one at most. */
ALWAYS_INLINE void sort_both_by(
	const struct flat_merge_order *order, const struct items both[2], unsigned words, sort_function *sort_both)
{
	const struct rule rule = rule_of(order, words, false);
	if (both[0].count <= FEW && both[1].count <= FEW) {
		sort_few(rule, &both[0]);
		sort_few(rule, &both[1]);
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		struct items halves[2];
		divide(&both[i], words, halves);
		sort_both(order, halves);
	}
	merge_both(rule, merge_of(rule, &both[0]), merge_of(rule, &both[1]));
}

static void sort_usual(const struct flat_merge_order *order, const struct items both[2])
{
	sort_both_by(order, both, USUAL_WORDS, sort_usual);
}

static void sort_others(const struct flat_merge_order *order, const struct items both[2])
{
	sort_both_by(order, both, order->words, sort_others);
}

void flat_merge_sort(const struct flat_merge_order *order, uint64_t *from, uint64_t *to, size_t count)
{
	const struct items all = {from, to, count};
	struct items halves[2];
	divide(&all, order->words, halves);
	if (order->words == USUAL_WORDS)
		sort_usual(order, halves);
	else
		sort_others(order, halves);
	flat_merge_halves(order, from, to, count);
}

/*
 * One merge in pieces. Each but the first begins where the merge very likely comes by. To find such a place, it is followed
 * from before an item of the first run, at the item of the second run that does not come before it: as far as that can be
 * said where no order is behind the runs. Two merges that begin close to each other soon take the same way. That the merge
 * does come by is seen where the piece before ends; where it does not, it is done on from there until it does come by at
 * what the piece behind has done.
 */
#define FOLLOWED   8192 /* items */
#define MANY_ITEMS (4 * FOLLOWED) /* fewer are one piece */

struct piece {
	struct merge merge; /* where it begins, and what of the runs it has */
	const uint64_t *next_a, *next_b; /* what the runs go on with; NULL: nothing */
	/* Where the merge was last, if it does not come by at the next piece; without runs: it does. */
	struct merge known;
};

ALWAYS_INLINE const uint64_t *find_place(
	const struct rule rule, const uint64_t *begin, const uint64_t *end, const uint64_t *a)
{
	while (begin < end) {
		const uint64_t *middle = begin + (size_t)(end - begin) / rule.words / 2 * rule.words;
		if (is_first(rule, middle, a))
			begin = middle + rule.words;
		else
			end = middle;
	}
	return begin;
}

/* Where a merge comes by that is to go on from an item of its first run, if it has come by where it is said to be. */
ALWAYS_INLINE struct merge follow(const struct rule rule, struct merge m, const uint64_t *from)
{
	const uint64_t *a = m.a, *b = m.b;
	m.a = from > m.a ? from : m.a;
	m.b = m.a < m.a_end ? find_place(rule, m.b, m.b_end, m.a) : m.b;
	for (size_t i = 0; i < FOLLOWED && m.a < m.a_end && m.b < m.b_end; i++) {
		bool is_b = is_first(rule, m.b, m.a);
		m.b += is_b ? rule.words : 0;
		m.a += is_b ? 0 : rule.words;
	}
	size_t done = (size_t)((m.a - a) + (m.b - b));
	if (rule.to_rows)
		m.rows += done / rule.words;
	else
		m.to += done;
	return m;
}

ALWAYS_INLINE void cut(const struct rule rule, const struct merge *whole, struct piece *pieces, size_t count)
{
	size_t items = (size_t)(whole->a_end - whole->a) / rule.words;
	pieces[0] = (struct piece){.merge = *whole};
	for (size_t i = 1; i < count; i++) {
		struct piece *before = &pieces[i - 1];
		const struct merge m = follow(rule, before->merge, whole->a + items * i / count * rule.words);
		pieces[i] = (struct piece){.merge = m};
		before->next_a = m.a < m.a_end ? m.a : NULL;
		before->next_b = m.b < m.b_end ? m.b : NULL;
		before->merge.a_end = m.a;
		before->merge.b_end = m.b;
	}
}

/* Puts what is left of one of its runs. False: the merge does not take all of that before what comes next. */
ALWAYS_INLINE bool finish_piece(const struct rule rule, const struct piece *piece, struct merge m)
{
	bool comes_by = true;
	for (; m.a < m.a_end; m.a += rule.words) {
		comes_by = comes_by && !(piece->next_b && is_first(rule, piece->next_b, m.a));
		put_item(rule, &m, m.a);
	}
	for (; m.b < m.b_end; m.b += rule.words) {
		comes_by = comes_by && !(piece->next_a && !is_first(rule, m.b, piece->next_a));
		put_item(rule, &m, m.b);
	}
	return comes_by;
}

ALWAYS_INLINE void merge_pieces(const struct rule rule, struct piece pieces[2])
{
	struct merge m = pieces[0].merge, n = pieces[1].merge;
	take_turns(rule, &m, &n);
	take_safe_items(rule, &m);
	take_safe_items(rule, &n);
	pieces[0].known = finish_piece(rule, &pieces[0], m) ? (struct merge){0} : m;
	pieces[1].known = finish_piece(rule, &pieces[1], n) ? (struct merge){0} : n;
}

ALWAYS_INLINE size_t place_of(const struct merge *whole, const struct merge *m)
{
	return (size_t)((m->a - whole->a) + (m->b - whole->b));
}

/* One item of a merge that may have come to the end of a run. */
ALWAYS_INLINE void step(const struct rule rule, struct merge *m, bool puts)
{
	bool is_b = m->a == m->a_end || (m->b < m->b_end && is_first(rule, m->b, m->a));
	if (puts)
		put_item(rule, m, is_b ? m->b : m->a);
	m->b += is_b ? rule.words : 0;
	m->a += is_b ? 0 : rule.words;
}

/* Goes on with the merge until it comes by at what the piece has done. False: it comes to the piece's end before. */
ALWAYS_INLINE bool join_piece(
	const struct rule rule, const struct merge *whole, struct merge *merge, const struct piece *piece)
{
	struct merge other = piece->merge, end = piece->known;
	if (!end.a_end) {
		end.a = other.a_end;
		end.b = other.b_end;
	}
	other.a_end = whole->a_end;
	other.b_end = whole->b_end;
	while (place_of(whole, &other) < place_of(whole, &end)) {
		if (other.a == merge->a && other.b == merge->b)
			return true;
		if (place_of(whole, merge) <= place_of(whole, &other))
			step(rule, merge, true);
		else
			step(rule, &other, false);
	}
	return false;
}

/* Where the merge does not come by at a piece, it is done anew from there. */
ALWAYS_INLINE void mend(const struct rule rule, const struct merge *whole, const struct piece *pieces, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!pieces[i].known.a_end)
			continue;
		struct merge merge = pieces[i].known;
		merge.a_end = whole->a_end;
		merge.b_end = whole->b_end;
		while (i + 1 < count && !join_piece(rule, whole, &merge, &pieces[i + 1]))
			i++;
		if (i + 1 == count)
			finish_merge(rule, merge);
	}
}

ALWAYS_INLINE void merge_items(const struct rule rule, const struct merge *whole)
{
	struct piece pieces[2];
	if ((size_t)(whole->b_end - whole->a) / rule.words < MANY_ITEMS) {
		finish_merge(rule, *whole);
		return;
	}
	cut(rule, whole, pieces, 2);
	merge_pieces(rule, pieces);
	mend(rule, whole, pieces, 2);
}

void flat_merge_halves(const struct flat_merge_order *order, const uint64_t *from, uint64_t *to, size_t count)
{
	const struct rule usual = rule_of(order, USUAL_WORDS, false), others = rule_of(order, order->words, false);
	const uint64_t *middle = from + count / 2 * order->words;
	const struct merge whole = {from, middle, middle, from + count * order->words, to, NULL};
	if (order->words == USUAL_WORDS)
		merge_items(usual, &whole);
	else
		merge_items(others, &whole);
}

#define WORKERS 2 /* of the last merge */

struct last_merge {
	const struct flat_merge_order *order;
	struct piece pieces[2 * WORKERS];
};

static void merge_some_rows(void *context, size_t index, unsigned worker)
{
	struct last_merge *last = context;
	const struct rule usual = rule_of(last->order, USUAL_WORDS, true);
	const struct rule others = rule_of(last->order, last->order->words, true);
	if (last->order->words == USUAL_WORDS)
		merge_pieces(usual, &last->pieces[2 * index]);
	else
		merge_pieces(others, &last->pieces[2 * index]);
}

void flat_merge_rows(const struct flat_merge_order *order, const uint64_t *from, uint32_t *rows, size_t count)
{
	const struct rule rule = rule_of(order, order->words, true);
	const uint64_t *middle = from + count / 2 * order->words;
	const struct merge whole = {from, middle, middle, from + count * order->words, NULL, rows};
	struct last_merge last = {.order = order};
	if (count < MANY_ITEMS) {
		finish_merge(rule, whole);
		return;
	}
	cut(rule, &whole, last.pieces, 2 * WORKERS);
	thread_pool_for(WORKERS, 0, merge_some_rows, &last);
	mend(rule, &whole, last.pieces, 2 * WORKERS);
}
