/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_data.h - writes the data of a self-contained page: strings that are never markup, and numbers packed as base64.
 *
 * Borrows the text, which may be flushed at any byte; its failures are sticky. One thread.
 *
 *	page_string(&text, STR("</script>"));
 *	struct page_bytes b = {.out = &text};
 *	page_number(&b, 300); page_bytes_end(&b); // always needed, because it frees memory
 */
#ifndef VIEW_PAGE_PAGE_DATA_H
#define VIEW_PAGE_PAGE_DATA_H

#include "base/text.h"

/* Writes a JSON string that is also safe inside a script element: it contains no markup and no line separators; invalid
 * UTF-8 becomes U+FFFD. */
void page_string(struct text *out, struct tally_str s);

#define PAGE_HELD_BYTES 768 /* A multiple of three, because base64 encodes three bytes as four characters. */
#define PAGE_NUMBER_MAX 10

struct page_bytes {
	struct text *out;
	bool is_packed; /* Compress all bytes with deflate in page_bytes_end. */
	struct text whole; /* All bytes so far, if is_packed is set. */
	size_t count; /* Number of bytes in held. */
	uint8_t held[PAGE_HELD_BYTES + PAGE_NUMBER_MAX];
};

/* Writes the bytes in held. */
void page_bytes_hand_on(struct page_bytes *b);
/* Appends a number as LEB128: seven bits per byte, lowest first, with the highest bit set in all but the last byte. */
static inline void page_number(struct page_bytes *b, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		b->held[b->count++] = (uint8_t)(0x80 | (number & 0x7f));
	b->held[b->count++] = (uint8_t)number;
	if (b->count >= PAGE_HELD_BYTES)
		page_bytes_hand_on(b);
}
/* Writes the remaining bytes. */
void page_bytes_end(struct page_bytes *b);

#endif
