/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_input.h - edits a text that the user types on the bottom line. It does not draw.
 *
 *	struct tui_input input = {0};
 *	if (tui_input_key(&input, 'x') == TUI_TYPED_WHOLE) use(input.text);
 */
#ifndef VIEW_TUI_TUI_INPUT_H
#define VIEW_TUI_TUI_INPUT_H

#include <stddef.h>

#include "view/tui/tui_keys.h"

#define TUI_INPUT_BYTES 256

struct tui_input {
	char text[TUI_INPUT_BYTES]; /* ends in a 0 */
	size_t len;
};

enum tui_typed { TUI_TYPED_MORE, TUI_TYPED_WHOLE, TUI_TYPED_NOTHING /* taken back */ };

/* Begins with a text, which may be cut; NULL: with none. */
void tui_input_start(struct tui_input *input, const char *text);
enum tui_typed tui_input_key(struct tui_input *input, uint32_t key);

#endif
