/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matcher.h - finds earlier copies of the bytes at a position: the LZ77 half of deflate.
 *
 * It keeps, for each hash of three bytes, the chain of positions with that hash, within the 32 KiB that a deflate
 * distance can reach. It does not choose between matches; lz77.c does. The caller owns the matcher and the data,
 * which must outlive it.
 */
#ifndef DEMO_MATCHER_H
#define DEMO_MATCHER_H

#include <stddef.h>
#include <stdint.h>

enum {
	WINDOW_SIZE = 32768,
	HASH_SIZE = 32768,
	MIN_MATCH = 3,
	MAX_MATCH = 258,
	MAX_CHAIN = 48, /* Largest number of candidates tried for one position. */
};

struct match {
	uint32_t length; /* 0 if there is no match. */
	uint32_t distance;
};

struct matcher {
	const uint8_t *data;
	size_t size;
	uint32_t head[HASH_SIZE]; /* Last position + 1 of each hash; 0 if there is none. */
	/* Previous position + 1 with the same hash, indexed by position modulo the window. */
	uint32_t previous[WINDOW_SIZE];
};

void matcher_init(struct matcher *m, const uint8_t *data, size_t size);

/* Makes the position a candidate for later ones. Positions must be in ascending order. */
void hash_insert(struct matcher *m, size_t position);

/* Returns the longest match of more than longer_than bytes, the nearest of equally long ones. */
struct match longest_match(const struct matcher *m, size_t position, uint32_t longer_than);

#endif
