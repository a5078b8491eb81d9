/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_access.h - describes the data that an instruction accesses, according to debug information: the type of the
 * object and the offset in it. Plain data; names live as long as the store that gave them.
 */
#ifndef CODE_DATA_ACCESS_H
#define CODE_DATA_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

struct dwarf_type;

enum data_access_kind {
	DATA_ACCESS_NO_INSTRUCTION, /* the code is not there, or none begins at the address */
	DATA_ACCESS_NO_MEMORY, /* it accesses none */
	DATA_ACCESS_NO_DEBUG_INFO,
	DATA_ACCESS_NO_FUNCTION, /* debug information does not have the function */
	DATA_ACCESS_NO_VARIABLE, /* nothing is known of the values that it uses */
	DATA_ACCESS_NO_TYPE, /* no type is known for the memory that they point to */
	DATA_ACCESS_BAD_OFFSET, /* outside of the object */
	DATA_ACCESS_STACK, /* push, pop, call, return */
	DATA_ACCESS_TYPED
};

struct data_access {
	enum data_access_kind kind;
	unsigned
		back_bytes; /* to the instruction that accesses: one before, which the CPU runs as one with it; 0: itself */
	bool is_followed; /* found by following values through the code */
	/* Where typed. */
	const struct dwarf_type *type;
	const char *type_name; /* "struct node" */
	uint64_t size, offset;
	const char *field; /* "in.c"; NULL: there is none at the offset */
};

struct data_field { /* a row of a type's layout */
	unsigned depth; /* 0: the type itself */
	const char *type_name, *name; /* name "": none */
	uint64_t offset, size; /* from the beginning of the outermost */
	bool has_fields; /* which follow, one deeper */
};

#endif
