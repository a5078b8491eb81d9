/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_type.h - describes the types in a program's debug information: names as in C, sizes, members.
 *
 * The caller owns the types (dwarf_types_deinit) and keeps the files open meanwhile. A type is read once, when it is
 * first needed, and so are its members and its target. One thread.
 *
 * Bad input: a damaged type has no members and no target; chains of types end at a limit.
 *
 *	const struct dwarf_type *type = dwarf_type_at(&types, reference);
 *	printf("%s is %" PRIu64 " bytes", dwarf_type_name(&types, type), dwarf_type_size(&types, type));
 */
#ifndef OBJECT_DWARF_DWARF_TYPE_H
#define OBJECT_DWARF_DWARF_TYPE_H

#include "object/dwarf/dwarf_entry.h"

enum dwarf_type_kind {
	DWARF_TYPE_SCALAR, /* what has no parts: numbers, enumerations */
	DWARF_TYPE_POINTER, /* and references */
	DWARF_TYPE_RECORD, /* struct, class, union */
	DWARF_TYPE_ARRAY,
	DWARF_TYPE_ALIAS, /* typedef */
	DWARF_TYPE_QUALIFIED, /* const and the like */
	DWARF_TYPE_FUNCTION
};

struct dwarf_reference { /* an entry; file NULL: none */
	const struct dwarf_file *file;
	uint64_t entry;
};

struct dwarf_member {
	const char *name; /* "flags:3" of a bit-field; "" of what has none, and of a base class */
	const struct dwarf_type *type; /* NULL: not readable */
	uint64_t offset, size;
	uint64_t first_bit; /* of a bit-field: from the record's first bit */
	uint32_t bits; /* of a bit-field; 0: it is none */
	bool is_base; /* it is a base class */
	bool is_computed; /* its offset is found when the program runs (virtual base classes) */
};

struct dwarf_type {
	enum dwarf_type_kind kind;
	uint32_t tag;
	struct dwarf_reference at, points_to; /* points_to: the target, element or aliased type */
	struct tally_str own_name;
	uint64_t byte_size; /* 0: not said */
	uint64_t element_count; /* of an array; 0: not said */
	const uint64_t *dimensions; /* of an array with several: elements in each, outermost first */
	uint32_t dimension_count;
	uint8_t encoding; /* DW_ATE_* of a base type; 0: not said */
	/* They are made on demand. */
	const char *name;
	const struct dwarf_type *target;
	const struct dwarf_member *members;
	size_t member_count;
	bool has_target, has_members;
	bool is_declared_only; /* its members are in another unit */
};

struct dwarf_types {
	struct dwarf_reader reader;
	struct arena arena;
	VEC(const struct dwarf_file *) files;
	struct map_u64 by_entry; /* index in files << 48 | entry -> struct dwarf_type * */
	bool out_of_memory;
};

/* The entry that a value refers to, of a type with a unit of its own too; file NULL: none. */
struct dwarf_reference dwarf_reference_of(const struct dwarf_walk *walk, const struct dwarf_value *value);
void dwarf_types_init(struct dwarf_types *types);
void dwarf_types_deinit(struct dwarf_types *types);
/* NULL: it is not the entry of a type, or types->out_of_memory. */
const struct dwarf_type *dwarf_type_at(struct dwarf_types *types, struct dwarf_reference at);
/* The record that a declared one stands for: of the same name outside namespaces, in any unit of its file and of its supplement. NULL: none,
 * or the file is too large to be searched. */
const struct dwarf_type *dwarf_type_definition(struct dwarf_types *types, const struct dwarf_type *type);
/* What it points to, is made of or stands for; NULL: nothing (void), or not readable. */
const struct dwarf_type *dwarf_type_target(struct dwarf_types *types, const struct dwarf_type *type);
/* Without typedefs and qualifiers; NULL: void. */
const struct dwarf_type *dwarf_type_plain(struct dwarf_types *types, const struct dwarf_type *type);
/* As perf writes it: "struct node*", "char[]"; type NULL: "void". Lives as long as the types. */
const char *dwarf_type_name(struct dwarf_types *types, const struct dwarf_type *type);
uint64_t dwarf_type_size(struct dwarf_types *types, const struct dwarf_type *type);
/* Of a record, in its order. */
const struct dwarf_member *dwarf_type_members(struct dwarf_types *types, const struct dwarf_type *type, size_t *count);
/* The type that an entry (a variable, a function's return) says it has, or what it is an instance of says. */
bool dwarf_entry_type(struct dwarf_reader *reader, struct dwarf_reference of, struct dwarf_reference *type);

#endif
