/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/tui_input.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

void tui_input_start(struct tui_input *input, const char *text)
{
	snprintf(input->text, sizeof(input->text), "%s", text ? text : "");
	input->len = strlen(input->text);
}

static void erase_character(struct tui_input *input)
{
	while (input->len > 0 && ((unsigned char)input->text[input->len - 1] & 0xc0) == 0x80)
		input->len--;
	if (input->len > 0)
		input->len--;
	input->text[input->len] = '\0';
}

static void tui_input_add_character(struct tui_input *input, uint32_t key)
{
	uint8_t bytes[4];
	if (key >= 0x10000)
		return; /* No symbol contains such a character, and the bottom line need not show it. */
	size_t count = utf8_put(key, bytes);
	if (input->len + count >= sizeof(input->text))
		return;
	memcpy(input->text + input->len, bytes, count);
	input->len += count;
	input->text[input->len] = '\0';
}

enum tui_typed tui_input_key(struct tui_input *input, uint32_t key)
{
	switch (key) {
	case '\r':
	case '\n':
		return TUI_TYPED_WHOLE;
	case TUI_KEY_ESCAPE:
		return TUI_TYPED_NOTHING;
	case TUI_KEY_BACKSPACE:
	case '\b':
	case 0x7f:
		erase_character(input);
		break;
	case TUI_KEY_CTRL('u'):
		tui_input_start(input, NULL);
		break;
	default:
		if (key >= ' ' && key < TUI_KEY_NONE)
			tui_input_add_character(input, key);
		break;
	}
	return TUI_TYPED_MORE;
}
