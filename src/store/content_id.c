/* SPDX-License-Identifier: Apache-2.0 */
#include "store/content_id.h"

static uint64_t content_id_rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void content_id_rounds(uint64_t v[4], unsigned count)
{
	while (count-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = content_id_rotate(v[1], 13) ^ v[0];
		v[3] = content_id_rotate(v[3], 16) ^ v[2];
		v[0] = content_id_rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = content_id_rotate(v[1], 17) ^ v[2];
		v[3] = content_id_rotate(v[3], 21) ^ v[0];
		v[2] = content_id_rotate(v[2], 32);
	}
}

static void content_id_word(struct content_id *c, uint64_t word)
{
	c->v[3] ^= word;
	content_id_rounds(c->v, 2);
	c->v[0] ^= word;
}

static void content_id_byte(struct content_id *c, uint8_t byte)
{
	c->word |= (uint64_t)byte << c->bytes % 8 * 8;
	if (++c->bytes % 8 == 0) {
		content_id_word(c, c->word);
		c->word = 0;
	}
}

struct content_id content_id_begin(enum content_kind kind)
{
	/* "somepseudorandomlygeneratedbytes": the constants of SipHash, with the key 0. */
	struct content_id c = {.v = {UINT64_C(0x736f6d6570736575), UINT64_C(0x646f72616e646f6d),
				       UINT64_C(0x6c7967656e657261), UINT64_C(0x7465646279746573)}};
	content_id_number(&c, kind);
	return c;
}

void content_id_number(struct content_id *c, uint64_t number)
{
	if (c->bytes % 8 == 0) {
		content_id_word(c, number);
		c->bytes += 8;
		return;
	}
	for (unsigned i = 0; i < 8; i++)
		content_id_byte(c, (uint8_t)(number >> 8 * i));
}

void content_id_text(struct content_id *c, struct tally_str text)
{
	content_id_number(c, text.len);
	for (size_t i = 0; i < text.len; i++)
		content_id_byte(c, (uint8_t)text.data[i]);
}

uint64_t content_id_end(struct content_id *c)
{
	content_id_word(c, c->word | c->bytes << 56);
	c->v[2] ^= 0xff;
	content_id_rounds(c->v, 4);
	uint64_t hash = c->v[0] ^ c->v[1] ^ c->v[2] ^ c->v[3];
	return hash ? hash : 1;
}
