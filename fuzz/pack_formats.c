/* SPDX-License-Identifier: Apache-2.0 */
/* Scrubs arbitrary bytes as tracing data: the result can be read as well, and scrubbing it again changes nothing. */
#include "tasks/packing/pack_formats.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct writer once = {0}, twice = {0};
	if (pack_formats_scrub((struct tally_bytes){data, size}, &once)) {
		if (!pack_formats_scrub(writer_view(&once), &twice) || twice.len != once.len ||
			memcmp(twice.data, once.data, once.len) != 0)
			abort();
	}
	writer_deinit(&once);
	writer_deinit(&twice);
	return 0;
}
