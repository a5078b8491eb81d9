/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.h - demangles C++, Rust, D, OCaml and Java names, with parameter types, as perf 7.x shows them.
 */
#ifndef CODE_DEMANGLE_DEMANGLE_H
#define CODE_DEMANGLE_DEMANGLE_H

#include "base/arena.h"

/* The readable form, in the arena; the name itself if it is not mangled or memory runs out. A PLT entry keeps its "@plt".
 */
const char *demangle(struct arena *arena, const char *name);

/* The length of the readable form without parameters, and the number of its leading underscores. */
size_t demangle_length(const char *name, size_t *bars);

#endif
