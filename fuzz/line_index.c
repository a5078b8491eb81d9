/* SPDX-License-Identifier: Apache-2.0 */
/* Opens arbitrary bytes as a line index with matching checksums, so that the checks after the checksums are reached. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/limits.h"
#include "code/symbols/line_index_form.h"

static void mend_header(uint8_t *bytes, size_t size, const struct elf_build_id *id)
{
	struct line_index_header header;
	memcpy(&header, bytes, sizeof(header));
	memcpy(header.magic, LINE_INDEX_MAGIC, sizeof(header.magic));
	header.version = LINE_INDEX_VERSION;
	header.byte_order = LINE_INDEX_BYTE_ORDER;
	header.file_bytes = size;
	header.range_count %= 8;
	header.unit_count %= 8;
	header.source_bytes = 8;
	header.id_size = id->size;
	memcpy(header.id, id->bytes, id->size);
	size_t units = sizeof(header) + header.range_count * sizeof(struct line_index_range);
	size_t end = units + header.unit_count * sizeof(struct line_index_unit) + header.source_bytes;
	memcpy(bytes, &header, sizeof(header));
	if (end > size)
		return;
	for (size_t i = 0; i < header.unit_count; i++) {
		struct line_index_unit unit;
		uint8_t *at = bytes + units + i * sizeof(unit);
		memcpy(&unit, at, sizeof(unit));
		unit.offset = unit.offset % size / 8 * 8;
		unit.bytes = (uint32_t)(unit.bytes % (size - unit.offset + 1));
		unit.checksum = (uint32_t)crc32_z(0, bytes + unit.offset, unit.bytes);
		memcpy(at, &unit, sizeof(unit));
	}
	bytes[end - 1] = '\0';
	header.checksum = (uint32_t)crc32_z(0, bytes + LINE_INDEX_SUMMED_FROM, end - LINE_INDEX_SUMMED_FROM);
	memcpy(bytes, &header, sizeof(header));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct elf_build_id id = {.size = 2, .bytes = {1, 2}};
	struct line_index index;
	if (size < sizeof(struct line_index_header) || size > 1u << 20)
		return 0;
	uint8_t *bytes = malloc(size);
	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	mend_header(bytes, size, &id);
	if (line_index_open(&index, (struct tally_bytes){bytes, size}, &id)) {
		struct source_place places[LIMIT_INLINE_DEPTH];
		for (uint32_t i = 0; i < index.range_count; i++) {
			uint64_t address = index.ranges[i].low;
			for (unsigned n = 0; n < 64 && line_index_has(&index, address); n++, address += n) {
				size_t count = line_index_find(&index, address, places, LIMIT_INLINE_DEPTH);
				for (size_t p = 0; p < count; p++)
					if (places[p].function && strlen(places[p].function) > size)
						abort();
			}
		}
		line_index_deinit(&index);
	}
	free(bytes);
	return 0;
}
