/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes an attr of any size and byte order (chosen by the first byte), prints it, and checks that encoding,
 * decoding and encoding again gives the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "abi/event_name.h"
#include "abi/record_layout.h"

static void round_trip(const struct perf_attr *attr, bool swap)
{
	struct writer first = {.swap = swap}, second = {.swap = swap};
	struct perf_attr again;
	attr_encode(&first, attr);
	struct cursor c = cursor_make(writer_view(&first), swap);
	if (first.failed || attr_decode(&c, &again, NULL) != TALLY_OK)
		abort();
	attr_encode(&second, &again);
	if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
		abort();
	writer_deinit(&first);
	writer_deinit(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_attr attr;
	struct text text = {0};
	if (size < 1)
		return 0;
	bool swap = data[0] & 1;
	struct tally_bytes bytes = {data + 1, size - 1};
	struct cursor c = cursor_make(bytes, swap);
	if (attr_decode(&c, &attr, NULL) == TALLY_OK) {
		attr_print(&text, &attr);
		event_name_of_attr(&text, &attr);
		struct record_layout layout = record_layout_make(&attr, swap);
		if (layout.fixed_bytes > 8 * 10 || layout.trailer_bytes > 8 * 6)
			abort();
		round_trip(&attr, swap);
	}
	c = cursor_make(bytes, swap);
	(void)!attr_decode_sized(&c, bytes.len, &attr, NULL);
	text_deinit(&text);
	return 0;
}
