/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_name.h - compares function names, including parameter types of C++, with lists of names that users write.
 *
 * The functions have no state and borrow text. A list may contain a name with its parameters, "ns::f(int, char)", or
 * without, "ns::f", which matches all functions of that name.
 *
 *	if (symbol_list_has("main,ns::f", name)) ...
 */
#ifndef BASE_SYMBOL_NAME_H
#define BASE_SYMBOL_NAME_H

#include "base/bytes.h"

/*
 * Returns the name without return type and parameters: "ns::f<int>" for "void ns::f<int>(int) const". Returns the name
 * itself if it has no parameters.
 */
struct tally_str symbol_name_plain(struct tally_str name);
/*
 * Returns true if the comma-separated list contains the name, with or without its parameters. Commas in parameters do
 * not separate.
 */
bool symbol_list_has(const char *list, struct tally_str name);

#endif
