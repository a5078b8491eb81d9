/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visible.h - stores foreign names with their control characters escaped (control.h), for code that keeps them before
 * they are printed. A name without control characters, which nearly all are, is not copied.
 *
 *	name = visible_string(arena, name);
 */
#ifndef BASE_VISIBLE_H
#define BASE_VISIBLE_H

#include "base/arena.h"

/* NULL, and data NULL: memory runs out. */
const char *visible_string(struct arena *arena, const char *s);
struct tally_str visible_str(struct arena *arena, struct tally_str s);

#endif
