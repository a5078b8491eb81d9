/* SPDX-License-Identifier: Apache-2.0 */
/*
 * huffman.h - builds canonical Huffman codes with a bounded length, and writes the bits of a deflate stream (RFC
 * 1951).
 *
 * A code is a plain value that is computed from counts. The bit writer borrows a FILE and retains the first error.
 */
#ifndef DEMO_HUFFMAN_H
#define DEMO_HUFFMAN_H

#include <stdint.h>
#include <stdio.h>

enum {
	MAX_SYMBOLS = 288,
	MAX_CODE_BITS = 15,
};

struct huffman_code {
	uint8_t bits[MAX_SYMBOLS]; /* Code lengths in bits; 0 if the symbol is unused. */
	uint16_t code[MAX_SYMBOLS]; /* Codes in the order in which they are written: the first bit is the lowest. */
};

struct bit_writer {
	FILE *file;
	uint64_t pending;
	unsigned int pending_bits;
	int failed;
};

/* Builds the code for counts[0 .. symbols), with codes no longer than max_bits. At least two symbols get a code. */
void huffman_build(struct huffman_code *code, const uint32_t *counts, unsigned int symbols, unsigned int max_bits);

void put_bits(struct bit_writer *w, uint32_t value, unsigned int bits);
void put_symbol(struct bit_writer *w, const struct huffman_code *code, unsigned int symbol);

/* Pads the last byte with zeros and writes all bits to the file. */
void flush_bits(struct bit_writer *w);

#endif
