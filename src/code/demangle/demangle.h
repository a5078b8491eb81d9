/*
 * demangle.h - C++, Rust and D names as people wrote them, without parameters, as perf shows them.
 */
#ifndef CODE_DEMANGLE_DEMANGLE_H
#define CODE_DEMANGLE_DEMANGLE_H

#include "base/arena.h"
#include <stdbool.h>

/* The readable form, in the arena; the name itself if it is not mangled or memory is out. */
const char *demangle(struct arena *arena, const char *name);

#endif
