/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/load_pack.h"

#include <string.h>

#include "base/array.h"
#include "code/binaries/load_jit.h"
#include "code/pack/pack_dump.h"

static void note_lacks(struct binary_entry *entry, const struct pack_object *object)
{
	static const char *const reasons[BINARY_LACK_KINDS] = {
		[BINARY_LACKS_SPLITS] = "its split debug information (.dwo files) was not found",
		[BINARY_LACKS_SUPPLEMENT] = "the common file of its debug information (made by dwz) was not found",
		[BINARY_LACKS_UNITS] = "a part of its debug information is damaged",
	};
	for (unsigned lack = 0; lack < BINARY_LACK_KINDS; lack++)
		if (object->lacks & 1U << lack)
			entry->lacks[lack].what = arena_printf(&entry->arena,
				"%.*s: some inlined functions and lines are not known, because %s when the recording was packed",
				(int)object->key.path.len, object->key.path.data, reasons[lack]);
}

void load_pack(const struct binary_store_options *options, struct binary_entry *entry, const struct pack_object *object)
{
	bool ok = true;
	if (object->key.kind == BINARY_JITDUMP && object->dump.len > 0) {
		/* The dump is loaded, so that the entry does not differ from one that was loaded from a dump file. */
		size_t len;
		char *bytes = pack_dump_open(object->dump, &len);
		entry->used_path = object->used_path;
		if (bytes)
			load_jitdump_bytes(options, entry, bytes, len);
		else
			binary_entry_set(entry, BINARY_DAMAGED, "the packed dump of its generated code is damaged");
		return;
	}
	symbol_table_deinit(&entry->symbols);
	entry->symbols = (struct symbol_table){0};
	for (size_t i = 0; i < object->symbols.len && ok; i++)
		ok = vec_push(&entry->symbols.symbols, object->symbols.items[i]);
	entry->packed = object;
	entry->used_path = object->used_path;
	note_lacks(entry, object);
	if (ok && symbol_table_finish(&entry->symbols, SYMBOLS_SIZED))
		binary_entry_set(entry, object->status, object->text);
	else
		binary_entry_out_of_memory(entry);
}

static bool describe_segments(const struct binary_entry *entry, struct pack_object *object)
{
	size_t count;
	const struct elf_segment *segments = entry->image ? elf_image_segments(entry->image, &count) : NULL;
	for (size_t i = 0; segments && i < count; i++)
		if (!vec_push(&object->segments,
			    ((struct pack_segment){segments[i].offset, segments[i].vaddr, segments[i].file_size})))
			return false;
	for (size_t i = 0; !segments && entry->packed && i < entry->packed->segments.len; i++)
		if (!vec_push(&object->segments, entry->packed->segments.items[i]))
			return false;
	return true;
}

bool load_pack_describe(const struct binary_entry *entry, struct pack_object *object)
{
	object->key = entry->key;
	object->status = entry->status;
	object->used_path = entry->used_path;
	object->text = entry->text;
	object->symbol_count = entry->packed ? entry->packed->symbol_count : binary_entry_symbol_count(entry);
	if (entry->packed) {
		object->found_id = entry->packed->found_id;
	} else if (entry->image) {
		struct elf_build_id id = elf_image_build_id(entry->image);
		object->found_id.size = (uint8_t)MIN(id.size, sizeof(object->found_id.bytes));
		memcpy(object->found_id.bytes, id.bytes, object->found_id.size);
	}
	return describe_segments(entry, object);
}

size_t load_pack_places(const struct pack_object *object, uint64_t address, struct source_place *places, size_t max)
{
	const struct pack_range *range = pack_range_find(object, address);
	size_t count = range ? range->count : 0;
	count = MIN(count, max);
	for (size_t i = 0; i < count; i++)
		places[i] = object->places.items[range->first + i];
	return count;
}

bool load_pack_has_places(const struct pack_object *object, const uint64_t *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!pack_range_find(object, addresses[i]))
			return false;
	return true;
}

bool load_pack_elf_va(const struct pack_object *object, struct tally_file_off offset, struct tally_elf_va *va)
{
	for (size_t i = 0; i < object->segments.len; i++) {
		const struct pack_segment *segment = &object->segments.items[i];
		if (offset.value >= segment->offset && offset.value - segment->offset < segment->size) {
			va->value = offset.value - segment->offset + segment->vaddr;
			return true;
		}
	}
	return false;
}
