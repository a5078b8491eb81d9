/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/array.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/limits.h"
#include "code/pack/pack.h"
#include "code/pack/pack_form.h"

struct encoder {
	struct writer body, strings;
	struct intern known; /* Maps strings to indexes in offsets. */
	VEC(uint32_t) offsets;
	bool failed; /* Memory ran out. */
	bool is_too_large;
};

void pack_set_order(struct writer *w)
{
	const uint16_t one = 1;
	w->swap = *(const uint8_t *)&one == 0;
}

static uint32_t pack_write_string_of(struct encoder *e, const char *data, size_t len)
{
	uint32_t index;
	if (!intern_add(&e->known, data, len, &index)) {
		e->failed = true;
		return PACK_NO_STRING;
	}
	if (index < e->offsets.len)
		return e->offsets.items[index];
	if (len > LIMIT_PACK || e->strings.len > LIMIT_PACK - len) {
		e->is_too_large = true;
		return PACK_NO_STRING;
	}
	uint32_t offset = (uint32_t)e->strings.len;
	writer_bytes(&e->strings, data, len);
	writer_u8(&e->strings, 0);
	if (!vec_push(&e->offsets, offset))
		e->failed = true;
	return offset;
}

static void pack_write_put_string(struct encoder *e, const char *text)
{
	writer_u32(&e->body, text ? pack_write_string_of(e, text, strlen(text)) : PACK_NO_STRING);
}

/* Recorded paths are written up to their first NUL, which file names cannot contain. */
static void put_str(struct encoder *e, struct tally_str str)
{
	size_t len = str.len ? strnlen(str.data, str.len) : 0;
	writer_u32(&e->body, pack_write_string_of(e, len ? str.data : "", len));
}

/* Writes the identity of a file without a build ID, in the 20 bytes that other files have for theirs. */
static void pack_write_put_file(struct writer *w, const struct binary_key *key)
{
	writer_u32(w, key->major);
	writer_u32(w, key->minor);
	writer_u64(w, key->inode);
	writer_u32(w, (uint32_t)key->generation);
}

static void pack_write_put_id(struct writer *w, const uint8_t *bytes, uint8_t size)
{
	uint8_t padded[PACK_ID_BYTES] = {0};
	size_t len = MIN(size, sizeof(padded));
	memcpy(padded, bytes, len);
	writer_bytes(w, padded, sizeof(padded));
}

static void pack_write_put_fixed(struct encoder *e, const struct pack_object *object)
{
	struct writer *w = &e->body;
	writer_u32(w, (uint32_t)object->key.kind);
	writer_u32(w, (uint32_t)object->status);
	writer_u32(w, (uint32_t)object->key.pid);
	writer_u8(w, object->key.build_id_size);
	writer_u8(w, object->found_id.size);
	writer_u16(w, 0);
	if (object->key.build_id_size)
		pack_write_put_id(w, object->key.build_id, object->key.build_id_size);
	else
		pack_write_put_file(w, &object->key);
	pack_write_put_id(w, object->found_id.bytes, object->found_id.size);
	writer_u64(w, object->key.start);
	writer_u64(w, object->symbol_count);
	put_str(e, object->key.path);
	put_str(e, object->key.file);
	pack_write_put_string(e, object->used_path);
	pack_write_put_string(e, object->text);
	pack_write_put_string(e, object->places_path);
	writer_u32(w, object->lacks);
}

static void begin_block(struct encoder *e, enum pack_block tag, size_t count, size_t item_bytes)
{
	if (count > LIMIT_PACK)
		e->is_too_large = true;
	writer_u32(&e->body, (uint32_t)tag);
	writer_u32(&e->body, (uint32_t)count);
	writer_u64(&e->body, (uint64_t)count * item_bytes);
}

static void pack_write_put_blocks(struct encoder *e, const struct pack_object *object)
{
	struct writer *w = &e->body;
	begin_block(e, PACK_SEGMENTS, object->segments.len, PACK_SEGMENT_BYTES);
	for (size_t i = 0; i < object->segments.len; i++) {
		writer_u64(w, object->segments.items[i].offset);
		writer_u64(w, object->segments.items[i].vaddr);
		writer_u64(w, object->segments.items[i].size);
	}
	begin_block(e, PACK_SYMBOLS, object->symbols.len, PACK_SYMBOL_BYTES);
	for (size_t i = 0; i < object->symbols.len; i++) {
		const struct symbol *symbol = &object->symbols.items[i];
		writer_u64(w, symbol->start);
		writer_u64(w, symbol->end);
		pack_write_put_string(e, symbol->name);
		writer_u32(w, (uint8_t)symbol->binding | (symbol->is_object ? PACK_SYMBOL_OBJECT : 0) |
				      (symbol->follows_no_call ? PACK_SYMBOL_NO_CALL : 0));
	}
	begin_block(e, PACK_RANGES, object->ranges.len, PACK_RANGE_BYTES);
	for (size_t i = 0; i < object->ranges.len; i++) {
		const struct pack_range *range = &object->ranges.items[i];
		writer_u64(w, range->start);
		writer_u32(w, range->size);
		writer_u32(w, range->first);
		writer_u32(w, range->count);
		writer_u32(w, 0);
	}
	begin_block(e, PACK_PLACES, object->places.len, PACK_PLACE_BYTES);
	for (size_t i = 0; i < object->places.len; i++) {
		const struct source_place *place = &object->places.items[i];
		pack_write_put_string(e, place->function);
		pack_write_put_string(e, place->path);
		writer_u32(w, place->line);
		writer_u32(w, place->discriminator << 1 | (place->is_inlined ? PACK_PLACE_INLINED : 0));
	}
}

