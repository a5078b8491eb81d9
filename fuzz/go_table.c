/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_table.c - reads the function table of Go in either byte order: every name ends within the table.
 */
#include "object/elf/go_table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tally_bytes bytes = {data, size};
	for (int swap = 0; swap < 2; swap++) {
		struct go_function_list list = {0};
		if (go_table_text_offset(bytes, swap != 0) > size)
			abort();
		if (go_table_functions(bytes, swap != 0, 0x1000, &list, NULL) == TALLY_OK &&
			!go_table_is(bytes, swap != 0))
			abort();
		for (size_t i = 0; i < list.functions.len; i++) {
			const uint8_t *name = (const uint8_t *)list.functions.items[i].name;
			if (!memchr(name, '\0', (size_t)(data + size - name)))
				abort();
		}
		vec_free(&list.functions);
	}
	return 0;
}
