/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/array.h"
#include "base/checksum.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "code/pack/pack.h"
#include "code/pack/pack_form.h"

struct pack {
	VEC(struct pack_object) objects;
};

struct decoder {
	struct cursor at;
	struct tally_bytes strings; /* Strings, each terminated by a NUL. */
	struct tally_bytes code; /* The code of the current object, of which each item in its codes is a part. */
	VEC(uint64_t) offsets; /* Offsets in code of these parts, in bytes. */
	bool failed; /* Memory ran out. */
};

static const char *read_string(struct decoder *d)
{
	uint32_t offset = cursor_u32(&d->at);
	if (offset == PACK_NO_STRING || d->at.failed)
		return NULL;
	if (offset >= d->strings.len) {
		d->at.failed = true;
		return NULL;
	}
	return (const char *)d->strings.data + offset;
}

static struct tally_str read_str(struct decoder *d)
{
	const char *text = read_string(d);
	return text ? str_from(text) : (struct tally_str){"", 0};
}

static uint8_t pack_read_id(struct decoder *d, uint8_t size, uint8_t id[PACK_ID_BYTES])
{
	const uint8_t *bytes = cursor_take(&d->at, PACK_ID_BYTES);
	if (size > PACK_ID_BYTES)
		d->at.failed = true;
	if (bytes)
		memcpy(id, bytes, PACK_ID_BYTES);
	return d->at.failed ? 0 : size;
}

static void pack_read_file(struct decoder *d, struct binary_key *key)
{
	key->major = cursor_u32(&d->at);
	key->minor = cursor_u32(&d->at);
	key->inode = cursor_u64(&d->at);
	key->generation = cursor_u32(&d->at);
}

static void read_fixed(struct decoder *d, struct pack_object *object)
{
	struct cursor *c = &d->at;
	uint32_t kind = cursor_u32(c), status = cursor_u32(c);
	object->key.kind = (enum binary_kind)kind;
	object->status = (enum binary_status)status;
	object->key.pid = (int32_t)cursor_u32(c);
	uint8_t id_size = cursor_u8(c), found_size = cursor_u8(c);
	cursor_skip(c, sizeof(uint16_t));
	if (id_size)
		object->key.build_id_size = pack_read_id(d, id_size, object->key.build_id);
	else
		pack_read_file(d, &object->key);
	object->found_id.size = pack_read_id(d, found_size, object->found_id.bytes);
	object->key.start = cursor_u64(c);
	object->symbol_count = cursor_u64(c);
	object->key.path = read_str(d);
	object->key.file = read_str(d);
	object->used_path = read_string(d);
	object->text = read_string(d);
	object->places_path = read_string(d);
	object->lacks = cursor_u32(c);
	if (kind > BINARY_NONE || status > BINARY_HIDDEN)
		c->failed = true;
}

static void pack_read_segments(struct decoder *d, uint32_t count, struct pack_object *object)
{
	for (uint32_t i = 0; i < count && !d->failed; i++) {
		struct pack_segment segment = {cursor_u64(&d->at), 0, 0};
		segment.vaddr = cursor_u64(&d->at);
		segment.size = cursor_u64(&d->at);
		d->failed = !vec_push(&object->segments, segment);
	}
}

static void read_symbols(struct decoder *d, uint32_t count, struct pack_object *object)
{
	uint64_t last = 0;
	for (uint32_t i = 0; i < count && !d->failed; i++) {
		struct symbol symbol = {.start = cursor_u64(&d->at)};
		symbol.end = cursor_u64(&d->at);
		symbol.name = read_string(d);
		uint32_t kind = cursor_u32(&d->at);
		symbol.binding = (char)(kind & 0xff);
		symbol.is_object = (kind & PACK_SYMBOL_OBJECT) != 0;
		symbol.follows_no_call = (kind & PACK_SYMBOL_NO_CALL) != 0;
		if (!symbol.name || symbol.end <= symbol.start || (i > 0 && symbol.start <= last))
			d->at.failed = true;
		last = symbol.start;
		d->failed = !vec_push(&object->symbols, symbol);
	}
}

