/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_type.h - describes the types in a program's debug information: names as in C, sizes, members.
 *
 * The caller owns the types, and calls dwarf_types_deinit before it closes the files. A type is read once, when it is
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
	DWARF_TYPE_SCALAR, /* Types without parts: numbers, enumerations. */
	DWARF_TYPE_POINTER, /* Pointers and references. */
	DWARF_TYPE_RECORD, /* Structures, classes and unions. */
	DWARF_TYPE_ARRAY,
	DWARF_TYPE_ALIAS, /* typedef */
	DWARF_TYPE_QUALIFIED, /* Types with const, volatile and so on. */
	DWARF_TYPE_FUNCTION
};

/* Reference to an entry; file is NULL if there is none. */
struct dwarf_reference {
	const struct dwarf_file *file;
	uint64_t entry;
};

struct dwarf_member {
	const char *name; /* "flags:3" for a bit-field; "" for an unnamed member or a base class. */
	const struct dwarf_type *type; /* NULL if it cannot be read. */
	uint64_t offset, size;
	uint64_t first_bit; /* First bit of a bit-field, from the record's first bit. */
	uint32_t bits; /* Number of bits of a bit-field; 0 if it is none. */
	bool is_base; /* The member is a base class. */
	bool is_computed; /* Its offset is computed at run time (virtual base classes). */
};

struct dwarf_type {
	enum dwarf_type_kind kind;
	uint32_t tag;
	struct dwarf_reference at, points_to; /* points_to is the target, element or aliased type. */
	struct tally_str own_name;
	uint64_t byte_size; /* 0 if not known. */
	uint64_t element_count; /* Number of elements of an array; 0 if not known. */
	/* Number of elements in each dimension of a multidimensional array, outermost first. */
	const uint64_t *dimensions;
	uint32_t dimension_count;
	uint8_t encoding; /* DW_ATE_* of a base type; 0 if not known. */
	/* The members from name to has_members are set when they are first needed. */
	const char *name;
	const struct dwarf_type *target;
	const struct dwarf_member *members;
	size_t member_count;
	bool has_target, has_members;
	bool is_declared_only; /* It is a declaration: its members are in another entry. */
};

struct dwarf_types {
	struct dwarf_reader reader;
	struct arena arena;
	VEC(const struct dwarf_file *) files;
	struct map_u64 by_entry; /* Maps index in files << 48 | entry to struct dwarf_type *. */
	bool out_of_memory;
};

/* Returns the entry to which a value refers, also for a type unit; file is NULL if there is none. */
struct dwarf_reference dwarf_reference_of(const struct dwarf_walk *walk, const struct dwarf_value *value);
void dwarf_types_init(struct dwarf_types *types);
void dwarf_types_deinit(struct dwarf_types *types);
/* Returns the type at an entry. NULL: the entry is not a type, or memory ran out (types->out_of_memory). */
const struct dwarf_type *dwarf_type_at(struct dwarf_types *types, struct dwarf_reference at);
/* Finds the definition of a declared record: one with the same name outside namespaces, in any unit of its file or of
 * its supplement. NULL: there is none, or the file is too large to be searched. */
const struct dwarf_type *dwarf_type_definition(struct dwarf_types *types, const struct dwarf_type *type);
/* Returns the type that it points to, consists of or stands for; NULL for void, or if it cannot be read. */
const struct dwarf_type *dwarf_type_target(struct dwarf_types *types, const struct dwarf_type *type);
/* Returns the type without typedefs and qualifiers; NULL for void. */
const struct dwarf_type *dwarf_type_plain(struct dwarf_types *types, const struct dwarf_type *type);
/* Returns the name as perf shows it: "struct node*", "char[]"; "void" if type is NULL. It lives as long as types. */
const char *dwarf_type_name(struct dwarf_types *types, const struct dwarf_type *type);
uint64_t dwarf_type_size(struct dwarf_types *types, const struct dwarf_type *type);
/* Returns the members of a record, in their order. */
const struct dwarf_member *dwarf_type_members(struct dwarf_types *types, const struct dwarf_type *type, size_t *count);
/* Reads DW_AT_type of an entry (a variable, a function), or of its abstract entry or declaration. */
bool dwarf_entry_type(struct dwarf_reader *reader, struct dwarf_reference of, struct dwarf_reference *type);

#endif
