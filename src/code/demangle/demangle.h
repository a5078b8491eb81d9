/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.h - demangles C++, Rust, D, OCaml and Java names, with parameter types, as perf 7.x shows them.
 */
#ifndef CODE_DEMANGLE_DEMANGLE_H
#define CODE_DEMANGLE_DEMANGLE_H

#include "base/arena.h"

/* Returns the demangled name in the arena, or the name itself if it is not mangled or memory runs out. A PLT entry
 * retains its "@plt". */
const char *demangle(struct arena *arena, const char *name);

/* Returns the length of the demangled name without parameters, or that of the name itself if it is not mangled. *bars
 * becomes the number of underscores with which that text begins. */
size_t demangle_length(const char *name, size_t *bars);

#endif
