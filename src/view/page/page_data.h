/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_data.h - writes the data of a self-contained page: strings that are never markup, and numbers packed as base64.
 *
 * Borrows the text, which fails stickily and may be flushed at any byte. One thread.
 *
 *	page_string(&text, STR("</script>"));
 *	struct page_bytes b = {.out = &text};
 *	page_number(&b, 300); page_bytes_end(&b); // always: it frees what waits to be packed
 */
#ifndef VIEW_PAGE_PAGE_DATA_H
#define VIEW_PAGE_PAGE_DATA_H

#include "base/text.h"

/* A JSON string that is also harmless inside a script element: no markup, no line separators; invalid UTF-8 becomes
 * U+FFFD. */
void page_string(struct text *out, struct tally_str s);

#define PAGE_HELD_BYTES 768 /* three bytes are four signs, and none is left over */
#define PAGE_NUMBER_MAX 10

struct page_bytes {
	struct text *out;
	bool is_packed; /* by deflate, all of them at the end */
	struct text whole; /* until then */
	size_t count; /* bytes held */
	uint8_t held[PAGE_HELD_BYTES + PAGE_NUMBER_MAX];
};

void page_bytes_hand_on(struct page_bytes *b);
/* Seven bits a byte, the lowest first, the highest bit set while more follow. */
static inline void page_number(struct page_bytes *b, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		b->held[b->count++] = (uint8_t)(0x80 | (number & 0x7f));
	b->held[b->count++] = (uint8_t)number;
	if (b->count >= PAGE_HELD_BYTES)
		page_bytes_hand_on(b);
}
void page_bytes_end(struct page_bytes *b);

#endif
