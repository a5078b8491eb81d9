/* SPDX-License-Identifier: Apache-2.0 */
/* Opens arbitrary bytes as the pack of a recording with a valid header, so that the checks after the header are
 * reached. */
#include "code/pack/pack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/limits.h"
#include "code/pack/pack_form.h"

static void mend_header(uint8_t *bytes, size_t size)
{
	const uint32_t order = bytes[8] & 1 ? PACK_ORDER : __builtin_bswap32(PACK_ORDER);
	struct writer w = {.swap = order != PACK_ORDER};
	writer_bytes(&w, PACK_MAGIC, PACK_MAGIC_BYTES);
	writer_u32(&w, PACK_ORDER);
	writer_u32(&w, PACK_VERSION);
	writer_u64(&w, size);
	writer_u32(&w, (uint32_t)crc32_z(0, bytes + PACK_SUMMED_FROM, size - PACK_SUMMED_FROM));
	if (!w.failed)
		memcpy(bytes, w.data, w.len);
	writer_deinit(&w);
}

static size_t use_object(const struct pack_object *object)
{
	size_t used = object->key.path.len + object->key.file.len;
	used += object->used_path ? strlen(object->used_path) : 0;
	used += object->text ? strlen(object->text) : 0;
	for (size_t i = 0; i < object->symbols.len; i++)
		used += strlen(object->symbols.items[i].name);
	for (size_t i = 0; i < object->codes.len; i++) {
		struct binary_code code;
		uint64_t start = object->codes.items[i].start;
		if (pack_code_find(object, start, start + 1, &code))
			used += code.bytes.data[0] + strlen(code.section);
	}
	for (size_t i = 0; i < object->names.len; i++)
		used += strlen(pack_name_find(object, object->names.items[i].address)->name);
	for (size_t i = 0; i < object->ranges.len; i++) {
		const struct pack_range *range = &object->ranges.items[i];
		if (pack_range_find(object, range->start) != range || range->count > LIMIT_INLINE_DEPTH)
			abort();
		for (uint32_t p = 0; p < range->count; p++) {
			const struct source_place *place = &object->places.items[range->first + p];
			used += place->function ? strlen(place->function) : 0;
			used += place->path ? strlen(place->path) : 0;
		}
	}
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pack *pack;
	size_t used = 0;
	if (size < PACK_HEADER_BYTES || size > 1u << 20)
		return 0;
	uint8_t *bytes = malloc(size);
	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	mend_header(bytes, size);
	if (pack_open((struct tally_bytes){bytes, size}, &pack, NULL) == TALLY_OK) {
		for (size_t i = 0; i < pack_count(pack); i++)
			used += use_object(pack_get(pack, i));
		if (used > 0 && pack_count(pack) == 0)
			abort();
		pack_close(pack);
	}
	free(bytes);
	return 0;
}
