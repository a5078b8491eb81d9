/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_name.h - makes function names readable, with the parameter types of C++ functions, in the way people write
 * them in lists.
 *
 * Pure functions on borrowed text. A list may have a name with its parameters, "ns::f(int, char)", or without, "ns::f",
 * which matches all functions of that name.
 *
 *	if (symbol_list_has("main,ns::f", name)) ...
 */
#ifndef BASE_SYMBOL_NAME_H
#define BASE_SYMBOL_NAME_H

#include "base/bytes.h"

/* "ns::f<int>" of "void ns::f<int>(int) const"; the name itself where it has no parameters. */
struct tally_str symbol_name_plain(struct tally_str name);
/* The comma-separated list has the name, with or without its parameters, commas in which do not separate. */
bool symbol_list_has(const char *list, struct tally_str name);

#endif
