/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_access.h - describes the data that an instruction accesses, according to debug information: the type of the
 * object and the offset in it. Plain data; names live as long as the store that returned them.
 */
#ifndef CODE_DATA_ACCESS_H
#define CODE_DATA_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

struct dwarf_type;

enum data_access_kind {
	DATA_ACCESS_NO_INSTRUCTION, /* The code is not available, or no instruction begins at the address. */
	DATA_ACCESS_NO_MEMORY, /* The instruction does not access memory. */
	DATA_ACCESS_NO_DEBUG_INFO,
	DATA_ACCESS_NO_FUNCTION, /* Debug information does not describe the function. */
	DATA_ACCESS_NO_VARIABLE, /* The types of the values in its registers are not known. */
	DATA_ACCESS_NO_TYPE, /* The values in its registers point to nothing that has a type. */
	DATA_ACCESS_BAD_OFFSET, /* The offset is outside of the object. */
	DATA_ACCESS_STACK, /* The instruction is push, pop, call or return. */
	DATA_ACCESS_TYPED
};

struct data_access {
	enum data_access_kind kind;
	/* Distance in bytes back to the instruction that accesses the data, if the CPU fused it with this one; 0 if it
	 * is this one. */
	unsigned back_bytes;
	bool is_followed; /* The type was found by following values through the code. */
	/* The following members are valid for DATA_ACCESS_TYPED only. */
	const struct dwarf_type *type;
	const char *type_name; /* Name such as "struct node". */
	uint64_t size, offset; /* Size of the type, and offset of the access in it, in bytes. */
	const char *field; /* Member at the offset, such as "in.c"; NULL if there is none. */
};

/* A row of the layout of a type. */
struct data_field {
	unsigned depth; /* Nesting depth; 0 for the type itself. */
	const char *type_name, *name; /* name is "" if there is none. */
	uint64_t offset, size; /* Offset from the beginning of the outermost type, and size, in bytes. */
	bool has_fields; /* The next rows are its members, one level deeper. */
};

#endif
