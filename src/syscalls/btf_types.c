/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/btf_types.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/map_u64.h"
#include "base/vec.h"

#define BTF_MAGIC	  0xeb9f
#define BTF_TYPE_BYTES	  12
#define BTF_NESTED_MOST	  8 /* Maximum depth of nested structs that are printed. */
#define BTF_CHAIN_MOST	  32 /* Maximum length of a chain of typedefs and qualifiers. */
#define BTF_ELEMENTS_MOST 16 /* Maximum number of array elements that are printed. */
#define BTF_DAMAGED	  UINT32_MAX

enum btf_kind {
	BTF_INT = 1,
	BTF_PTR,
	BTF_ARRAY,
	BTF_STRUCT,
	BTF_UNION,
	BTF_ENUM,
	BTF_FWD,
	BTF_TYPEDEF,
	BTF_VOLATILE,
	BTF_CONST,
	BTF_RESTRICT,
	BTF_FUNC,
	BTF_FUNC_PROTO,
	BTF_VAR,
	BTF_DATASEC,
	BTF_FLOAT,
	BTF_DECL_TAG,
	BTF_TYPE_TAG,
	BTF_ENUM64
};

struct btf_types {
	struct tally_bytes types, strings;
	VEC(uint32_t) offsets; /* Offset in types of the type with ID i + 1; type 0 is void, and has no offset. */
	struct map_u64 by_name; /* Maps the hash of a name to the first struct, union or enum of that name. */
};

struct btf_type {
	struct tally_str name;
	enum btf_kind kind;
	uint32_t members, size; /* For kinds without a size, size is the ID of the type that it refers to. */
	bool flag;
	struct tally_bytes rest; /* The data after the type's head. */
};

struct btf_member {
	struct tally_str name;
	uint32_t type, bit, bits; /* bits is 0 if the member is not a bit-field. */
};

struct btf_printer {
	const struct btf_types *types;
	struct tally_bytes bytes;
	struct text *t;
	bool with_names, with_zeros;
	unsigned depth;
};

/* ---- reading ---- */

static struct tally_str btf_string(const struct btf_types *b, uint32_t offset)
{
	struct tally_bytes rest = bytes_part(b->strings, offset, SIZE_MAX);
	const uint8_t *end = rest.len ? memchr(rest.data, 0, rest.len) : NULL;
	if (!end)
		return STR("");
	return (struct tally_str){(const char *)rest.data, (size_t)(end - rest.data)};
}

/* Returns the size of the data after a type's head; BTF_DAMAGED if the kind is unknown. */
static uint32_t btf_rest_bytes(uint32_t info)
{
	uint32_t members = info & 0xffff;
	switch (info >> 24 & 0x1f) {
	case BTF_INT:
	case BTF_VAR:
	case BTF_DECL_TAG:
		return 4;
	case BTF_ARRAY:
		return 12;
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_DATASEC:
	case BTF_ENUM64:
		return 12 * members;
	case BTF_ENUM:
	case BTF_FUNC_PROTO:
		return 8 * members;
	case BTF_PTR:
	case BTF_FWD:
	case BTF_TYPEDEF:
	case BTF_VOLATILE:
	case BTF_CONST:
	case BTF_RESTRICT:
	case BTF_FUNC:
	case BTF_FLOAT:
	case BTF_TYPE_TAG:
		return 0;
	default:
		return BTF_DAMAGED;
	}
}

static bool btf_get(const struct btf_types *b, uint32_t id, struct btf_type *type)
{
	if (id == 0 || id > b->offsets.len)
		return false;
	struct cursor c = cursor_make(bytes_part(b->types, b->offsets.items[id - 1], SIZE_MAX), false);
	uint32_t name = cursor_u32(&c), info = cursor_u32(&c), size = cursor_u32(&c), rest = btf_rest_bytes(info);
	*type = (struct btf_type){btf_string(b, name), (enum btf_kind)(info >> 24 & 0x1f), info & 0xffff, size,
		(info & UINT32_C(1) << 31) != 0, {0}};
	type->rest = cursor_bytes(&c, rest == BTF_DAMAGED ? 0 : rest);
	return !c.failed;
}

