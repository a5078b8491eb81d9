/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_input.c - writes a text that is always the same: a large input for the demo's compressor.
 *
 * usage: make_input BYTES > FILE. Words of an invented vocabulary, common ones more often, in sentences and
 * paragraphs; now and then a line of figures.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	WORDS = 20000,
	WORD_BYTES = 16,
};

struct generator {
	uint64_t state;
	char words[WORDS][WORD_BYTES];
};

static uint32_t next_random(struct generator *g)
{
	g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(g->state >> 33);
}

static void make_words(struct generator *g)
{
	static const char consonants[] = "tnshrdlcmwfgypbvk";
	static const char vowels[] = "eeeaaioou";
	for (size_t i = 0; i < WORDS; i++) {
		/* Common words are short. */
		size_t length = 2 + next_random(g) % (i < 100 ? 4 : i < 2000 ? 7 : 11);

		for (size_t j = 0; j < length; j++)
			g->words[i][j] = (j + i) % 2 ? vowels[next_random(g) % (sizeof(vowels) - 1)]
						     : consonants[next_random(g) % (sizeof(consonants) - 1)];
		g->words[i][length] = 0;
	}
}

/* Three random draws narrow the range, so that the first words are the most frequent. */
static const char *pick_word(struct generator *g)
{
	uint32_t range = WORDS;
	for (int i = 0; i < 3; i++)
		range = next_random(g) % range + 1;
	return g->words[range - 1];
}

static int write_sentence(struct generator *g, FILE *out)
{
	uint32_t words = 4 + next_random(g) % 16;
	int written = 0;
	if (next_random(g) % 40 == 0)
		return fprintf(out, "%u\t%u.%02u\t%s\n", next_random(g) % 100000, next_random(g) % 1000,
			next_random(g) % 100, pick_word(g));
	for (uint32_t i = 0; i < words; i++)
		written += fprintf(out, "%s%s", pick_word(g), i + 1 < words ? " " : "");
	return written + fprintf(out, next_random(g) % 6 ? ". " : ".\n\n");
}

int main(int argc, char **argv)
{
	static struct generator g = {.state = 20};
	long long rest = argc == 2 ? atoll(argv[1]) : 0;
	if (rest <= 0) {
		fprintf(stderr, "usage: make_input BYTES > FILE\n");
		return 2;
	}
	make_words(&g);
	while (rest > 0)
		rest -= write_sentence(&g, stdout);
	if (fflush(stdout) || ferror(stdout)) {
		perror("make_input");
		return 1;
	}
	return 0;
}
