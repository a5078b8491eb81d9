#include "profile/flat_merge.h"

#include <string.h>

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
};

ALWAYS_INLINE struct rule rule_of(const struct flat_merge_order *order, unsigned words)
{
	return (struct rule){.order = order,
		.words = words,
		.tie_shift = order->tie_bits ? WORD_BITS - order->tie_bits : 0,
		.depth_bits = order->depth_bits,
		.has_ties = order->tie_bits > 0,
		.is_deepest_first = order->is_deepest_first};
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

struct merge { /* of two sorted runs, one behind the other */
	const uint64_t *a, *b, *middle, *end;
	uint64_t *to;
};

struct items { /* at both places; sorted are those at to */
	uint64_t *from, *to;
	size_t count;
};

ALWAYS_INLINE struct merge merge_of(const struct rule rule, const uint64_t *from, uint64_t *to, size_t count)
{
	const uint64_t *middle = from + count / 2 * rule.words;
	return (struct merge){from, middle, middle, from + count * rule.words, to};
}

/* So many words are taken before one of the runs may be empty. */
ALWAYS_INLINE size_t safe_words(const struct merge *m)
{
	ptrdiff_t a = m->middle - m->a, b = m->end - m->b;
	return (size_t)(a < b ? a : b);
}

ALWAYS_INLINE void take_item(const struct rule rule, struct merge *m)
{
	size_t is_b = is_first(rule, m->b, m->a);
	uintptr_t a = (uintptr_t)m->a, b = (uintptr_t)m->b;
	/* Not by ?:, which compilers make a branch of. */
	copy_item(rule, m->to, (const uint64_t *)(a ^ ((a ^ b) & (0 - is_b))));
	m->to += rule.words;
	m->b += is_b * rule.words;
	m->a += (1 - is_b) * rule.words;
}

ALWAYS_INLINE void finish_merge(const struct rule rule, struct merge m)
{
	for (size_t left; (left = safe_words(&m)) > 0;)
		for (; left > 0; left -= rule.words)
			take_item(rule, &m);
	for (; m.a < m.middle; m.a += rule.words, m.to += rule.words)
		copy_item(rule, m.to, m.a);
	for (; m.b < m.end; m.b += rule.words, m.to += rule.words)
		copy_item(rule, m.to, m.b);
}

/* Two merges take turns: while one waits to know which of its items comes next, the other goes on. */
ALWAYS_INLINE void merge_both(const struct rule rule, struct merge m, struct merge n)
{
	for (;;) {
		size_t left = safe_words(&m), others = safe_words(&n);
		left = left < others ? left : others;
		if (left == 0)
			break;
		for (; left > 0; left -= rule.words) {
			take_item(rule, &m);
			take_item(rule, &n);
		}
	}
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
	const struct rule rule = rule_of(order, words);
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
	merge_both(rule, merge_of(rule, both[0].from, both[0].to, both[0].count),
		merge_of(rule, both[1].from, both[1].to, both[1].count));
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

static void merge_usual(const struct flat_merge_order *order, const uint64_t *from, uint64_t *to, size_t count)
{
	const struct rule rule = rule_of(order, USUAL_WORDS);
	finish_merge(rule, merge_of(rule, from, to, count));
}

void flat_merge_halves(const struct flat_merge_order *order, const uint64_t *from, uint64_t *to, size_t count)
{
	if (order->words == USUAL_WORDS) {
		merge_usual(order, from, to, count);
		return;
	}
	const struct rule rule = rule_of(order, order->words);
	finish_merge(rule, merge_of(rule, from, to, count));
}