/* Skips typedefs and qualifiers. */
static bool btf_get_plain(const struct btf_types *b, uint32_t id, struct btf_type *type)
{
	for (unsigned i = 0; i < BTF_CHAIN_MOST; i++) {
		if (!btf_get(b, id, type))
			return false;
		if (type->kind != BTF_TYPEDEF && type->kind != BTF_VOLATILE && type->kind != BTF_CONST &&
			type->kind != BTF_RESTRICT && type->kind != BTF_TYPE_TAG)
			return true;
		id = type->size;
	}
	return false;
}

static bool btf_index(struct btf_types *b)
{
	struct cursor c = cursor_make(b->types, false);
	while (cursor_left(&c) >= BTF_TYPE_BYTES) {
		uint32_t offset = (uint32_t)(b->types.len - cursor_left(&c));
		struct tally_str name = btf_string(b, cursor_u32(&c));
		uint32_t info = cursor_u32(&c), kind = info >> 24 & 0x1f, rest = btf_rest_bytes(info);
		bool is_new = false;
		cursor_skip(&c, 4);
		if (rest == BTF_DAMAGED)
			break; /* The kind is of a later version of BTF; the types before it remain usable. */
		cursor_skip(&c, rest);
		if (c.failed)
			break;
		if (!vec_push(&b->offsets, offset))
			return false;
		if (!name.len || (kind != BTF_STRUCT && kind != BTF_UNION && kind != BTF_ENUM && kind != BTF_ENUM64))
			continue;
		uint64_t *id = map_u64_at(&b->by_name, bytes_hash(name.data, name.len), &is_new);
		if (!id)
			return false;
		if (is_new)
			*id = b->offsets.len;
	}
	return true;
}

enum tally_status btf_types_open(struct tally_bytes bytes, struct btf_types **types, struct tally_error *err)
{
	struct cursor c = cursor_make(bytes, false);
	uint16_t magic = cursor_u16(&c);
	uint8_t version = cursor_u8(&c);
	cursor_skip(&c, 1);
	uint32_t header = cursor_u32(&c), type_offset = cursor_u32(&c), type_bytes = cursor_u32(&c);
	uint32_t string_offset = cursor_u32(&c), string_bytes = cursor_u32(&c);
	if (c.failed || magic != BTF_MAGIC || version != 1)
		return error_set(err, TALLY_CORRUPT, "the kernel's types are not BTF of version 1 in this byte order");
	struct btf_types *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	struct tally_bytes body = bytes_part(bytes, header, SIZE_MAX);
	made->types = bytes_part(body, type_offset, type_bytes);
	made->strings = bytes_part(body, string_offset, string_bytes);
	if (!btf_index(made)) {
		btf_types_close(made);
		return error_nomem(err);
	}
	*types = made;
	return TALLY_OK;
}

void btf_types_close(struct btf_types *types)
{
	if (!types)
		return;
	vec_free(&types->offsets);
	map_u64_deinit(&types->by_name);
	free(types);
}

static bool btf_find(const struct btf_types *b, struct tally_str name, struct btf_type *type)
{
	uint64_t id;
	return map_u64_find(&b->by_name, bytes_hash(name.data, name.len), &id) && btf_get(b, (uint32_t)id, type) &&
	       str_equal(type->name, name);
}

size_t btf_types_size(const struct btf_types *types, struct tally_str name)
{
	struct btf_type type;
	bool found = btf_find(types, name, &type) && (type.kind == BTF_STRUCT || type.kind == BTF_UNION);
	return found ? type.size : 0;
}

