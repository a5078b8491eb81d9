/* SPDX-License-Identifier: Apache-2.0 */
#include "matcher.h"

#include <string.h>

void matcher_init(struct matcher *m, const uint8_t *data, size_t size)
{
	m->data = data;
	m->size = size;
	memset(m->head, 0, sizeof(m->head));
	memset(m->previous, 0, sizeof(m->previous));
}

static uint32_t hash_at(const uint8_t *bytes)
{
	uint32_t value = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16;
	return (value * 2654435761u) >> 17;
}

void hash_insert(struct matcher *m, size_t position)
{
	uint32_t hash;
	if (position + MIN_MATCH > m->size)
		return;
	hash = hash_at(m->data + position);
	m->previous[position % WINDOW_SIZE] = m->head[hash];
	m->head[hash] = (uint32_t)position + 1;
}

static uint32_t match_length(const uint8_t *a, const uint8_t *b, uint32_t limit)
{
	uint32_t length = 0;
	while (length + 8 <= limit) {
		uint64_t x, y;
		memcpy(&x, a + length, 8);
		memcpy(&y, b + length, 8);
		if (x != y)
			break;
		length += 8;
	}
	while (length < limit && a[length] == b[length])
		length++;
	return length;
}

struct match longest_match(const struct matcher *m, size_t position, uint32_t longer_than)
{
	struct match best = {.length = 0};
	size_t rest = m->size - position;
	uint32_t limit = rest < MAX_MATCH ? (uint32_t)rest : MAX_MATCH;
	const uint8_t *here = m->data + position;
	uint32_t longest = longer_than < MIN_MATCH ? MIN_MATCH - 1 : longer_than;
	uint32_t candidate;
	if (limit <= longest)
		return best;
	candidate = m->head[hash_at(here)];
	for (int tries = 0; candidate && tries < MAX_CHAIN; tries++) {
		size_t at = candidate - 1;
		uint32_t length;
		if (at >= position || position - at > WINDOW_SIZE)
			break;
		/* Most candidates fail this test. */
		if (m->data[at + longest] == here[longest]) {
			length = match_length(m->data + at, here, limit);
			if (length > longest) {
				best.length = longest = length;
				best.distance = (uint32_t)(position - at);
				if (length == limit)
					break;
			}
		}
		candidate = m->previous[at % WINDOW_SIZE];
		/* A later position may have overwritten the slot. */
		if (candidate > at)
			break;
	}
	return best;
}
