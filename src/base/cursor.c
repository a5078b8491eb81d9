/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cursor.h"

struct tally_str cursor_text(struct cursor *c, size_t n)
{
	const uint8_t *p = cursor_take(c, n);
	if (!p)
		return (struct tally_str){"", 0};
	return (struct tally_str){(const char *)p, strnlen((const char *)p, n)};
}