static struct tally_str btf_enumerator(const struct btf_types *b, const struct btf_type *type, int64_t value)
{
	struct cursor c = cursor_make(type->rest, false);
	for (uint32_t i = 0; i < type->members; i++) {
		uint32_t name = cursor_u32(&c), low = cursor_u32(&c),
			 high = type->kind == BTF_ENUM64 ? cursor_u32(&c) : 0;
		int64_t known = type->kind == BTF_ENUM64 ? (int64_t)((uint64_t)high << 32 | low) : (int32_t)low;
		if (!c.failed && (known == value || (type->kind == BTF_ENUM && low == (uint64_t)value)))
			return btf_string(b, name);
	}
	return (struct tally_str){0};
}

const char *btf_types_enumerator(const struct btf_types *types, struct tally_str enum_name, int64_t value)
{
	struct btf_type type;
	if (!btf_find(types, enum_name, &type) || (type.kind != BTF_ENUM && type.kind != BTF_ENUM64))
		return NULL;
	return btf_enumerator(types, &type, value).data; /* Strings in BTF end with a NUL. */
}

/* ---- printing ---- */

static uint64_t btf_bits(struct tally_bytes bytes, uint64_t bit, uint32_t bits)
{
	uint64_t value = 0;
	for (uint32_t i = 0; i < bits && i < 64; i++) {
		uint64_t at = bit + i;
		if (at / 8 < bytes.len)
			value |= (uint64_t)(bytes.data[at / 8] >> at % 8 & 1) << i;
	}
	return value;
}

static bool btf_is_zero(const struct btf_printer *p, uint64_t bit, uint64_t bits)
{
	if (bit % 8 || bits % 8)
		return btf_bits(p->bytes, bit, (uint32_t)bits) == 0;
	for (uint64_t i = bit / 8; i < (bit + bits) / 8 && i < p->bytes.len; i++)
		if (p->bytes.data[i])
			return false;
	return true;
}

static uint64_t btf_bits_of(const struct btf_types *b, uint32_t id)
{
	struct btf_type type;
	uint64_t count = 1;
	for (unsigned i = 0; i < BTF_CHAIN_MOST; i++) {
		if (!btf_get_plain(b, id, &type))
			return 0;
		if (type.kind != BTF_ARRAY)
			return count * 8 * (type.kind == BTF_PTR ? sizeof(void *) : type.size);
		struct cursor c = cursor_make(type.rest, false);
		id = cursor_u32(&c);
		cursor_skip(&c, 4);
		if (__builtin_mul_overflow(count, (uint64_t)cursor_u32(&c), &count) || count > UINT32_MAX)
			return 0;
	}
	return 0;
}

static void btf_print_value(struct btf_printer *p, uint32_t id, uint64_t bit, uint32_t bits);

static void btf_print_members(struct btf_printer *p, const struct btf_type *type, uint64_t bit)
{
	struct cursor c = cursor_make(type->rest, false);
	bool has_some = false;
	text_char(p->t, '{');
	for (uint32_t i = 0; i < type->members; i++) {
		struct btf_member m = {.name = btf_string(p->types, cursor_u32(&c))};
		m.type = cursor_u32(&c);
		m.bit = cursor_u32(&c);
		if (type->flag) {
			m.bits = m.bit >> 24;
			m.bit &= 0xffffff;
		}
		uint64_t bits = m.bits ? m.bits : btf_bits_of(p->types, m.type);
		if (c.failed || bit + m.bit + bits > (uint64_t)p->bytes.len * 8)
			break;
		if (!p->with_zeros && btf_is_zero(p, bit + m.bit, bits))
			continue;
		if (p->with_names) {
			text_str(p->t, has_some ? ", " : " ");
			if (m.name.len) {
				text_char(p->t, '.');
				text_visible(p->t, m.name);
				text_str(p->t, ": ");
			}
		}
		has_some = true;
		btf_print_value(p, m.type, bit + m.bit, m.bits);
		if (!p->with_names)
			text_char(p->t, ',');
		if (type->kind == BTF_UNION)
			break; /* The other members share the same bytes. */
	}
	text_str(p->t, p->with_names && has_some ? " }" : "}");
}

