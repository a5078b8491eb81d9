/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle_runtime.h - demangles the names that OCaml's compiler and Java's runtimes give to functions.
 *
 * OCaml: "camlShop__total_12" is Shop.total_12, and "$2b" is a character by its hex code. Java:
 * "Ljava/lang/Integer;parseInt(Ljava/lang/String;)I" is java.lang.Integer.parseInt(java.lang.String), with types as in
 * the JVM specification (4.3); the return type of a method is omitted. Pure functions; the result is at most eight
 * times as long as the name.
 *
 *	if (demangle_runtime(name, len, &text)) ...	false: it is no such name, and the text is as it was
 */
#ifndef CODE_DEMANGLE_DEMANGLE_RUNTIME_H
#define CODE_DEMANGLE_DEMANGLE_RUNTIME_H

#include "base/text.h"

/* Appends the demangled name to text. */
bool demangle_runtime(const char *name, size_t len, struct text *text);

#endif
