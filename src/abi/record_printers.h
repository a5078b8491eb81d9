/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_printers.h - declares what the printers of kernel and user records share. Private to record_print.
 */
#ifndef ABI_RECORD_PRINTERS_H
#define ABI_RECORD_PRINTERS_H

#include "abi/record_print.h"

struct record_printing {
	const struct record *record;
	const struct record_fields *fields;
	const struct record_print_hints *hints;
};

/* Prints the text after the name of the record type. */
typedef void record_printer(struct text *t, const struct record_printing *p);

/* Returns NULL if only the name of the type is printed. */
record_printer *record_printer_of_user(uint32_t type);

/* Prints a number as %#x of printf does, without a prefix for 0. */
static inline void record_print_hex(struct text *t, uint64_t v)
{
	if (v)
		text_str(t, "0x");
	text_hex(t, v, 0);
}

#endif
