/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_value.h - follows members, elements and pointers from a variable at a place to the value that a probe's
 * argument names, and writes it in the kernel's syntax.
 *
 * A value borrows from the reader and its arenas. Every error has a sentence in err.
 *
 *	probe_value_begin(&reader, &variable, &value);
 *	for (size_t i = 0; i < argument->field_count; i++)
 *		probe_value_step(&reader, &value, &argument->fields[i], err);
 *	probe_value_print(&reader, &value, argument->type, &fetch, err);
 */
#ifndef CODE_PROBING_PROBE_VALUE_H
#define CODE_PROBING_PROBE_VALUE_H

#include "code/probing/probe_location.h"
#include "code/probing/probe_symbols.h"
#include "code/probing/probe_text.h"

/* Reads the values of variables at one place. */
struct probe_reader {
	struct probe_binary *binary;
	struct probe_locator locator;
	struct dwarf_types *types; /* Types of the binary, shared by all places. */
	struct probe_fetches *fetches; /* Texts and notes are allocated in its arena. */
	const struct probe_symbols *symbols; /* NULL if not read yet. */
	bool is_user; /* Values are in user memory, in a probe of the kernel. */
	bool has_dots; /* '.' accesses members through a pointer, too, as in Rust. */
};

struct probe_value {
	struct probe_location location;
	const struct dwarf_type *type; /* NULL if not known, or void. */
	uint32_t dimension; /* Number of dimensions of a multidimensional array that have been indexed already. */
	uint64_t skipped; /* Offset in bytes into a value that is not in memory. */
	uint64_t first_bit; /* First bit of a bit-field, from the value's first bit. */
	uint32_t bits; /* Number of bits of a bit-field; 0 if it is none. */
	const struct dwarf_type *record; /* Record of which it is a member; NULL if none. */
	const char *variable; /* Name of the variable. */
	const char *name; /* Name of the variable or of the last member. */
};

TALLY_MUST_CHECK enum tally_status probe_value_begin(struct probe_reader *reader,
	const struct dwarf_scope_variable *variable, struct probe_value *value, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status probe_value_step(struct probe_reader *reader, struct probe_value *value,
	const struct probe_field *field, struct tally_error *err);
/* Sets text and type of fetch. cast is the type that the user requests; empty means the type in the program. */
TALLY_MUST_CHECK enum tally_status probe_value_print(struct probe_reader *reader, struct probe_value *value,
	struct tally_str cast, struct probe_fetch *fetch, struct tally_error *err);
/* Sets text and, unless cast is given, type of a fetch for the result of a function at its return, "$retval". The
 * parameter type is the type of the result; NULL if not known. */
TALLY_MUST_CHECK enum tally_status probe_result_print(struct probe_reader *reader, const struct dwarf_type *type,
	struct tally_str cast, struct probe_fetch *fetch, struct tally_error *err);
/* Finds the address in binary->image of the symbol of a variable; the symbol may have a version, which name lacks.
 * Returns false if there is none. */
bool probe_symbol_find(struct probe_reader *reader, struct tally_str name, uint64_t *address);
/* Returns the text that follows "@" in a uprobe's fetch argument for an address in binary->image: the address relative
 * to that at which the segment of the probed place would map file offset 0, such as "+0x4010" or "+-0x10". NULL: out of
 * memory. */
const char *probe_file_distance(struct probe_reader *reader, uint64_t address);
/* Returns the symbol that contains an address in binary->image; NULL if none. */
const struct probe_symbol *probe_symbol_around(struct probe_reader *reader, uint64_t address);

/* Replaces a C++ reference to a number, pointer or array by its target; a reference to a record stays the record's
 * address. */
TALLY_MUST_CHECK enum tally_status probe_value_name_referent(
	struct probe_reader *reader, struct probe_value *value, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status probe_value_dereference(
	struct probe_reader *reader, struct probe_value *value, struct tally_error *err);
/* Reduces the location to one chain, which locates the value's first bytes; the parameter bytes is their number.
 * UNSUPPORTED: they are in several places. NOT_FOUND: they were optimised out. */
TALLY_MUST_CHECK enum tally_status probe_value_reduce(
	struct probe_reader *reader, struct probe_value *value, uint64_t bytes, struct tally_error *err);

#endif