static void read_ranges(struct decoder *d, uint32_t count, struct pack_object *object)
{
	uint64_t free_from = 0;
	for (uint32_t i = 0; i < count && !d->failed; i++) {
		struct pack_range range = {.start = cursor_u64(&d->at)};
		range.size = cursor_u32(&d->at);
		range.first = cursor_u32(&d->at);
		range.count = cursor_u32(&d->at);
		cursor_skip(&d->at, sizeof(uint32_t));
		if (range.size == 0 || range.start < free_from || range.start + range.size < range.start)
			d->at.failed = true;
		free_from = range.start + range.size;
		d->failed = !vec_push(&object->ranges, range);
	}
}

static void read_places(struct decoder *d, uint32_t count, struct pack_object *object)
{
	for (uint32_t i = 0; i < count && !d->failed; i++) {
		struct source_place place = {.function = read_string(d)};
		place.path = read_string(d);
		place.line = cursor_u32(&d->at);
		uint32_t flags = cursor_u32(&d->at);
		place.is_inlined = flags & PACK_PLACE_INLINED;
		place.discriminator = flags >> 1;
		d->failed = !vec_push(&object->places, place);
	}
}

static void pack_read_bytes(struct decoder *d, uint32_t count, struct pack_object *object)
{
	(void)object;
	d->code = cursor_bytes(&d->at, count);
}

static void read_codes(struct decoder *d, uint32_t count, struct pack_object *object)
{
	uint64_t free_from = 0;
	for (uint32_t i = 0; i < count && !d->failed; i++) {
		struct pack_code code = {.start = cursor_u64(&d->at)};
		code.code.address = cursor_u64(&d->at);
		uint64_t offset = cursor_u64(&d->at);
		code.code.bytes.len = cursor_u32(&d->at);
		code.code.elf_machine = cursor_u32(&d->at);
		code.code.section = read_string(d);
		code.code.path = read_string(d);
		uint32_t flags = cursor_u32(&d->at);
		cursor_skip(&d->at, sizeof(uint32_t));
		code.code.is_big_endian = flags & PACK_CODE_IS_BIG;
		code.code.is_64 = flags & PACK_CODE_IS_64;
		code.code.has_symtab = flags & PACK_CODE_HAS_SYMTAB;
		if (!code.code.section || code.start < free_from || code.start + code.code.bytes.len < code.start)
			d->at.failed = true;
		free_from = code.start + code.code.bytes.len;
		d->failed = !vec_push(&d->offsets, offset) || !vec_push(&object->codes, code);
	}
}

static void pack_read_names(struct decoder *d, uint32_t count, struct pack_object *object)
{
	uint64_t last = 0;
	for (uint32_t i = 0; i < count && !d->failed; i++) {
		struct pack_name name = {.address = cursor_u64(&d->at)};
		name.name.offset = cursor_u64(&d->at);
		name.name.name = read_string(d);
		name.name.is_plt = cursor_u32(&d->at) != 0;
		if (!name.name.name || (i > 0 && name.address <= last))
			d->at.failed = true;
		last = name.address;
		d->failed = !vec_push(&object->names, name);
	}
}

static void pack_read_dump(struct decoder *d, uint32_t count, struct pack_object *object)
{
	object->dump = cursor_bytes(&d->at, count);
}

static const struct {
	size_t item_bytes;
	void (*read)(struct decoder *d, uint32_t count, struct pack_object *object);
} blocks[] = {
	[PACK_SEGMENTS] = {PACK_SEGMENT_BYTES, pack_read_segments},
	[PACK_SYMBOLS] = {PACK_SYMBOL_BYTES, read_symbols},
	[PACK_RANGES] = {PACK_RANGE_BYTES, read_ranges},
	[PACK_PLACES] = {PACK_PLACE_BYTES, read_places},
	[PACK_BYTES] = {1, pack_read_bytes},
	[PACK_CODES] = {PACK_CODE_BYTES, read_codes},
	[PACK_NAMES] = {PACK_NAME_BYTES, pack_read_names},
	[PACK_DUMP] = {1, pack_read_dump},
};

/* Each kind of block may occur only once. */
static void pack_read_block(struct decoder *d, struct pack_object *object, uint64_t *seen)
{
	uint32_t tag = cursor_u32(&d->at), count = cursor_u32(&d->at);
	uint64_t bytes = cursor_u64(&d->at);
	if (bytes > cursor_left(&d->at)) {
		d->at.failed = true;
		return;
	}
	struct cursor outer = d->at;
	d->at = cursor_sub(&outer, (size_t)bytes);
	if (tag < ARRAY_LEN(blocks) && blocks[tag].read) {
		if (*seen & UINT64_C(1) << tag)
			d->at.failed = true;
		*seen |= UINT64_C(1) << tag;
		if (cursor_count(&d->at, count, blocks[tag].item_bytes))
			blocks[tag].read(d, count, object);
	}
	outer.failed = outer.failed || d->at.failed;
	d->at = outer;
}

