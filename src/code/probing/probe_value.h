/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_value.h - follows members, elements and pointers from a variable at a place to the value that an argument of a
 * probe names, and writes it in the kernel's words.
 *
 * A value borrows the reader and its arenas. Every failure is a sentence in err.
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

struct probe_reader { /* of one place */
	struct probe_binary *binary;
	struct probe_locator locator;
	struct dwarf_types *types; /* of the binary: read once for all places */
	struct probe_fetches *fetches; /* texts and notes lie in its arena */
	const struct probe_symbols *symbols; /* NULL: not read yet */
	bool is_user; /* memory is that of user space, in a probe of the kernel */
	bool has_dots; /* '.' reaches members through a pointer too, as in Rust */
};

struct probe_value {
	struct probe_location location;
	const struct dwarf_type *type; /* NULL: not known, or void */
	uint32_t dimension; /* of an array with several: those that are behind it already */
	uint64_t skipped; /* bytes into what does not lie in memory */
	uint64_t first_bit; /* of a bit-field, from the value's first bit */
	uint32_t bits; /* of a bit-field; 0: it is none */
	const struct dwarf_type *record; /* whose member it is; NULL: of none */
	const char *variable; /* its name */
	const char *name; /* of the variable or of the last member */
};

TALLY_MUST_CHECK enum tally_status probe_value_begin(struct probe_reader *reader,
	const struct dwarf_scope_variable *variable, struct probe_value *value, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status probe_value_step(struct probe_reader *reader, struct probe_value *value,
	const struct probe_field *field, struct tally_error *err);
/* cast: the type that the user wants; empty: the one of the program. Fills text and type. */
TALLY_MUST_CHECK enum tally_status probe_value_print(struct probe_reader *reader, struct probe_value *value,
	struct tally_str cast, struct probe_fetch *fetch, struct tally_error *err);
/* The result of a function at its return, "$retval", of this type (NULL: not known). Fills text, and type where there is
 * no cast. */
TALLY_MUST_CHECK enum tally_status probe_result_print(struct probe_reader *reader, const struct dwarf_type *type,
	struct tally_str cast, struct probe_fetch *fetch, struct tally_error *err);
/* The address of a variable's symbol, as the image has it; false: there is none. */
bool probe_symbol_find(struct probe_reader *reader, struct tally_str name, uint64_t *address);
/* What a probe of a program fetches from an address: its distance in the file, as "+0x4010" or "+-0x10". NULL: out of
 * memory. */
const char *probe_file_distance(struct probe_reader *reader, uint64_t address);
/* The symbol whose data has the address; NULL: none has. */
const struct probe_symbol *probe_symbol_around(struct probe_reader *reader, uint64_t address);

/* Steps that printing needs too. */
/* A reference (of C++) to a number, pointer or array becomes that; one to a record stays the record's address. */
TALLY_MUST_CHECK enum tally_status probe_value_name_referent(
	struct probe_reader *reader, struct probe_value *value, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status probe_value_dereference(
	struct probe_reader *reader, struct probe_value *value, struct tally_error *err);
/* Leaves one chain: the place of the value's first bytes. */
TALLY_MUST_CHECK enum tally_status probe_value_reduce(
	struct probe_reader *reader, struct probe_value *value, uint64_t bytes, struct tally_error *err);

#endif
