/* SPDX-License-Identifier: Apache-2.0 */
/* Parses arbitrary text as the output of objdump: accepted lines lie inside the code, in order and without overlap. */
#include <stdlib.h>

#include "tasks/listing/annotate_objdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t bytes[64];
	const struct binary_code code = {
		.bytes = {bytes, sizeof(bytes)}, .address = 0x1000, .elf_machine = 62, .is_64 = true};
	struct objdump_lines lines = {0};
	struct tally_str rest = {(const char *)data, size}, line;
	uint64_t end = 0x1000;
	while (rest.len > 0 && str_next(&rest, '\n', &line))
		if (!objdump_lines_add(&lines, line, &code))
			break;
	for (size_t i = 0; i < lines.items.len; i++) {
		const struct objdump_line *item = &lines.items.items[i];
		if (item->address < end || item->size == 0 || item->address + item->size > 0x1040)
			abort();
		end = item->address + item->size;
	}
	objdump_lines_deinit(&lines);
	return 0;
}
