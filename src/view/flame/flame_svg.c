/* SPDX-License-Identifier: Apache-2.0 */
#include "view/flame/flame_svg.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "view/flame_svg_script.h"
#include "view/page/xml_text.h"

#define FLAME_SVG_WIDTH	 1200.0
#define FLAME_SVG_MARGIN 10.0
#define INNER		 (FLAME_SVG_WIDTH - 2 * FLAME_SVG_MARGIN)
#define ROW		 17.0
#define FLAME_SVG_TOP	 48.0
#define BOTTOM		 48.0
#define LEAST		 0.1 /* Minimum width of a box. */
#define CHARACTER	 6.6 /* Average width of a character. */
#define TITLE_MOST	 2000 /* Limit of characters for a name that is shown on hover. */

struct flame_svg_drawing {
	struct text *out;
	const struct flame_tree *tree;
	const struct flame_page *page;
	double height;
	double *left; /* By node: left edge as a share of the whole width. */
	double *used; /* By node: how much of its width children take, also as a share. */
	uint64_t left_out;
	uint64_t *states; /* By node: FLAME_STATES totals, with callees; NULL if the tree has no states. */
};

/* These colours are those of the page; colour-blind people can distinguish them. */
static const char *flame_svg_colour(enum flame_kind kind)
{
	static const char *const colours[FLAME_KINDS] = {[FLAME_USER] = "#f9b966",
		[FLAME_KERNEL] = "#7fb8ec",
		[FLAME_INLINED] = "#78cfae",
		[FLAME_GENERATED] = "#e0a3c4",
		[FLAME_UNKNOWN] = "#bdbdbd",
		[FLAME_GROUP] = "#e8ddb8"};
	return colours[kind];
}

static const char *flame_svg_state_colour(enum profile_state state)
{
	static const char *const colours[FLAME_STATES] = {[PROFILE_STATE_RUNNING] = "#f9b966",
		[PROFILE_STATE_RUNNABLE] = "#f5e447",
		[PROFILE_STATE_SLEEP] = "#a7bddd",
		[PROFILE_STATE_UNINTERRUPTIBLE] = "#9c8bcf",
		[PROFILE_STATE_STOPPED] = "#949494",
		[PROFILE_STATE_DISK] = "#4a8fd4",
		[PROFILE_STATE_LOCK] = "#de7398",
		[PROFILE_STATE_POLL] = "#c6dde6",
		[PROFILE_STATE_IO] = "#78cfae",
		[PROFILE_STATE_OTHER] = "#c9c1b1",
		[PROFILE_STATE_NOT_TOLD] = "#bdbdbd",
		[PROFILE_STATE_THROTTLED] = "#e2714b",
		[FLAME_STATE_NOT_KNOWN] = "#dcdcdc"};
	return colours[state];
}

/* Compares two recordings: orange grew, blue shrank; a larger change has a stronger colour. */
static void add_growth(struct flame_svg_drawing *d, const struct flame_node *node, uint64_t base)
{
	double now = d->tree->total ? (double)node->total / (double)d->tree->total : 0;
	double then = d->tree->base_total ? (double)base / (double)d->tree->base_total : 0;
	double by = now - then;
	double strength = by < 0 ? -by * 20 : by * 20;
	strength = MIN(strength, 1);
	if (strength < 0.004)
		text_str(d->out, "#dbdbdb");
	else
		text_printf(d->out, "hsl(%d,%d%%,%d%%)", by > 0 ? 28 : 208, (int)(50 + 45 * strength),
			(int)(86 - 26 * strength));
}

static void add_percent(struct text *out, uint64_t part, uint64_t whole)
{
	text_fixed(out, whole ? 100.0 * (double)part / (double)whole : 0, 2);
	text_char(out, '%');
}

/* Returns whether this is the outermost function of a stack although other functions call it. */
static bool lacks_callers(const struct flame_svg_drawing *d, const struct flame_node *node)
{
	const struct flame_label *labels = d->tree->labels;
	const struct flame_label *label = &labels[node->label];
	bool is_outermost =
		node->parent == PROFILE_NONE || labels[d->tree->nodes[node->parent].label].kind == FLAME_GROUP;
	return is_outermost && label->kind != FLAME_GROUP && !label->is_start;
}

