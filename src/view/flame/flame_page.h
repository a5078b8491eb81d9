/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_page.h - writes a flame graph as one self-contained HTML file.
 *
 * Names are not trusted: in the page they are only data, never markup. It borrows its arguments; the text keeps
 * failures.
 *
 *	flame_page_write(&text, &tree, &(struct flame_page){.title = STR("perf.data"), .event = STR("cycles")});
 */
#ifndef VIEW_FLAME_FLAME_PAGE_H
#define VIEW_FLAME_FLAME_PAGE_H

#include "base/text.h"
#include "profile/flame_tree.h"

struct flame_page {
	struct tally_str title, event;
	struct tally_str origin, origin_kind; /* what made samples that are not from perf events; empty: they are */
	struct tally_str quality; /* one line about losses, call chains and symbols */
	struct tally_str program; /* who drew it */
	struct tally_str base; /* what it is compared with; empty: nothing */
	struct tally_str span; /* when the samples are from; empty: not known */
	struct tally_str group; /* what stands at the root: "thread", ...; empty: nothing */
	bool counts_samples;
};

void flame_page_write(struct text *out, const struct flame_tree *tree, const struct flame_page *page);

/* "comm;main;work 123\n" for each node that has samples of its own, as FlameGraph and others read it; for a tree of two
 * profiles "comm;main;work 100 123\n", the baseline first; for a tree with states, waits are "comm;main;read;[io]
 * 123\n". */
void flame_folded_write(struct text *out, const struct flame_tree *tree, bool has_base);

#endif