static void btf_print_array(struct btf_printer *p, const struct btf_type *type, uint64_t bit)
{
	struct cursor c = cursor_make(type->rest, false);
	uint32_t element = cursor_u32(&c), index = cursor_u32(&c), count = cursor_u32(&c);
	uint64_t bits = btf_bits_of(p->types, element);
	struct btf_type plain;
	(void)index;
	if (btf_get_plain(p->types, element, &plain) && plain.kind == BTF_INT && plain.size == 1) {
		struct tally_bytes text = bytes_part(p->bytes, bit / 8, count);
		const uint8_t *end = text.len ? memchr(text.data, 0, text.len) : NULL;
		text_char(p->t, '"');
		text_visible(
			p->t, (struct tally_str){(const char *)text.data, end ? (size_t)(end - text.data) : text.len});
		text_char(p->t, '"');
		return;
	}
	text_char(p->t, '[');
	for (uint32_t i = 0; bits && i < count && i < BTF_ELEMENTS_MOST; i++) {
		if (i)
			text_str(p->t, p->with_names ? ", " : ",");
		btf_print_value(p, element, bit + i * bits, 0);
	}
	text_str(p->t, count > BTF_ELEMENTS_MOST ? ", ...]" : "]");
}

static void btf_print_number(struct btf_printer *p, const struct btf_type *type, uint64_t bit, uint32_t bits)
{
	uint32_t width = bits ? bits : MIN(type->size, UINT32_C(8)) * 8;
	uint64_t value = btf_bits(p->bytes, bit, width);
	struct cursor c = cursor_make(type->rest, false);
	bool is_signed = type->kind == BTF_INT ? cursor_u32(&c) >> 24 & 1 : type->flag;
	int64_t number = (int64_t)value;
	if (is_signed && width < 64 && value >> (width - 1) & 1)
		number = (int64_t)(value | ~UINT64_C(0) << width);
	if (type->kind == BTF_ENUM || type->kind == BTF_ENUM64) {
		struct tally_str name = btf_enumerator(p->types, type, number);
		if (name.len) {
			text_visible(p->t, name);
			return;
		}
	}
	if (is_signed)
		text_i64(p->t, number);
	else
		text_u64(p->t, value);
}

static void btf_print_value(struct btf_printer *p, uint32_t id, uint64_t bit, uint32_t bits)
{
	struct btf_type type;
	if (p->depth >= BTF_NESTED_MOST || !btf_get_plain(p->types, id, &type)) {
		text_str(p->t, "...");
		return;
	}
	p->depth++;
	switch (type.kind) {
	case BTF_STRUCT:
	case BTF_UNION:
		btf_print_members(p, &type, bit);
		break;
	case BTF_ARRAY:
		btf_print_array(p, &type, bit);
		break;
	case BTF_INT:
	case BTF_ENUM:
	case BTF_ENUM64:
		btf_print_number(p, &type, bit, bits);
		break;
	case BTF_PTR:
		text_str(p->t, "0x");
		text_hex(p->t, btf_bits(p->bytes, bit, sizeof(void *) * 8), 1);
		break;
	case BTF_FWD:
	case BTF_TYPEDEF:
	case BTF_VOLATILE:
	case BTF_CONST:
	case BTF_RESTRICT:
	case BTF_FUNC:
	case BTF_FUNC_PROTO:
	case BTF_VAR:
	case BTF_DATASEC:
	case BTF_FLOAT:
	case BTF_DECL_TAG:
	case BTF_TYPE_TAG:
		text_str(p->t, "...");
		break;
	}
	p->depth--;
}

bool btf_types_print(const struct btf_types *types, struct tally_str name, struct tally_bytes bytes, bool with_names,
	bool with_zeros, struct text *t)
{
	struct btf_type type;
	struct btf_printer p = {types, bytes, t, with_names, with_zeros, 0};
	if (!btf_find(types, name, &type) || (type.kind != BTF_STRUCT && type.kind != BTF_UNION))
		return false;
	btf_print_members(&p, &type, 0);
	return true;
}