static void pack_write_put_code(struct encoder *e, const struct pack_object *object)
{
	struct writer *w = &e->body;
	uint64_t offset = 0;
	for (size_t i = 0; i < object->codes.len; i++)
		offset += object->codes.items[i].code.bytes.len;
	begin_block(e, PACK_BYTES, (size_t)offset, 1);
	for (size_t i = 0; i < object->codes.len; i++)
		writer_bytes(w, object->codes.items[i].code.bytes.data, object->codes.items[i].code.bytes.len);
	begin_block(e, PACK_CODES, object->codes.len, PACK_CODE_BYTES);
	offset = 0;
	for (size_t i = 0; i < object->codes.len; i++) {
		const struct binary_code *code = &object->codes.items[i].code;
		writer_u64(w, object->codes.items[i].start);
		writer_u64(w, code->address);
		writer_u64(w, offset);
		writer_u32(w, (uint32_t)code->bytes.len);
		writer_u32(w, code->elf_machine);
		pack_write_put_string(e, code->section);
		pack_write_put_string(e, code->path);
		writer_u32(w, (code->is_big_endian ? PACK_CODE_IS_BIG : 0) | (code->is_64 ? PACK_CODE_IS_64 : 0) |
				      (code->has_symtab ? PACK_CODE_HAS_SYMTAB : 0));
		writer_u32(w, 0);
		offset += code->bytes.len;
	}
	begin_block(e, PACK_NAMES, object->names.len, PACK_NAME_BYTES);
	for (size_t i = 0; i < object->names.len; i++) {
		const struct pack_name *name = &object->names.items[i];
		writer_u64(w, name->address);
		writer_u64(w, name->name.offset);
		pack_write_put_string(e, name->name.name);
		writer_u32(w, name->name.is_plt);
	}
}

static void pack_write_put_dump(struct encoder *e, const struct pack_object *object)
{
	if (object->dump.len == 0)
		return;
	begin_block(e, PACK_DUMP, object->dump.len, 1);
	writer_bytes(&e->body, object->dump.data, object->dump.len);
}

static void pack_write_put_object(struct encoder *e, const struct pack_object *object)
{
	size_t start = e->body.len;
	writer_u64(&e->body, 0);
	pack_write_put_fixed(e, object);
	pack_write_put_blocks(e, object);
	pack_write_put_code(e, object);
	pack_write_put_dump(e, object);
	writer_align(&e->body, 8);
	if (!e->body.failed)
		writer_patch_u64(&e->body, start, e->body.len - start - sizeof(uint64_t));
}

static void pack_write_join(struct encoder *e, size_t count, struct writer *w)
{
	writer_align(&e->strings, 8);
	writer_bytes(w, PACK_MAGIC, PACK_MAGIC_BYTES);
	writer_u32(w, PACK_ORDER);
	writer_u32(w, PACK_VERSION);
	writer_u64(w, PACK_HEADER_BYTES + (uint64_t)e->strings.len + e->body.len);
	writer_u32(w, 0);
	writer_u32(w, (uint32_t)count);
	writer_u32(w, (uint32_t)e->strings.len);
	writer_u32(w, 0);
	writer_bytes(w, e->strings.data, e->strings.len);
	writer_bytes(w, e->body.data, e->body.len);
	if (!w->failed)
		writer_patch_u32(w, PACK_CHECKSUM_AT,
			checksum_crc32((struct tally_bytes){w->data + PACK_SUMMED_FROM, w->len - PACK_SUMMED_FROM}));
}

enum tally_status pack_encode(
	const struct pack_object *objects, size_t count, struct writer *w, struct tally_error *err)
{
	struct encoder e = {0};
	e.body.swap = w->swap;
	intern_init(&e.known);
	(void)pack_write_string_of(&e, "", 0);
	for (size_t i = 0; i < count; i++)
		pack_write_put_object(&e, &objects[i]);
	bool is_too_large = e.is_too_large || count > LIMIT_PACK || e.body.len > LIMIT_PACK;
	if (!is_too_large)
		pack_write_join(&e, count, w);
	bool failed = e.failed || e.body.failed || e.strings.failed || w->failed;
	writer_deinit(&e.body);
	writer_deinit(&e.strings);
	intern_deinit(&e.known);
	vec_free(&e.offsets);
	if (failed)
		return error_nomem(err);
	return is_too_large ? error_set(err, TALLY_INVALID, "the symbols and code to pack exceed the size limit")
			    : TALLY_OK;
}