static void check_ranges(struct decoder *d, const struct pack_object *object)
{
	for (size_t i = 0; i < object->ranges.len; i++) {
		const struct pack_range *range = &object->ranges.items[i];
		if (range->count > object->places.len || range->first > object->places.len - range->count ||
			range->count > LIMIT_INLINE_DEPTH)
			d->at.failed = true;
	}
}

static void slice_codes(struct decoder *d, struct pack_object *object)
{
	for (size_t i = 0; i < object->codes.len && i < d->offsets.len; i++) {
		struct tally_bytes *bytes = &object->codes.items[i].code.bytes;
		uint64_t offset = d->offsets.items[i];
		if (offset > d->code.len || bytes->len > d->code.len - offset) {
			d->at.failed = true;
			bytes->len = 0;
			continue;
		}
		bytes->data = bytes->len ? d->code.data + offset : NULL;
	}
}

static void read_object(struct decoder *d, struct pack_object *object)
{
	uint64_t bytes = cursor_u64(&d->at), seen = 0;
	if (bytes > cursor_left(&d->at)) {
		d->at.failed = true;
		return;
	}
	struct cursor outer = d->at;
	d->at = cursor_sub(&outer, (size_t)bytes);
	d->code = (struct tally_bytes){0};
	d->offsets.len = 0;
	read_fixed(d, object);
	while (cursor_left(&d->at) >= PACK_BLOCK_HEADER && !d->failed)
		pack_read_block(d, object, &seen);
	check_ranges(d, object);
	slice_codes(d, object);
	outer.failed = outer.failed || d->at.failed;
	d->at = outer;
}

struct pack_read_header {
	uint32_t object_count, string_bytes;
	bool swap;
};

static enum tally_status pack_read_header(
	struct tally_bytes bytes, struct pack_read_header *header, struct tally_error *err)
{
	if (bytes.len < PACK_HEADER_BYTES || memcmp(bytes.data, PACK_MAGIC, PACK_MAGIC_BYTES) != 0)
		return error_set(err, TALLY_CORRUPT, "it is no pack");
	struct cursor c = cursor_make(bytes, false);
	cursor_skip(&c, PACK_MAGIC_BYTES);
	uint32_t order = cursor_u32(&c);
	if (order != PACK_ORDER && order != __builtin_bswap32(PACK_ORDER))
		return error_set(err, TALLY_CORRUPT, "its byte order is unknown");
	header->swap = c.swap = order != PACK_ORDER;
	uint32_t version = cursor_u32(&c);
	if (version != PACK_VERSION)
		return error_set(err, TALLY_UNSUPPORTED, "it is of version %u, this tally reads %u", version,
			(unsigned)PACK_VERSION);
	uint64_t total = cursor_u64(&c);
	uint32_t sum = cursor_u32(&c);
	header->object_count = cursor_u32(&c);
	header->string_bytes = cursor_u32(&c);
	if (total > bytes.len || total < PACK_HEADER_BYTES || header->string_bytes > total - PACK_HEADER_BYTES)
		return error_set(err, TALLY_CORRUPT, "it is cut");
	size_t len = (size_t)total - PACK_SUMMED_FROM;
	if (checksum_crc32((struct tally_bytes){bytes.data + PACK_SUMMED_FROM, len}) != sum)
		return error_set(err, TALLY_CORRUPT, "its checksum is wrong");
	return TALLY_OK;
}

enum tally_status pack_open(struct tally_bytes bytes, struct pack **out, struct tally_error *err)
{
	struct pack_read_header header = {0};
	enum tally_status status = pack_read_header(bytes, &header, err);
	if (status != TALLY_OK)
		return status;
	struct decoder d = {.at = cursor_make(bytes, header.swap)};
	cursor_skip(&d.at, PACK_HEADER_BYTES);
	d.strings = cursor_bytes(&d.at, header.string_bytes);
	if (d.strings.len == 0 || d.strings.data[d.strings.len - 1] != 0)
		return error_set(err, TALLY_CORRUPT, "its strings do not end");
	struct pack *pack = calloc(1, sizeof(*pack));
	if (!pack)
		return error_nomem(err);
	bool fits = cursor_count(&d.at, header.object_count, PACK_OBJECT_BYTES);
	for (uint32_t i = 0; i < header.object_count && fits && !d.at.failed && !d.failed; i++) {
		struct pack_object object = {0};
		read_object(&d, &object);
		if (!vec_push(&pack->objects, object)) {
			pack_object_deinit(&object);
			d.failed = true;
		}
	}
	vec_free(&d.offsets);
	if (!d.failed && !d.at.failed) {
		*out = pack;
		return TALLY_OK;
	}
	pack_close(pack);
	return d.failed ? error_nomem(err) : error_set(err, TALLY_CORRUPT, "its sections contradict each other");
}

