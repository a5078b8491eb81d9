/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lz77.c - compresses a file as gzip does: the program that the demo profiles.
 *
 * usage: lz77 INPUT OUTPUT.gz. LZ77 with hash chains and one step of lazy matching, then a dynamic Huffman code per
 * block (RFC 1951, RFC 1952). The whole input is held in memory.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "huffman.h"
#include "matcher.h"

enum {
	BLOCK_TOKENS = 1 << 16,
	END_OF_BLOCK = 256,
	LITERAL_SYMBOLS = 286,
	DISTANCE_SYMBOLS = 30,
	LENGTH_SYMBOLS = 19,
	LAZY_LIMIT = 32, /* A match of this length is used without checking the next position. */
};

struct token {
	uint16_t distance; /* 0 for a literal. */
	uint16_t value; /* The literal, or the length of the match. */
};

/* The first value and the number of extra bits of each symbol: RFC 1951, section 3.2.5. */
struct band {
	uint16_t base;
	uint8_t extra;
};

static const struct band length_bands[] = {{3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}, {9, 0}, {10, 0}, {11, 1},
	{13, 1}, {15, 1}, {17, 1}, {19, 2}, {23, 2}, {27, 2}, {31, 2}, {35, 3}, {43, 3}, {51, 3}, {59, 3}, {67, 4},
	{83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}};

static const struct band distance_bands[] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 1}, {7, 1}, {9, 2}, {13, 2}, {17, 3},
	{25, 3}, {33, 4}, {49, 4}, {65, 5}, {97, 5}, {129, 6}, {193, 6}, {257, 7}, {385, 7}, {513, 8}, {769, 8},
	{1025, 9}, {1537, 9}, {2049, 10}, {3073, 10}, {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13},
	{24577, 13}};

