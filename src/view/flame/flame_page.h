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
	/* Source of samples that do not come from perf events; empty if they do. */
	struct tally_str origin, origin_kind;
	struct tally_str quality; /* One line about losses, call chains and symbols. */
	struct tally_str program; /* Name of the program that made the page. */
	struct tally_str base; /* Name of the baseline; empty if there is none. */
	struct tally_str span; /* Time range of the samples as text; empty if unknown. */
	struct tally_str group; /* Kind of the nodes at the root, such as "thread"; empty if there is none. */
	bool counts_samples;
};

void flame_page_write(struct text *out, const struct flame_tree *tree, const struct flame_page *page);

/* Writes "comm;main;work 123\n" for each node that has samples of its own, which is the format of FlameGraph; for a
 * tree of two profiles "comm;main;work 100 123\n", the baseline first; for a tree with states, waits are
 * "comm;main;read;[io] 123\n". */
void flame_folded_write(struct text *out, const struct flame_tree *tree, bool has_base);

#endif
