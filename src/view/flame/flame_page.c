/* SPDX-License-Identifier: Apache-2.0 */
#include "view/flame/flame_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/intern.h"
#include "base/symbol_name.h"
#include "view/flame_html.h"
#include "view/page/page_data.h"

static void flame_page_add_member(struct text *out, const char *name, struct tally_str value)
{
	text_printf(out, "\"%s\":", name);
	page_string(out, value);
	text_str(out, ",\n");
}

/* Writes the number of states with a weight, then each with its weight; callees are not included. */
static void flame_page_add_states(struct page_bytes *b, const uint64_t *states)
{
	unsigned used = 0;
	for (unsigned s = 0; s < FLAME_STATES; s++)
		used += states[s] > 0;
	page_number(b, used);
	for (unsigned s = 0; s < FLAME_STATES; s++) {
		if (!states[s])
			continue;
		page_number(b, s);
		page_number(b, states[s]);
	}
}

/* Writes each node: how many levels its parent is above the previous node, its label, and its own values now and in
 * the base. */
static void flame_page_add_nodes(struct text *out, const struct flame_tree *tree, bool has_base)
{
	struct page_bytes b = {.out = out, .is_packed = true};
	uint32_t depth = 0; /* Depth of a child of the previous node. */
	for (size_t i = 0; i < tree->node_count; i++) {
		const struct flame_node *node = &tree->nodes[i];
		page_number(&b, depth - node->depth);
		page_number(&b, node->label);
		page_number(&b, node->self);
		if (has_base)
			page_number(&b, node->base);
		if (tree->states)
			flame_page_add_states(&b, &tree->states[i * FLAME_STATES]);
		depth = node->depth + 1;
	}
	page_bytes_end(&b);
}

static void flame_page_add_state_names(struct text *out, const struct flame_tree *tree)
{
	text_str(out, "\"states\":[");
	for (unsigned s = 0; s < FLAME_STATES; s++) {
		text_str(out, s ? "," : "");
		page_string(out, tree->state_names[s]);
	}
	text_str(out, "],\n");
}

static void flame_page_add_data(struct text *out, const struct flame_tree *tree, const struct flame_page *page)
{
	text_str(out, "{\n");
	flame_page_add_member(out, "title", page->title);
	flame_page_add_member(out, "event", page->event);
	flame_page_add_member(out, "quality", page->quality);
	flame_page_add_member(out, "origin", page->origin);
	flame_page_add_member(out, "originKind", page->origin_kind);
	flame_page_add_member(out, "program", page->program);
	flame_page_add_member(out, "span", page->span);
	flame_page_add_member(out, "group", page->group);
	if (page->base.len > 0)
		flame_page_add_member(out, "base", page->base);
	if (tree->states)
		flame_page_add_state_names(out, tree);
	text_printf(out, "\"unit\":\"%s\",\n", page->counts_samples ? "samples" : "period");
	text_printf(
		out, "\"samples\":%" PRIu64 ",\n\"count\":%zu,\n\"labels\":[", tree->sample_count, tree->node_count);
	for (size_t i = 0; i < tree->label_count; i++) {
		const struct flame_label *label = &tree->labels[i];
		text_str(out, i ? ",\n[" : "\n[");
		page_string(out, label->name);
		text_char(out, ',');
		page_string(out, label->object);
		text_printf(out, ",%d", (int)label->kind);
		if (label->is_start || label->has_namesake)
			text_printf(out, ",%d", label->is_start);
		if (label->has_namesake)
			text_printf(out, ",\"0x%" PRIx64 "\"", label->address);
		text_char(out, ']');
		(void)text_line_end(out);
	}
	text_str(out, "],\n\"nodes\":\"");
	flame_page_add_nodes(out, tree, page->base.len > 0);
	text_str(out, "\"\n}");
}

void flame_page_write(struct text *out, const struct flame_tree *tree, const struct flame_page *page)
{
	static const char mark[] = "@DATA@";
	const char *at = strstr(flame_html, mark);
	text_bytes(out, flame_html, (size_t)(at - flame_html));
	flame_page_add_data(out, tree, page);
	text_str(out, at + sizeof(mark) - 1);
}

