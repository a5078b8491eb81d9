/* SPDX-License-Identifier: Apache-2.0 */
#include "huffman.h"

#include <string.h>

struct node {
	uint32_t count;
	int16_t left, right; /* -1 for a leaf */
};

struct tree {
	struct node nodes[2 * MAX_SYMBOLS];
	int16_t heap[MAX_SYMBOLS];
	int heap_size;
	int node_count;
};

static int before(const struct tree *t, int16_t a, int16_t b)
{
	return t->nodes[a].count < t->nodes[b].count || (t->nodes[a].count == t->nodes[b].count && a < b);
}

static void heap_push(struct tree *t, int16_t node)
{
	int at = t->heap_size++;
	while (at && before(t, node, t->heap[(at - 1) / 2])) {
		t->heap[at] = t->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	t->heap[at] = node;
}

static int16_t heap_pop(struct tree *t)
{
	int16_t top = t->heap[0];
	int16_t last = t->heap[--t->heap_size];
	int at = 0;
	for (;;) {
		int child = 2 * at + 1;
		if (child >= t->heap_size)
			break;
		if (child + 1 < t->heap_size && before(t, t->heap[child + 1], t->heap[child]))
			child++;
		if (!before(t, t->heap[child], last))
			break;
		t->heap[at] = t->heap[child];
		at = child;
	}
	t->heap[at] = last;
	return top;
}

/* Leaves are nodes 0 .. symbols and parents come after their children, so one pass downwards gives the depths. */
static unsigned int code_lengths(struct tree *t, const uint32_t *counts, unsigned int symbols, uint8_t *bits)
{
	uint8_t depth[2 * MAX_SYMBOLS] = {0};
	unsigned int longest = 0;
	t->heap_size = 0;
	t->node_count = (int)symbols;
	for (unsigned int i = 0; i < symbols; i++) {
		t->nodes[i] = (struct node){.count = counts[i], .left = -1, .right = -1};
		if (counts[i])
			heap_push(t, (int16_t)i);
	}
	while (t->heap_size > 1) {
		int16_t left = heap_pop(t);
		int16_t right = heap_pop(t);
		int16_t parent = (int16_t)t->node_count++;
		t->nodes[parent] = (struct node){
			.count = t->nodes[left].count + t->nodes[right].count, .left = left, .right = right};
		heap_push(t, parent);
	}
	for (int i = t->node_count - 1; i >= (int)symbols; i--) {
		depth[t->nodes[i].left] = (uint8_t)(depth[i] + 1);
		depth[t->nodes[i].right] = (uint8_t)(depth[i] + 1);
	}
	for (unsigned int i = 0; i < symbols; i++) {
		bits[i] = counts[i] ? depth[i] : 0;
		if (bits[i] > longest)
			longest = bits[i];
	}
	return longest;
}

static uint16_t reverse_bits(uint32_t value, unsigned int bits)
{
	uint32_t result = 0;
	for (unsigned int i = 0; i < bits; i++)
		result |= (value >> i & 1) << (bits - 1 - i);
	return (uint16_t)result;
}

static void assign_codes(struct huffman_code *code, unsigned int symbols)
{
	uint32_t next[MAX_CODE_BITS + 2] = {0};
	uint32_t per_length[MAX_CODE_BITS + 1] = {0};
	for (unsigned int i = 0; i < symbols; i++)
		per_length[code->bits[i]]++;
	per_length[0] = 0;
	for (unsigned int bits = 1; bits <= MAX_CODE_BITS; bits++)
		next[bits + 1] = (next[bits] + per_length[bits]) << 1;
	for (unsigned int i = 0; i < symbols; i++)
		if (code->bits[i])
			code->code[i] = reverse_bits(next[code->bits[i]]++, code->bits[i]);
}

void huffman_build(struct huffman_code *code, const uint32_t *counts, unsigned int symbols, unsigned int max_bits)
{
	uint32_t scaled[MAX_SYMBOLS];
	struct tree tree;
	unsigned int used = 0;
	memset(code, 0, sizeof(*code));
	memcpy(scaled, counts, symbols * sizeof(*counts));
	for (unsigned int i = 0; i < symbols; i++)
		used += scaled[i] != 0;
	for (unsigned int i = 0; used < 2; i++)
		if (!scaled[i]) {
			scaled[i] = 1;
			used++;
		}
	/* Halving the counts flattens the tree; equal counts satisfy every length limit of deflate. */
	while (code_lengths(&tree, scaled, symbols, code->bits) > max_bits)
		for (unsigned int i = 0; i < symbols; i++)
			scaled[i] = scaled[i] ? scaled[i] / 2 + 1 : 0;
	assign_codes(code, symbols);
}

static void put_byte(struct bit_writer *w)
{
	if (putc_unlocked((int)(w->pending & 0xff), w->file) == EOF)
		w->failed = 1;
	w->pending >>= 8;
}

void put_bits(struct bit_writer *w, uint32_t value, unsigned int bits)
{
	w->pending |= (uint64_t)value << w->pending_bits;
	w->pending_bits += bits;
	while (w->pending_bits >= 8) {
		put_byte(w);
		w->pending_bits -= 8;
	}
}

void put_symbol(struct bit_writer *w, const struct huffman_code *code, unsigned int symbol)
{
	put_bits(w, code->code[symbol], code->bits[symbol]);
}

void flush_bits(struct bit_writer *w)
{
	if (w->pending_bits)
		put_byte(w);
	w->pending = 0;
	w->pending_bits = 0;
}
