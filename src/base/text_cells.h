/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_cells.h - computes the width of a text in terminal cells, to align columns and truncate names.
 *
 * Characters of East Asian scripts and pictographs occupy two cells, combining marks none. Control characters and bytes
 * that are not valid UTF-8 have the width of their escaped form \xNN (control.h). The results do not depend on the
 * locale.
 *
 *	size_t padding = width - text_cells(name);
 */
#ifndef BASE_TEXT_CELLS_H
#define BASE_TEXT_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* Returns 0, 1 or 2. The character must not be a control character. */
unsigned character_cells(uint32_t character);
size_t text_cells(struct tally_str s);
/* Returns the longest prefix of s that takes at most this number of cells, including combining marks at its end. */
struct tally_str text_cells_cut(struct tally_str s, size_t cells);

#endif
