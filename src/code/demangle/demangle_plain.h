/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle_plain.h - demangles plain C++ names, which most functions of most programs have, in a fraction of
 * libiberty's time.
 *
 * Plain names follow the Itanium C++ ABI (section 5.1) and consist of scopes, constructors, destructors and parameters
 * that are built-in types, classes, pointers, references and const. The result is the same as that of libiberty with
 * DMGL_PARAMS. Templates, operators, local names, function types and everything else are left to libiberty. Pure
 * function.
 *
 *	size_t bytes = demangle_plain(name, len, out, sizeof(out));	0: the name is not plain
 */
#ifndef CODE_DEMANGLE_DEMANGLE_PLAIN_H
#define CODE_DEMANGLE_DEMANGLE_PLAIN_H

#include <stddef.h>

/* Returns the length of the text in out, which is not NUL-terminated; 0 if the name is not plain, or out is too
 * small. */
size_t demangle_plain(const char *name, size_t len, char *out, size_t room);

#endif