/* Writes attributes for the script: the box's time on the CPU, and its colour if only waits are shown. */
static void flame_svg_add_selection(const struct flame_svg_drawing *d, size_t node)
{
	const uint64_t *states = &d->states[node * FLAME_STATES];
	text_printf(d->out, " data-t=\"%" PRIu64 "\" data-r=\"%" PRIu64 "\" data-c=\"%s\"", d->tree->nodes[node].total,
		states[PROFILE_STATE_RUNNING], flame_svg_state_colour(flame_tree_main_state(states, false)));
	if (states[FLAME_STATE_NOT_KNOWN])
		text_printf(d->out, " data-u=\"%" PRIu64 "\"", states[FLAME_STATE_NOT_KNOWN]);
}

/* Appends "; lock 75.00%, running 25.00%". */
static void flame_svg_add_states(const struct flame_svg_drawing *d, size_t node)
{
	const uint64_t *states = &d->states[node * FLAME_STATES];
	const char *before = "; ";
	for (unsigned s = 0; s < FLAME_STATES; s++) {
		if (!states[s])
			continue;
		text_str(d->out, before);
		xml_text(d->out, d->tree->state_names[s]);
		text_char(d->out, ' ');
		add_percent(d->out, states[s], d->tree->nodes[node].total);
		before = ", ";
	}
}

static void flame_svg_add_box(struct flame_svg_drawing *d, const struct flame_node *node, double left, uint64_t base)
{
	const struct flame_label *label = &d->tree->labels[node->label];
	double x = FLAME_SVG_MARGIN + left * INNER, w = INNER * (double)node->total / (double)d->tree->total;
	double y = d->height - BOTTOM - ROW * (double)(node->depth + 1);
	size_t index = (size_t)(node - d->tree->nodes);
	text_printf(d->out, "<g class=\"f%s\" data-d=\"%" PRIu32 "\"", lacks_callers(d, node) ? " u" : "", node->depth);
	if (d->states)
		flame_svg_add_selection(d, index);
	text_str(d->out, "><title>");
	xml_text_cut(d->out, label->name, TITLE_MOST);
	if (label->object.len > 0) {
		text_str(d->out, " (");
		xml_text_cut(d->out, label->object, TITLE_MOST);
		text_char(d->out, ')');
	}
	text_printf(d->out, " %" PRIu64 " %s, ", node->total,
		d->page->counts_samples ? "samples"
		: d->states		? "ns"
					: "of the period");
	add_percent(d->out, node->total, d->tree->total);
	if (d->page->base.len > 0) {
		text_printf(d->out, "; before: %" PRIu64 ", ", base);
		add_percent(d->out, base, d->tree->base_total);
	}
	if (d->states)
		flame_svg_add_states(d, index);
	text_str(d->out, "</title><rect x=\"");
	text_fixed(d->out, x, 2);
	text_str(d->out, "\" y=\"");
	text_fixed(d->out, y, 1);
	text_str(d->out, "\" width=\"");
	text_fixed(d->out, w, 2);
	text_printf(d->out, "\" height=\"%d\" rx=\"1\" fill=\"", (int)ROW - 1);
	if (d->page->base.len > 0)
		add_growth(d, node, base);
	else if (d->states)
		text_str(d->out, flame_svg_state_colour(flame_tree_main_state(&d->states[index * FLAME_STATES], true)));
	else
		text_str(d->out, flame_svg_colour(label->kind));
	text_str(d->out, "\"/><text x=\"");
	text_fixed(d->out, x + 3, 2);
	text_str(d->out, "\" y=\"");
	text_fixed(d->out, y + 12, 1);
	text_str(d->out, "\">");
	if (w > 4 * CHARACTER)
		xml_text_cut(d->out, label->name, (size_t)((w - 6) / CHARACTER));
	text_str(d->out, "</text></g>\n");
	(void)text_line_end(d->out);
}

