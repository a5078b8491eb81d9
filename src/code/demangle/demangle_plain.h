/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle_plain.h - demangles plain C++ names, which most functions of most programs have, in a fraction of
 * libiberty's time.
 *
 * Plain are names of the Itanium C++ ABI (section 5.1) made of scopes, constructors, destructors and parameters of
 * built-in types, classes, pointers, references and const. The text is that of libiberty with DMGL_PARAMS. Templates,
 * operators, local names, types of functions and all others are left to libiberty. Pure.
 *
 *	size_t bytes = demangle_plain(name, len, out, sizeof(out));	0: the name is not plain
 */
#ifndef CODE_DEMANGLE_DEMANGLE_PLAIN_H
#define CODE_DEMANGLE_DEMANGLE_PLAIN_H

#include <stddef.h>

/* The length of what is written to out, which has no zero byte behind it; 0: the name is not plain, or has no room. */
size_t demangle_plain(const char *name, size_t len, char *out, size_t room);

#endif
