/*
 * page_data.h - the data of a self-contained page: strings that are never markup, and numbers packed as base64.
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

/* A JSON string that is also harmless inside a script element: no markup, no line separators; bytes that are no UTF-8 are
 * U+FFFD. */
void page_string(struct text *out, struct tally_str s);

struct page_bytes {
	struct text *out;
	uint32_t bits;
	unsigned count; /* bytes held */
	bool is_packed; /* by deflate, all of them at the end */
	struct text whole; /* until then */
};

/* Seven bits a byte, the lowest first, the highest bit set while more follow. */
void page_number(struct page_bytes *b, uint64_t number);
void page_bytes_end(struct page_bytes *b);

#endif