/* Sums up each node's values in the base, with callees. */
static void add_up_base(const struct flame_tree *tree, uint64_t *base)
{
	for (size_t i = 0; i < tree->node_count; i++)
		base[i] = tree->nodes[i].base;
	for (size_t i = tree->node_count; i-- > 0;)
		if (tree->nodes[i].parent != PROFILE_NONE)
			base[tree->nodes[i].parent] += base[i];
}

static void add_boxes(struct flame_svg_drawing *d, const uint64_t *base)
{
	double used = 0; /* Share of the width that nodes without parent have used. */
	for (size_t i = 0; i < d->tree->node_count; i++) {
		const struct flame_node *node = &d->tree->nodes[i];
		double width = d->tree->total ? (double)node->total / (double)d->tree->total : 0;
		double *before = node->parent == PROFILE_NONE ? &used : &d->used[node->parent];
		d->left[i] = (node->parent == PROFILE_NONE ? 0 : d->left[node->parent]) + *before;
		*before += width;
		if (width * INNER >= LEAST)
			flame_svg_add_box(d, node, d->left[i], base[i]);
		else
			d->left_out++;
	}
}

static void flame_svg_add_head(struct flame_svg_drawing *d)
{
	text_printf(d->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
		"width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"11\">\n",
		(int)FLAME_SVG_WIDTH, (int)d->height, (int)FLAME_SVG_WIDTH, (int)d->height);
	text_str(d->out, "<style>.f { cursor: pointer } .f text { pointer-events: none } .f:hover rect { stroke: #000; "
			 "stroke-width: 0.6 } .u rect { stroke: #000; stroke-width: 0.8; stroke-dasharray: 3 3 } .p "
			 "rect { opacity: 0.55 } .m rect { fill: #d06cf0 } .c { cursor: "
			 "pointer; text-decoration: underline } .back { fill: #fff } .dim { fill: #5c5c5c } "
			 "@media (prefers-color-scheme: dark) { svg > text { fill: #ececec } .back { fill: #17181a } "
			 ".dim { fill: #a0a4aa } }</style>\n<title>");
	xml_text(d->out, d->page->title);
	if (d->page->origin.len > 0) {
		text_str(d->out, ": ");
		xml_text(d->out, d->page->origin);
	}
	text_printf(d->out,
		"</title>\n<rect width=\"100%%\" height=\"100%%\" class=\"back\"/>\n<text x=\"%d\" y=\"20\" "
		"font-size=\"15\">",
		(int)FLAME_SVG_MARGIN);
	xml_text_cut(d->out, d->page->title, 110);
	text_printf(d->out, "</text>\n<text x=\"%d\" y=\"36\">", (int)FLAME_SVG_MARGIN);
	xml_text_cut(d->out, d->page->event, 80);
	text_printf(d->out, ", %" PRIu64 " samples", d->tree->sample_count);
	if (d->page->origin_kind.len > 0) {
		text_str(d->out, ", ");
		xml_text(d->out, d->page->origin_kind);
	}
	if (d->page->span.len > 0) {
		text_str(d->out, ", ");
		xml_text_cut(d->out, d->page->span, 60);
	}
	if (d->page->base.len > 0) {
		text_str(d->out, ", since ");
		xml_text_cut(d->out, d->page->base, 60);
	}
	text_printf(d->out,
		"</text>\n<text id=\"found\" x=\"%d\" y=\"36\" text-anchor=\"end\"></text>\n"
		"<text id=\"search\" class=\"c\" x=\"%d\" y=\"20\" text-anchor=\"end\">search</text>\n"
		"<text id=\"reset\" class=\"c\" x=\"%d\" y=\"20\" text-anchor=\"end\">reset</text>\n",
		(int)(FLAME_SVG_WIDTH - FLAME_SVG_MARGIN), (int)(FLAME_SVG_WIDTH - FLAME_SVG_MARGIN),
		(int)(FLAME_SVG_WIDTH - FLAME_SVG_MARGIN - 60));
	if (d->states)
		text_printf(d->out,
			"<text id=\"states\" class=\"c\" x=\"%d\" y=\"20\" text-anchor=\"end\">all, on-CPU or waiting: "
			"all</text>\n",
			(int)(FLAME_SVG_WIDTH - FLAME_SVG_MARGIN - 110));
}

