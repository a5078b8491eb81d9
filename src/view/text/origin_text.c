/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/origin_text.h"

#define ORIGIN_TEXT_ADDRESS_WIDTH (2 + REPORT_ADDRESS_DIGITS)
#define ORIGIN_WIDTH		  (ORIGIN_TEXT_ADDRESS_WIDTH + 3) /* The address, and a letter between two blanks. */
#define UNKNOWN_ORIGIN		  '!'

size_t report_origin_width(const struct report_layout *l)
{
	return l->options->is_verbose ? ORIGIN_WIDTH : 0;
}

void report_origin(const struct report_layout *l, struct text *out, uint32_t binary, uint64_t address)
{
	if (!l->options->is_verbose)
		return;
	size_t start = out->len;
	char origin = binary == PROFILE_NONE ? 0 : l->profile->binaries[binary].origin;
	text_str(out, address ? "0x" : "");
	text_hex(out, address, 0);
	if (out->len - start < ORIGIN_TEXT_ADDRESS_WIDTH)
		text_repeat(out, ' ', ORIGIN_TEXT_ADDRESS_WIDTH - (out->len - start));
	const char letter[] = {' ', origin ? origin : UNKNOWN_ORIGIN, ' '};
	text_bytes(out, letter, sizeof(letter));
}
