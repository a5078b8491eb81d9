/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses arguments of --time: accepted ones are recognised as such, and give spans that do not end before they begin.
 *
 * The first byte determines the times of the recording; the text follows.
 */
#include "perfdata/time_spans.h"

#include <stdlib.h>

#include "base/array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct time_span wholes[] = {
		{0, 0}, {5000000000, 6000000000}, {0, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}, {7, 6}};
	struct time_spans spans = {0};
	struct tally_error err = {0};
	if (size == 0)
		return 0;
	struct time_span whole = wholes[data[0] % (ARRAY_LEN(wholes))];
	char *text = malloc(size);
	if (!text)
		abort();
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	bool is_valid = time_spans_are_valid(text);
	if (time_spans_parse(str_from(text), whole, &spans, &err) == TALLY_OK) {
		if (!is_valid)
			abort();
		for (size_t i = 0; i < spans.items.len; i++) {
			const struct time_span *span = &spans.items.items[i];
			if (span->first_ns <= span->last_ns && !time_spans_have(&spans, span->first_ns))
				abort();
		}
	} else if (!err.text[0]) {
		abort();
	}
	time_spans_deinit(&spans);
	free(text);
	return 0;
}
