/* SPDX-License-Identifier: Apache-2.0 */
#include "base/visible.h"

#include "base/control.h"
#include "base/text.h"

struct tally_str visible_str(struct arena *arena, struct tally_str s)
{
	if (control_span(s.data, s.len) == s.len)
		return s;
	struct text t = {0};
	text_visible(&t, s);
	struct tally_str copy = {t.failed ? NULL : arena_string(arena, t.data, t.len), t.len};
	text_deinit(&t);
	return copy;
}

const char *visible_string(struct arena *arena, const char *s)
{
	return visible_str(arena, str_from(s)).data;
}
