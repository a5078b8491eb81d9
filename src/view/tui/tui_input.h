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
	char text[TUI_INPUT_BYTES]; /* Terminated by a NUL. */
	size_t len;
};

/* TUI_TYPED_WHOLE: the text is complete; TUI_TYPED_NOTHING: the input was cancelled. */
enum tui_typed { TUI_TYPED_MORE, TUI_TYPED_WHOLE, TUI_TYPED_NOTHING };

/* Starts with a text, which may be cut; NULL for an empty one. */
void tui_input_start(struct tui_input *input, const char *text);
enum tui_typed tui_input_key(struct tui_input *input, uint32_t key);

#endif