void pack_close(struct pack *pack)
{
	if (!pack)
		return;
	for (size_t i = 0; i < pack->objects.len; i++)
		pack_object_deinit(&pack->objects.items[i]);
	vec_free(&pack->objects);
	free(pack);
}

void pack_object_deinit(struct pack_object *object)
{
	vec_free(&object->segments);
	vec_free(&object->symbols);
	vec_free(&object->ranges);
	vec_free(&object->places);
	vec_free(&object->codes);
	vec_free(&object->names);
}

size_t pack_count(const struct pack *pack)
{
	return pack->objects.len;
}

const struct pack_object *pack_get(const struct pack *pack, size_t index)
{
	return &pack->objects.items[index];
}

/* Files without a build ID are compared by inode. Old packs, and recordings of old kernels, have only the path. */
static bool pack_read_is_same_file(const struct binary_key *a, const struct binary_key *b)
{
	return a->build_id_size > 0 || a->inode == 0 || b->inode == 0 ||
	       (a->inode == b->inode && a->major == b->major && a->minor == b->minor &&
		       (uint32_t)a->generation == (uint32_t)b->generation);
}

const struct pack_object *pack_find(const struct pack *pack, const struct binary_key *key)
{
	for (size_t i = 0; i < pack->objects.len; i++) {
		const struct binary_key *has = &pack->objects.items[i].key;
		if (has->kind == key->kind && str_equal(has->path, key->path) && str_equal(has->file, key->file) &&
			has->build_id_size == key->build_id_size &&
			memcmp(has->build_id, key->build_id, key->build_id_size) == 0 &&
			pack_read_is_same_file(has, key) &&
			((key->kind != BINARY_PERF_MAP && key->kind != BINARY_JITDUMP) || has->pid == key->pid))
			return &pack->objects.items[i];
	}
	return NULL;
}

_Static_assert(offsetof(struct pack_range, start) == 0 && offsetof(struct pack_code, start) == 0, "they begin with it");
static uint64_t pack_read_start(const char *item)
{
	uint64_t start;
	memcpy(&start, item, sizeof(start));
	return start;
}

/* Returns the number of items, which are sorted by start, that start at or before the address. */
static size_t count_begun(const void *items, size_t count, size_t size, uint64_t address)
{
	size_t low;
	LOWER_BOUND(low, count, middle, pack_read_start((const char *)items + middle * size) <= address);
	return low;
}

const struct pack_range *pack_range_find(const struct pack_object *object, uint64_t address)
{
	size_t begun = count_begun(object->ranges.items, object->ranges.len, sizeof(*object->ranges.items), address);
	const struct pack_range *range = begun ? &object->ranges.items[begun - 1] : NULL;
	return range && address - range->start < range->size ? range : NULL;
}

bool pack_code_find(const struct pack_object *object, uint64_t start, uint64_t end, struct binary_code *code)
{
	size_t begun = count_begun(object->codes.items, object->codes.len, sizeof(*object->codes.items), start);
	const struct pack_code *packed = begun ? &object->codes.items[begun - 1] : NULL;
	uint64_t inside = packed ? start - packed->start : 0;
	if (!packed || inside >= packed->code.bytes.len || end <= start)
		return false;
	uint64_t left = packed->code.bytes.len - inside;
	*code = packed->code;
	code->address += inside;
	code->bytes.data += inside;
	code->bytes.len = (size_t)MIN(end - start, left);
	return true;
}

const struct binary_name *pack_name_find(const struct pack_object *object, uint64_t address)
{
	size_t low, count = object->names.len;
	LOWER_BOUND(low, count, middle, object->names.items[middle].address < address);
	bool has_it = low < count && object->names.items[low].address == address;
	return has_it ? &object->names.items[low].name : NULL;
}