/* Names of threads, for example, may have parentheses, but no parameters. */
static bool folded_is_function(const struct flame_label *label)
{
	return label->kind != FLAME_GROUP && label->kind != FLAME_UNKNOWN;
}

/* Returns each label's name in folded stacks: functions have no parameters, because scripts do not expect them,
 * unless only the parameters distinguish functions. Returns NULL if out of memory. */
static struct tally_str *folded_names(const struct flame_tree *tree)
{
	struct tally_str *names = malloc((tree->label_count + 1) * sizeof(*names));
	uint32_t *plain_of = malloc((tree->label_count + 1) * sizeof(*plain_of));
	bool *is_shared =
		calloc(tree->label_count + 1, sizeof(*is_shared)); /* By plain name: several functions have it. */
	/* By plain name (without parameters): the first label's name with parameters. */
	struct tally_str *whole = malloc((tree->label_count + 1) * sizeof(*whole));
	struct intern plains;
	bool is_done = names && plain_of && is_shared && whole;
	intern_init(&plains);
	for (size_t i = 0; is_done && i < tree->label_count; i++) {
		names[i] = tree->labels[i].name;
		if (!folded_is_function(&tree->labels[i]))
			continue;
		names[i] = symbol_name_plain(names[i]);
		size_t before = plains.len;
		is_done = intern_add(&plains, names[i].data, names[i].len, &plain_of[i]);
		if (is_done && plains.len > before)
			whole[plain_of[i]] = tree->labels[i].name;
		else if (is_done && !str_equal(whole[plain_of[i]], tree->labels[i].name))
			is_shared[plain_of[i]] = true;
	}
	for (size_t i = 0; is_done && i < tree->label_count; i++)
		if (folded_is_function(&tree->labels[i]) && is_shared[plain_of[i]])
			names[i] = tree->labels[i].name;
	intern_deinit(&plains);
	free(plain_of);
	free(is_shared);
	free(whole);
	if (!is_done) {
		free(names);
		return NULL;
	}
	return names;
}

/* Writes a line for each state of the node; waits end in the name of their state. */
static void flame_folded_add_states(
	struct text *out, const struct text *path, const struct flame_tree *tree, size_t node)
{
	for (unsigned s = 0; s < FLAME_STATES; s++) {
		uint64_t weight = tree->states[node * FLAME_STATES + s];
		if (!weight)
			continue;
		text_bytes(out, path->data ? path->data : "", path->len);
		if (s != PROFILE_STATE_RUNNING)
			text_printf(out, ";[%.*s]", (int)tree->state_names[s].len, tree->state_names[s].data);
		text_printf(out, " %" PRIu64 "\n", weight);
		(void)text_line_end(out);
	}
}

void flame_folded_write(struct text *out, const struct flame_tree *tree, bool has_base)
{
	struct tally_str *names = folded_names(tree);
	struct text path = {0};
	size_t *ends = calloc(tree->node_count + 1, sizeof(*ends)); /* By depth: length of the path. */
	for (size_t i = 0; ends && names && i < tree->node_count; i++) {
		const struct flame_node *node = &tree->nodes[i];
		path.len = node->depth ? ends[node->depth - 1] : 0;
		if (node->depth)
			text_char(&path, ';');
		for (size_t k = 0; k < names[node->label].len; k++) {
			/* In a name, ';' or a line end would split it. */
			char c = names[node->label].data[k];
			text_char(&path, c == ';' ? ':' : (uint8_t)c < 0x20 ? '?' : c);
		}
		ends[node->depth] = path.len;
		if (node->self == 0 && node->base == 0)
			continue;
		if (tree->states) {
			flame_folded_add_states(out, &path, tree, i);
			continue;
		}
		text_bytes(out, path.data ? path.data : "", path.len);
		if (has_base)
			text_printf(out, " %" PRIu64, node->base);
		text_printf(out, " %" PRIu64 "\n", node->self);
		(void)text_line_end(out);
	}
	out->failed = out->failed || path.failed || !ends || !names;
	free(ends);
	free(names);
	text_deinit(&path);
}
