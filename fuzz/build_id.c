/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id.c - reads build IDs from arbitrary notes and ELF images: they are never longer than the maximum.
 */
#include "tasks/session/build_id.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tally_bytes bytes = {data, size};
	struct record_build_id id;
	if (build_id_in_elf(bytes, &id) && (id.size == 0 || id.size > sizeof(id.bytes)))
		abort();
	for (int swap = 0; swap < 2; swap++)
		if (build_id_in_notes(bytes, swap != 0, &id) && (id.size == 0 || id.size > sizeof(id.bytes)))
			abort();
	return 0;
}