/* The order of the code length codes in a block header: RFC 1951, section 3.2.7. */
static const uint8_t length_order[LENGTH_SYMBOLS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

struct block {
	struct token tokens[BLOCK_TOKENS];
	uint32_t count;
	uint32_t literal_counts[LITERAL_SYMBOLS];
	uint32_t distance_counts[DISTANCE_SYMBOLS];
};

struct compressor {
	struct matcher matcher;
	struct block block;
	struct bit_writer bits;
};

static unsigned int band_find(const struct band *bands, unsigned int count, uint32_t value)
{
	unsigned int low = 0;
	while (count > 1) {
		unsigned int half = count / 2;
		if (bands[low + half].base <= value)
			low += half;
		count -= half;
	}
	return low;
}

static unsigned int length_symbol(uint32_t length)
{
	return band_find(length_bands, sizeof(length_bands) / sizeof(length_bands[0]), length);
}

static unsigned int distance_symbol(uint32_t distance)
{
	return band_find(distance_bands, sizeof(distance_bands) / sizeof(distance_bands[0]), distance);
}

static void write_block_header(
	struct bit_writer *w, const struct huffman_code *literals, const struct huffman_code *distances, int is_last)
{
	uint32_t counts[LENGTH_SYMBOLS] = {0};
	struct huffman_code lengths;
	for (unsigned int i = 0; i < LITERAL_SYMBOLS; i++)
		counts[literals->bits[i]]++;
	for (unsigned int i = 0; i < DISTANCE_SYMBOLS; i++)
		counts[distances->bits[i]]++;
	huffman_build(&lengths, counts, LENGTH_SYMBOLS, 7);

	put_bits(w, is_last ? 1 : 0, 1);
	put_bits(w, 2, 2); /* Block type: dynamic Huffman codes. */
	put_bits(w, LITERAL_SYMBOLS - 257, 5);
	put_bits(w, DISTANCE_SYMBOLS - 1, 5);
	put_bits(w, LENGTH_SYMBOLS - 4, 4);
	for (unsigned int i = 0; i < LENGTH_SYMBOLS; i++)
		put_bits(w, lengths.bits[length_order[i]], 3);
	for (unsigned int i = 0; i < LITERAL_SYMBOLS; i++)
		put_symbol(w, &lengths, literals->bits[i]);
	for (unsigned int i = 0; i < DISTANCE_SYMBOLS; i++)
		put_symbol(w, &lengths, distances->bits[i]);
}

static void write_match(struct bit_writer *w, const struct huffman_code *literals, const struct huffman_code *distances,
	struct token token)
{
	unsigned int symbol = length_symbol(token.value);
	put_symbol(w, literals, 257 + symbol);
	put_bits(w, (uint32_t)(token.value - length_bands[symbol].base), length_bands[symbol].extra);
	symbol = distance_symbol(token.distance);
	put_symbol(w, distances, symbol);
	put_bits(w, (uint32_t)(token.distance - distance_bands[symbol].base), distance_bands[symbol].extra);
}

static void write_block(struct compressor *c, int is_last)
{
	struct block *block = &c->block;
	struct huffman_code literals, distances;
	block->literal_counts[END_OF_BLOCK] = 1;
	huffman_build(&literals, block->literal_counts, LITERAL_SYMBOLS, MAX_CODE_BITS);
	huffman_build(&distances, block->distance_counts, DISTANCE_SYMBOLS, MAX_CODE_BITS);
	write_block_header(&c->bits, &literals, &distances, is_last);
	for (uint32_t i = 0; i < block->count; i++) {
		struct token token = block->tokens[i];
		if (token.distance)
			write_match(&c->bits, &literals, &distances, token);
		else
			put_symbol(&c->bits, &literals, token.value);
	}
	put_symbol(&c->bits, &literals, END_OF_BLOCK);

	block->count = 0;
	memset(block->literal_counts, 0, sizeof(block->literal_counts));
	memset(block->distance_counts, 0, sizeof(block->distance_counts));
}

static void emit(struct compressor *c, struct token token)
{
	struct block *block = &c->block;
	if (block->count == BLOCK_TOKENS)
		write_block(c, 0);
	block->tokens[block->count++] = token;
	if (token.distance) {
		block->literal_counts[257 + length_symbol(token.value)]++;
		block->distance_counts[distance_symbol(token.distance)]++;
	} else {
		block->literal_counts[token.value]++;
	}
}

__attribute__((noinline)) static void compress(struct compressor *c, const uint8_t *data, size_t size)
{
	size_t at = 0;
	matcher_init(&c->matcher, data, size);
	while (at < size) {
		struct match match = longest_match(&c->matcher, at, 0);
		size_t end;
		hash_insert(&c->matcher, at);
		/* A literal here is better if the next position has a longer match. */
		if (match.length && match.length < LAZY_LIMIT && at + 1 < size &&
			longest_match(&c->matcher, at + 1, match.length).length)
			match.length = 0;
		if (!match.length) {
			emit(c, (struct token){.value = data[at++]});
			continue;
		}
		emit(c, (struct token){.distance = (uint16_t)match.distance, .value = (uint16_t)match.length});
		end = at + match.length;
		while (++at < end)
			hash_insert(&c->matcher, at);
	}
	write_block(c, 1);
	flush_bits(&c->bits);
}

static uint32_t checksum(const uint8_t *data, size_t size)
{
	uint32_t table[256];
	uint32_t crc = UINT32_MAX;
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	for (size_t i = 0; i < size; i++)
		crc = table[(crc ^ data[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

static int fail(const char *what)
{
	fprintf(stderr, "lz77: %s: %s\n", what, strerror(errno));
	return 1;
}

static uint8_t *read_input(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long end;
	if (file && !fseek(file, 0, SEEK_END) && (end = ftell(file)) >= 0 && !fseek(file, 0, SEEK_SET)) {
		*size = (size_t)end;
		data = malloc(*size + 1);
		if (data && fread(data, 1, *size, file) != *size) {
			free(data);
			data = NULL;
		}
	}
	if (file)
		fclose(file);
	return data;
}

int main(int argc, char **argv)
{
	static const uint8_t header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
	struct compressor *c = calloc(1, sizeof(*c));
	uint8_t *data;
	size_t size;
	long written;
	if (argc != 3) {
		fprintf(stderr, "usage: lz77 INPUT OUTPUT.gz\n");
		return 2;
	}
	if (!c || !(data = read_input(argv[1], &size)))
		return fail(argv[1]);
	if (!(c->bits.file = fopen(argv[2], "wb")))
		return fail(argv[2]);

	fwrite(header, 1, sizeof(header), c->bits.file);
	compress(c, data, size);
	put_bits(&c->bits, checksum(data, size), 32);
	put_bits(&c->bits, (uint32_t)size, 32);
	flush_bits(&c->bits);
	written = ftell(c->bits.file);
	if (c->bits.failed || ferror(c->bits.file) || fclose(c->bits.file))
		return fail(argv[2]);
	printf("lz77: %zu bytes -> %ld bytes\n", size, written);
	free(data);
	free(c);
	return 0;
}
