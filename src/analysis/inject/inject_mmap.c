/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/inject/inject_mmap.h"

#include <sys/mman.h>

#define INJECT_MMAP_RECORD_BYTES_MAX 65535
#define SIZE_OFFSET		     6
#define RANGE_END		     40 /* End of the members that MMAP and MMAP2 share, from header to offset. */
#define MMAP2_MORE_BYTES	     32 /* Bytes between the range and the name in MMAP2. */

/* Writes size, three zero bytes and the ID, where MMAP2 otherwise has device and inode. */
static void inject_mmap_put_id(struct writer *out, const struct record_build_id *id)
{
	writer_u8(out, id->size);
	writer_zeros(out, 3);
	writer_bytes(out, id->bytes, sizeof(id->bytes));
}

static void put_with_id(struct writer *out, const struct record *record, const struct record_build_id *id)
{
	const uint8_t *data = record->bytes.data;
	size_t rest = RANGE_END;
	size_t start = out->len;
	out->swap = record->swap;
	writer_u32(out, RECORD_MMAP2);
	writer_u16(out, record->misc | MISC_MMAP_BUILD_ID);
	writer_u16(out, 0);
	writer_bytes(out, data + RECORD_HEADER_BYTES, RANGE_END - RECORD_HEADER_BYTES);
	inject_mmap_put_id(out, id);
	if (record->type == RECORD_MMAP2) {
		rest = RANGE_END + sizeof(id->bytes) + 4;
	} else {
		writer_u32(out, PROT_READ | (record->misc & MISC_MMAP_DATA ? 0 : PROT_EXEC));
		writer_u32(out, MAP_PRIVATE);
	}
	writer_bytes(out, data + rest, record->bytes.len - rest);
	if (!out->failed)
		writer_patch_u16(out, start + SIZE_OFFSET, (uint16_t)(out->len - start));
}

enum inject_mmap_result inject_mmap(const struct inject_mmaps *mmaps, const struct record *record, struct writer *out)
{
	struct record_fields fields;
	unsigned cpumode = record->misc & MISC_CPUMODE_MASK;
	if (cpumode != MISC_CPUMODE_USER || record_decode(record, &fields, NULL) != TALLY_OK)
		return INJECT_MMAP_KEPT;
	struct tally_str name = fields.mmap.filename;
	uint32_t index = intern_find(&mmaps->paths, name.data, name.len);
	if (index == INTERN_NONE)
		return mmaps->drop_others ? INJECT_MMAP_DROPPED : INJECT_MMAP_KEPT;
	const struct record_build_id *id = &mmaps->ids.items[index];
	if (id->size == 0 || record->bytes.len + MMAP2_MORE_BYTES > INJECT_MMAP_RECORD_BYTES_MAX)
		return INJECT_MMAP_KEPT;
	put_with_id(out, record, id);
	return INJECT_MMAP_CHANGED;
}
