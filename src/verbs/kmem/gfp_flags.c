/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/kmem/gfp_flags.h"

#include <string.h>

#include "base/array.h"

static const struct {
	const char *name, *letters;
} known[] = {
	{"GFP_TRANSHUGE", "THP"},
	{"GFP_TRANSHUGE_LIGHT", "THL"},
	{"GFP_HIGHUSER_MOVABLE", "HUM"},
	{"GFP_HIGHUSER", "HU"},
	{"GFP_USER", "U"},
	{"GFP_KERNEL_ACCOUNT", "KAC"},
	{"GFP_KERNEL", "K"},
	{"GFP_NOFS", "NF"},
	{"GFP_ATOMIC", "A"},
	{"GFP_NOIO", "NI"},
	{"GFP_NOWAIT", "NW"},
	{"GFP_DMA", "D"},
	{"GFP_DMA32", "D32"},
	{"__GFP_HIGHMEM", "HM"},
	{"__GFP_MOVABLE", "M"},
	{"__GFP_RECLAIMABLE", "RC"},
	{"__GFP_HIGH", "H"},
	{"__GFP_ATOMIC", "_A"},
	{"__GFP_IO", "I"},
	{"__GFP_FS", "F"},
	{"__GFP_ZERO", "Z"},
	{"__GFP_NOWARN", "NWR"},
	{"__GFP_RETRY_MAYFAIL", "R"},
	{"__GFP_NOFAIL", "NF"},
	{"__GFP_NORETRY", "NR"},
	{"__GFP_COMP", "C"},
	{"__GFP_MEMALLOC", "MA"},
	{"__GFP_NOMEMALLOC", "NMA"},
	{"__GFP_HARDWALL", "HW"},
	{"__GFP_THISNODE", "TN"},
	{"__GFP_ACCOUNT", "AC"},
	{"__GFP_WRITE", "WR"},
	{"__GFP_DIRECT_RECLAIM", "DR"},
	{"__GFP_KSWAPD_RECLAIM", "KR"},
};

void gfp_flags_short(struct tally_str names, struct text *out)
{
	struct tally_str part;
	bool is_first = true;
	while (str_next(&names, '|', &part)) {
		size_t i = 0;
		while (i < ARRAY_LEN(known) && !str_equal(part, str_from(known[i].name)))
			i++;
		if (!is_first)
			text_char(out, '|');
		is_first = false;
		if (i < ARRAY_LEN(known))
			text_str(out, known[i].letters);
		else
			text_bytes(out, part.data, part.len);
	}
}
