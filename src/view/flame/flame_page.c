#include "view/flame/flame_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "view/flame_html.h"

/* A JSON string that is also harmless inside a script element: no markup, no line separators. */
static void add_string(struct text *out, struct tally_str s)
{
	struct tally_str rest = s;
	text_char(out, '"');
	while (rest.len > 0) {
		uint8_t c = (uint8_t)rest.data[0];
		size_t len = c < 0x80 ? 1 : text_utf8_bytes((const uint8_t *)rest.data, rest.len);
		if (len == 0) {
			text_str(out, "\\ufffd");
			len = 1;
		} else if (len == 3 &&
			   (memcmp(rest.data, "\xe2\x80\xa8", 3) == 0 || memcmp(rest.data, "\xe2\x80\xa9", 3) == 0)) {
			text_str(out, rest.data[2] == '\xa8' ? "\\u2028" : "\\u2029");
		} else if (len == 1 &&
			   (c < 0x20 || c == 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&')) {
			text_str(out, "\\u");
			text_hex(out, c, 4);
		} else {
			text_bytes(out, rest.data, len);
		}
		rest.data += len;
		rest.len -= len;
	}
	text_char(out, '"');
}

static void add_member(struct text *out, const char *name, struct tally_str value)
{
	text_printf(out, "\"%s\":", name);
	add_string(out, value);
	text_str(out, ",\n");
}

struct base64 {
	struct text *out;
	uint32_t bits;
	unsigned count; /* bytes held */
};

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void add_byte(struct base64 *b, uint8_t byte)
{
	b->bits = b->bits << 8 | byte;
	if (++b->count < 3)
		return;
	for (int shift = 18; shift >= 0; shift -= 6)
		text_char(b->out, digits[b->bits >> shift & 63]);
	b->bits = b->count = 0;
	(void)text_line_end(b->out);
}

static void add_number(struct base64 *b, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		add_byte(b, (uint8_t)(0x80 | (number & 0x7f)));
	add_byte(b, (uint8_t)number);
}

/* Each node: how far up from the one before it its parent is, its label, what it has of its own. */
static void add_nodes(struct text *out, const struct flame_tree *tree)
{
	struct base64 b = {.out = out};
	uint32_t depth = 0; /* that a child of the node before would have */
	for (size_t i = 0; i < tree->node_count; i++) {
		const struct flame_node *node = &tree->nodes[i];
		add_number(&b, depth - node->depth);
		add_number(&b, node->label);
		add_number(&b, node->self);
		depth = node->depth + 1;
	}
	while (b.count > 0)
		add_byte(&b, 0); /* behind the last node: not read */
}

static void add_data(struct text *out, const struct flame_tree *tree, const struct flame_page *page)
{
	text_str(out, "{\n");
	add_member(out, "title", page->title);
	add_member(out, "event", page->event);
	add_member(out, "worth", page->worth);
	add_member(out, "program", page->program);
	text_printf(out, "\"unit\":\"%s\",\n", page->counts_samples ? "samples" : "period");
	text_printf(
		out, "\"samples\":%" PRIu64 ",\n\"count\":%zu,\n\"labels\":[", tree->sample_count, tree->node_count);
	for (size_t i = 0; i < tree->label_count; i++) {
		const struct flame_label *label = &tree->labels[i];
		text_str(out, i ? ",\n[" : "\n[");
		add_string(out, label->name);
		text_char(out, ',');
		add_string(out, label->object);
		text_printf(out, ",%d]", (int)label->kind);
		(void)text_line_end(out);
	}
	text_str(out, "],\n\"nodes\":\"");
	add_nodes(out, tree);
	text_str(out, "\"\n}");
}

void flame_page_write(struct text *out, const struct flame_tree *tree, const struct flame_page *page)
{
	static const char mark[] = "@DATA@";
	const char *at = strstr(flame_html, mark);
	text_bytes(out, flame_html, (size_t)(at - flame_html));
	add_data(out, tree, page);
	text_str(out, at + sizeof(mark) - 1);
}

/* A name with ';' or a line end would be two. */
static void add_folded(struct text *out, struct tally_str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i];
		text_char(out, c == ';' ? ':' : (uint8_t)c < 0x20 ? '?' : c);
	}
}

void flame_folded_write(struct text *out, const struct flame_tree *tree)
{
	struct text path = {0};
	size_t *ends = calloc(tree->node_count + 1, sizeof(*ends)); /* of the path, by depth */
	for (size_t i = 0; ends && i < tree->node_count; i++) {
		const struct flame_node *node = &tree->nodes[i];
		path.len = node->depth ? ends[node->depth - 1] : 0;
		if (node->depth)
			text_char(&path, ';');
		add_folded(&path, tree->labels[node->label].name);
		ends[node->depth] = path.len;
		if (node->self == 0)
			continue;
		text_bytes(out, path.data ? path.data : "", path.len);
		text_printf(out, " %" PRIu64 "\n", node->self);
		(void)text_line_end(out);
	}
	out->failed = out->failed || path.failed || !ends;
	free(ends);
	text_deinit(&path);
}
