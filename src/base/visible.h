/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visible.h - stores names from outside with their control characters escaped (control.h), for code that prints them
 * later. Names without control characters are not copied.
 *
 *	name = visible_string(arena, name);
 */
#ifndef BASE_VISIBLE_H
#define BASE_VISIBLE_H

#include "base/arena.h"

/*
 * Both functions return the escaped string, which is s itself if nothing needs escaping; NULL, or a NULL data pointer,
 * if memory runs out.
 */
const char *visible_string(struct arena *arena, const char *s);
struct tally_str visible_str(struct arena *arena, struct tally_str s);

#endif