static void flame_svg_add_key(struct flame_svg_drawing *d, double *x, const char *colour, const char *name)
{
	double y = d->height - 26;
	bool is_cut = colour[0] == '\0';
	text_str(d->out, "<rect x=\"");
	text_fixed(d->out, *x, 1);
	text_str(d->out, "\" y=\"");
	text_fixed(d->out, y - 9, 1);
	text_printf(d->out, "\" width=\"11\" height=\"11\" fill=\"%s\"%s/><text x=\"", is_cut ? "#fff" : colour,
		is_cut ? " stroke=\"#000\" stroke-width=\"0.8\" stroke-dasharray=\"3 3\"" : "");
	text_fixed(d->out, *x + 15, 1);
	text_str(d->out, "\" y=\"");
	text_fixed(d->out, y, 1);
	text_str(d->out, "\" class=\"dim\">");
	xml_text(d->out, str_from(name));
	text_str(d->out, "</text>\n");
	*x += 15 + CHARACTER * (double)(strlen(name) + 2);
}

static void flame_svg_add_legend(struct flame_svg_drawing *d)
{
	static const char *const names[FLAME_KINDS] = {[FLAME_USER] = "user",
		[FLAME_KERNEL] = "kernel",
		[FLAME_INLINED] = "inlined",
		[FLAME_GENERATED] = "JIT",
		[FLAME_UNKNOWN] = "no symbol",
		[FLAME_GROUP] = "group"};
	bool is_used[FLAME_KINDS] = {0};
	double x = FLAME_SVG_MARGIN;
	for (size_t i = 0; i < d->tree->label_count; i++)
		is_used[d->tree->labels[i].kind] = true;
	for (unsigned s = 0; s < FLAME_STATES && d->states; s++)
		if (d->tree->state_names[s].len > 0)
			flame_svg_add_key(
				d, &x, flame_svg_state_colour((enum profile_state)s), d->tree->state_names[s].data);
	for (unsigned kind = 0; kind < FLAME_KINDS && d->page->base.len == 0 && !d->states; kind++)
		if (is_used[kind])
			flame_svg_add_key(d, &x, flame_svg_colour((enum flame_kind)kind), names[kind]);
	if (d->page->base.len > 0) {
		flame_svg_add_key(d, &x, "hsl(28,95%,60%)", "grew");
		flame_svg_add_key(d, &x, "hsl(208,95%,60%)", "shrank");
	}
	flame_svg_add_key(d, &x, "", "callers are missing");
}

static void flame_svg_add_foot(struct flame_svg_drawing *d)
{
	flame_svg_add_legend(d);
	text_printf(d->out, "<text x=\"%d\" y=\"%d\" class=\"dim\">", (int)FLAME_SVG_MARGIN, (int)(d->height - 10));
	xml_text_cut(d->out, d->page->quality, 150);
	if (d->left_out > 0)
		text_printf(d->out, "; %" PRIu64 " boxes too narrow to see", d->left_out);
	text_str(d->out, "</text>\n<script><![CDATA[\n");
	text_str(d->out, flame_svg_script);
	text_str(d->out, "]]></script>\n</svg>\n");
}

void flame_svg_write(struct text *out, const struct flame_tree *tree, const struct flame_page *page)
{
	struct flame_svg_drawing d = {.out = out, .tree = tree, .page = page};
	uint32_t deepest = 0;
	uint64_t *base = calloc(tree->node_count + 1, sizeof(*base));
	d.left = calloc(tree->node_count + 1, sizeof(*d.left));
	d.used = calloc(tree->node_count + 1, sizeof(*d.used));
	for (size_t i = 0; i < tree->node_count; i++)
		deepest = MAX(tree->nodes[i].depth, deepest);
	d.height = FLAME_SVG_TOP + ROW * (double)(deepest + 1) + BOTTOM;
	d.states = flame_tree_state_totals(tree);
	if (base && d.left && d.used && (d.states || !tree->states)) {
		add_up_base(tree, base);
		flame_svg_add_head(&d);
		add_boxes(&d, base);
		flame_svg_add_foot(&d);
	} else {
		out->failed = true;
	}
	free(base);
	free(d.states);
	free(d.left);
	free(d.used);
}
