/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_filter.h"

#include <ctype.h>

#include "base/error.h"

#define PROBE_FILTER_DEPTH_MAX 64 /* Maximum nesting of parentheses and exclamation marks. */

struct probe_filter {
	enum probe_filter_kind { PROBE_FILTER_PATTERN, PROBE_FILTER_NOT, PROBE_FILTER_AND, PROBE_FILTER_OR } kind;
	struct tally_str pattern;
	/* A chain of & or | nests on the right, so that probe_filter_fits can loop instead of recursing. */
	const struct probe_filter *left, *right;
};

struct probe_filter_parser {
	struct tally_str text;
	size_t at;
	unsigned depth;
	struct arena *arena;
	struct tally_error *err;
};

static enum tally_status probe_filter_any(struct probe_filter_parser *parser, const struct probe_filter **out);

static enum tally_status probe_filter_wrong(const struct probe_filter_parser *parser)
{
	return error_set(parser->err, TALLY_INVALID, "Filter parse error at %zu.\nSource: \"%.*s\"\n         %*s",
		parser->at + 1, (int)parser->text.len, parser->text.data, (int)parser->at + 1, "^");
}

/* Returns the next character that is not blank; 0 at the end. */
static char probe_filter_peek(struct probe_filter_parser *parser)
{
	while (parser->at < parser->text.len && isspace((unsigned char)parser->text.data[parser->at]))
		parser->at++;
	return parser->at < parser->text.len ? parser->text.data[parser->at] : 0;
}

/* Returns NULL if memory runs out. */
static struct probe_filter *probe_filter_make(struct probe_filter_parser *parser, struct probe_filter filter)
{
	struct probe_filter *made = arena_new(parser->arena, struct probe_filter);
	if (made)
		*made = filter;
	else
		(void)error_nomem(parser->err);
	return made;
}

static enum tally_status probe_filter_pattern(struct probe_filter_parser *parser, const struct probe_filter **out)
{
	size_t begin = parser->at;
	while (parser->at < parser->text.len) {
		char c = parser->text.data[parser->at];
		if (isspace((unsigned char)c) || c == '&' || c == '|' || c == '(' || c == ')')
			break;
		parser->at += c == '\\' && parser->at + 1 < parser->text.len ? 2 : 1;
	}
	if (parser->at == begin)
		return probe_filter_wrong(parser);
	const struct tally_str pattern = {parser->text.data + begin, parser->at - begin};
	*out = probe_filter_make(parser, (struct probe_filter){.kind = PROBE_FILTER_PATTERN, .pattern = pattern});
	return *out ? TALLY_OK : TALLY_NOMEM;
}

static enum tally_status probe_filter_one(struct probe_filter_parser *parser, const struct probe_filter **out)
{
	struct probe_filter filter = {.kind = PROBE_FILTER_NOT};
	char c = probe_filter_peek(parser);
	if (c != '!' && c != '(')
		return probe_filter_pattern(parser, out);
	if (parser->depth == PROBE_FILTER_DEPTH_MAX)
		return probe_filter_wrong(parser);
	parser->depth++;
	parser->at++;
	enum tally_status status = c == '!' ? probe_filter_one(parser, &filter.left) : probe_filter_any(parser, out);
	parser->depth--;
	if (status != TALLY_OK)
		return status;
	if (c == '!') {
		*out = probe_filter_make(parser, filter);
		return *out ? TALLY_OK : TALLY_NOMEM;
	}
	if (probe_filter_peek(parser) != ')')
		return probe_filter_wrong(parser);
	parser->at++;
	return TALLY_OK;
}

/* Parses a chain of one operator. Operands of | are chains of &; operands of & are patterns, negations and filters in
 * parentheses. */
static enum tally_status probe_filter_chain(
	struct probe_filter_parser *parser, enum probe_filter_kind kind, const struct probe_filter **out)
{
	const struct probe_filter **end = out;
	for (;;) {
		const struct probe_filter *item;
		enum tally_status status = kind == PROBE_FILTER_OR ? probe_filter_chain(parser, PROBE_FILTER_AND, &item)
								   : probe_filter_one(parser, &item);
		if (status != TALLY_OK)
			return status;
		if (probe_filter_peek(parser) != (kind == PROBE_FILTER_OR ? '|' : '&')) {
			*end = item;
			return TALLY_OK;
		}
		parser->at++;
		struct probe_filter *joined =
			probe_filter_make(parser, (struct probe_filter){.kind = kind, .left = item});
		if (!joined)
			return TALLY_NOMEM;
		*end = joined;
		end = &joined->right;
	}
}

static enum tally_status probe_filter_any(struct probe_filter_parser *parser, const struct probe_filter **out)
{
	return probe_filter_chain(parser, PROBE_FILTER_OR, out);
}

enum tally_status probe_filter_parse(
	const char *text, struct arena *arena, const struct probe_filter **filter, struct tally_error *err)
{
	const char *copy = arena_string(arena, text, strlen(text));
	struct probe_filter_parser parser = {.text = str_from(copy), .arena = arena, .err = err};
	const struct probe_filter *made = NULL;
	if (!copy)
		return error_nomem(err);
	enum tally_status status = probe_filter_any(&parser, &made);
	if (status == TALLY_OK && probe_filter_peek(&parser) != 0)
		status = probe_filter_wrong(&parser);
	if (status == TALLY_OK)
		*filter = made;
	return status;
}

bool probe_filter_fits(const struct probe_filter *filter, struct tally_str name)
{
	for (;;) {
		switch (filter->kind) {
		case PROBE_FILTER_PATTERN:
			return str_glob(filter->pattern, name);
		case PROBE_FILTER_NOT:
			return !probe_filter_fits(filter->left, name);
		case PROBE_FILTER_AND:
		case PROBE_FILTER_OR:
			if (probe_filter_fits(filter->left, name) == (filter->kind == PROBE_FILTER_OR))
				return filter->kind == PROBE_FILTER_OR;
			filter = filter->right;
			break;
		}
	}
}
