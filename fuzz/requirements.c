/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses arguments of report --require: accepted ones can be evaluated and printed for any recording.
 */
#include <stdlib.h>

#include "analysis/replay/quality.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct quality worths[] = {{0},
		{.samples = 100, .lost = 1, .stacks = 90, .complete = 89, .named = 99, .kernel_samples = 1},
		{.samples = UINT64_MAX / 2, .lost = UINT64_MAX / 2, .throttled = UINT64_MAX}};
	struct requirements list;
	struct tally_error err = {0};
	char *text = malloc(size + 1);
	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	if (requirements_parse(text, &list, &err) == TALLY_OK) {
		if (list.count == 0 || list.count > REQUIREMENTS_MAX)
			abort();
		for (size_t i = 0; i < list.count * 3; i++) {
			struct text said = {0};
			(void)requirement_is_met(&list.items[i / 3], &worths[i % 3]);
			requirement_text(&said, &list.items[i / 3], &worths[i % 3]);
			if (said.len == 0)
				abort();
			text_deinit(&said);
		}
	} else if (!err.text[0]) {
		abort();
	}
	free(text);
	return 0;
}
