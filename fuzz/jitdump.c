/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arbitrary bytes as a jitdump. */
#include "code/symbols/jitdump.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitdump dump;
	size_t names = 0;
	if (jitdump_parse(&dump, (struct tally_bytes){data, size}, NULL) != TALLY_OK)
		return 0;
	for (size_t i = 0; i < dump.codes.len; i++) {
		const struct jitdump_code *code = &dump.codes.items[i];
		struct source_place place = {0};
		names += strlen(code->name) + code->eh_frame.len;
		if (jitdump_find(&dump, code->offset) != code ||
			jitdump_find(&dump, code->offset + code->size - 1) != code)
			abort();
		if (jitdump_line(&dump, code->offset + code->size / 2, &place) && place.path)
			names += strlen(place.path);
	}
	for (size_t i = 0; i < dump.places.len; i++)
		if (!jitdump_find(&dump, dump.places.items[i].offset))
			abort();
	if (names > 0 && size == 0)
		abort();
	jitdump_deinit(&dump);
	return 0;
}
