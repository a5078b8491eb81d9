/* SPDX-License-Identifier: Apache-2.0 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "fleet/labels.h"

#define QUERY_BYTES   4096
#define QUERY_DEPTH   32 /* Maximum nesting of parentheses and negations. */
#define QUERY_TERMS   256
#define QUERY_REGEXES 16
#define REGEX_BYTES   512
#define REGEX_NODES   1024 /* Maximum number of nodes of the tree after glibc has expanded repetitions. */

enum label_query_kind { QUERY_EQUAL, QUERY_MATCH, QUERY_NOT, QUERY_AND, QUERY_OR };

struct label_query_node {
	enum label_query_kind kind;
	bool is_negated; /* Set for != and !~. */
	struct tally_str name, value; /* Operands of a comparison. */
	regex_t *regex;
	struct label_query_node *first, *next; /* The first operand, and the next operand of the same parent. */
};

struct label_query {
	struct arena arena;
	regex_t regexes[QUERY_REGEXES];
	size_t regex_count, term_count;
	struct label_query_node *root; /* NULL selects everything. */
};

struct label_query_parser {
	struct label_query *query;
	struct tally_str text;
	size_t at;
	unsigned depth;
	struct tally_error *err;
	enum tally_status status; /* Status of the first failure. */
};

static struct label_query_node *label_query_parse_or(struct label_query_parser *p);

/* Returns NULL, which the caller may return. */
static struct label_query_node *label_query_fail(struct label_query_parser *p, size_t at, const char *problem)
{
	if (p->status == TALLY_OK)
		p->status = error_set(p->err, TALLY_INVALID, "label query, column %zu: %s", at + 1, problem);
	return NULL;
}

static struct label_query_node *label_query_nomem(struct label_query_parser *p)
{
	if (p->status == TALLY_OK)
		p->status = error_nomem(p->err);
	return NULL;
}

static struct label_query_node *label_query_add(struct label_query_parser *p, enum label_query_kind kind)
{
	struct label_query_node *node = arena_new(&p->query->arena, struct label_query_node);
	if (!node)
		return label_query_nomem(p);
	node->kind = kind;
	return node;
}

static char label_query_peek(const struct label_query_parser *p, size_t ahead)
{
	return p->at + ahead < p->text.len ? p->text.data[p->at + ahead] : '\0';
}

static void label_query_skip_blanks(struct label_query_parser *p)
{
	while (p->at < p->text.len && strchr(" \t\r\n", p->text.data[p->at]))
		p->at++;
}

static bool label_query_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name at the position; empty if there is none. */
static struct tally_str label_query_word(const struct label_query_parser *p)
{
	size_t len = 0;
	while (label_query_is_word(label_query_peek(p, len)))
		len++;
	return (struct tally_str){p->text.data + p->at, len};
}

static bool label_query_take_keyword(struct label_query_parser *p, struct tally_str keyword)
{
	label_query_skip_blanks(p);
	if (!str_equal(label_query_word(p), keyword))
		return false;
	p->at += keyword.len;
	return true;
}

/* Parses "..." with the escapes \" and \\. */
static bool label_query_take_string(struct label_query_parser *p, struct tally_str *value)
{
	size_t begin = p->at, len = 0;
	label_query_skip_blanks(p);
	if (label_query_peek(p, 0) != '"')
		return label_query_fail(p, p->at, "a value in double quotes is missing");
	begin = p->at++;
	char *room = arena_alloc(&p->query->arena, p->text.len - p->at + 1, 1);
	if (!room)
		return label_query_nomem(p);
	for (; p->at < p->text.len && p->text.data[p->at] != '"'; p->at++) {
		if (p->text.data[p->at] == '\\') {
			p->at++;
			if (label_query_peek(p, 0) != '"' && label_query_peek(p, 0) != '\\')
				return label_query_fail(
					p, p->at - 1, "in a value, a backslash precedes \" or another backslash");
		}
		if (label_query_peek(p, 0) == '\0')
			return label_query_fail(p, p->at, "a value contains a NUL");
		room[len++] = p->text.data[p->at];
	}
	if (p->at == p->text.len)
		return label_query_fail(p, begin, "the value that begins here has no closing quote");
	p->at++;
	room[len] = '\0';
	*value = (struct tally_str){room, len};
	return true;
}

/* Maximum number of copies that a repetition such as "{2,5}" makes. */
static uint64_t label_query_repeat(struct tally_str pattern, size_t at)
{
	uint64_t count = 0, most = 1;
	for (size_t i = at + 1; i < pattern.len && pattern.data[i] != '}'; i++) {
		char c = pattern.data[i];
		count = c >= '0' && c <= '9' ? MIN(count * 10 + (uint64_t)(c - '0'), REGEX_NODES) : 0;
		most = MAX(most, count);
	}
	return most + 1; /* "{2,}" makes one more copy. */
}

/* Returns the end of the bracket expression at `at`; SIZE_MAX if it is not closed or contains more than characters,
 * ranges and classes. */
static size_t label_query_bracket_end(struct tally_str pattern, size_t at)
{
	size_t i = at + 1;
	i += i < pattern.len && pattern.data[i] == '^';
	i += i < pattern.len && pattern.data[i] == ']';
	for (; i < pattern.len && pattern.data[i] != ']'; i++) {
		char next = i + 1 < pattern.len ? pattern.data[i + 1] : '\0';
		if (pattern.data[i] != '[' || (next != ':' && next != '.' && next != '='))
			continue;
		const char *end = memmem(pattern.data + i + 2, pattern.len - i - 2, ":]", 2);
		if (next != ':' || !end)
			return SIZE_MAX;
		i = (size_t)(end - pattern.data) + 1;
	}
	return i < pattern.len ? i : SIZE_MAX;
}

struct label_query_size {
	uint64_t before, last; /* Number of nodes of a group before its last operand, and of that operand. */
};

/* Counts the nodes that glibc will make: it copies what braces and '+' repeat, and nested repetitions multiply. */
static const char *label_query_regex_problem(struct tally_str pattern)
{
	struct label_query_size groups[REGEX_BYTES + 1] = {{0, 0}}, *group = groups;
	if (pattern.len > REGEX_BYTES)
		return "the regular expression is longer than 512 bytes";
	for (size_t i = 0; i < pattern.len; i++) {
		char c = pattern.data[i];
		if (c == '+' || c == '{') {
			group->last *= c == '+' ? 2 : label_query_repeat(pattern, i);
		} else if (c == '(') {
			*++group = (struct label_query_size){0, 0};
		} else if (c == ')' && group > groups) {
			uint64_t sum = group->before + group->last + 1;
			group--;
			group->before += group->last;
			group->last = sum;
		} else if (c != '*' && c != '?') {
			if (c == '\\' && ++i < pattern.len && pattern.data[i] >= '1' && pattern.data[i] <= '9')
				return "regular expressions may not refer back to groups";
			if (c == '[' && (i = label_query_bracket_end(pattern, i)) == SIZE_MAX)
				return "a bracket expression is not closed, or has more than characters, ranges and "
				       "classes";
			group->before += group->last;
			group->last = 1;
		}
		if (group->before + group->last > REGEX_NODES)
			return "the regular expression repeats too much: it stands for more than 1,024 characters";
	}
	return NULL;
}

static bool label_query_compile(struct label_query_parser *p, struct label_query_node *node, size_t at)
{
	struct label_query *q = p->query;
	char reason[80], problem[120];
	const char *refused = label_query_regex_problem(node->value);
	if (!refused && q->regex_count == QUERY_REGEXES)
		refused = "a query may have 16 regular expressions at most";
	if (refused)
		return label_query_fail(p, at, refused);
	int failure = regcomp(&q->regexes[q->regex_count], node->value.data, REG_EXTENDED);
	if (failure == REG_ESPACE)
		return label_query_nomem(p);
	if (failure) {
		regerror(failure, NULL, reason, sizeof(reason));
		snprintf(problem, sizeof(problem), "wrong regular expression: %s", reason);
		return label_query_fail(p, at, problem);
	}
	node->regex = &q->regexes[q->regex_count++];
	return true;
}

/* Parses NAME="VALUE", or a comparison with !=, =~ or !~. */
static struct label_query_node *label_query_parse_comparison(struct label_query_parser *p)
{
	struct tally_str name = label_query_word(p);
	if (name.len == 0)
		return label_query_fail(p, p->at, "a comparison such as service=\"api\" is missing");
	if (!label_name_is_valid(name))
		return label_query_fail(p, p->at, "this cannot be the name of a label");
	if (++p->query->term_count > QUERY_TERMS)
		return label_query_fail(p, p->at, "a query may have 256 comparisons at most");
	p->at += name.len;
	label_query_skip_blanks(p);
	char first = label_query_peek(p, 0), second = label_query_peek(p, 1);
	bool is_regex = (first == '=' || first == '!') && second == '~';
	if (!is_regex && first != '=' && !(first == '!' && second == '='))
		return label_query_fail(p, p->at, "one of =, !=, =~ and !~ is missing");
	p->at += is_regex || first == '!' ? 2 : 1;
	struct label_query_node *node = label_query_add(p, is_regex ? QUERY_MATCH : QUERY_EQUAL);
	if (!node)
		return NULL;
	node->name = name;
	node->is_negated = first == '!';
	label_query_skip_blanks(p);
	size_t begin = p->at;
	if (!label_query_take_string(p, &node->value) || (is_regex && !label_query_compile(p, node, begin)))
		return NULL;
	return node;
}

static struct label_query_node *label_query_parse_group(struct label_query_parser *p)
{
	size_t begin = p->at++;
	struct label_query_node *inner = label_query_parse_or(p);
	if (!inner)
		return NULL;
	label_query_skip_blanks(p);
	if (label_query_peek(p, 0) != ')')
		return label_query_fail(p, begin, "the parenthesis that opens here is not closed");
	p->at++;
	return inner;
}

static struct label_query_node *label_query_parse_factor(struct label_query_parser *p)
{
	struct label_query_node *node;
	label_query_skip_blanks(p);
	if (++p->depth > QUERY_DEPTH)
		return label_query_fail(p, p->at, "parentheses and negations may nest 32 deep at most");
	if (label_query_take_keyword(p, STR("not"))) {
		struct label_query_node *inner = label_query_parse_factor(p);
		node = inner ? label_query_add(p, QUERY_NOT) : NULL;
		if (node)
			node->first = inner;
	} else if (label_query_peek(p, 0) == '(') {
		node = label_query_parse_group(p);
	} else {
		node = label_query_parse_comparison(p);
	}
	p->depth--;
	return node;
}

/* Parses operands with the keyword between them; a single operand is the result itself. */
static struct label_query_node *label_query_parse_list(struct label_query_parser *p, enum label_query_kind kind,
	struct tally_str keyword, struct label_query_node *(*parse)(struct label_query_parser *p))
{
	struct label_query_node *node = parse(p), *last = node, *list = NULL;
	while (node && label_query_take_keyword(p, keyword)) {
		if (!list && !(list = label_query_add(p, kind)))
			return NULL;
		list->first = list->first ? list->first : node;
		last->next = parse(p);
		last = last->next;
		if (!last)
			return NULL;
	}
	return list ? list : node;
}

static struct label_query_node *label_query_parse_and(struct label_query_parser *p)
{
	return label_query_parse_list(p, QUERY_AND, STR("and"), label_query_parse_factor);
}

static struct label_query_node *label_query_parse_or(struct label_query_parser *p)
{
	return label_query_parse_list(p, QUERY_OR, STR("or"), label_query_parse_and);
}

static void label_query_parse_all(struct label_query_parser *p)
{
	if (p->text.len > QUERY_BYTES) {
		label_query_fail(p, QUERY_BYTES, "a query may have 4,096 bytes at most");
		return;
	}
	label_query_skip_blanks(p);
	if (p->at == p->text.len)
		return;
	p->query->root = label_query_parse_or(p);
	label_query_skip_blanks(p);
	if (p->status == TALLY_OK && p->at < p->text.len)
		label_query_fail(p, p->at, "'and', 'or' or the end of the query was expected");
}

enum tally_status label_query_parse(struct tally_str text, struct label_query **query, struct tally_error *err)
{
	struct label_query *q = calloc(1, sizeof(*q));
	if (!q)
		return error_nomem(err);
	arena_init(&q->arena);
	/* Names in the query point into this copy. */
	char *copy = arena_string(&q->arena, text.data, MIN(text.len, QUERY_BYTES));
	struct label_query_parser parser = {.query = q, .text = {copy, text.len}, .err = err};
	if (copy)
		label_query_parse_all(&parser);
	else
		label_query_nomem(&parser);
	if (parser.status != TALLY_OK) {
		label_query_destroy(q);
		return parser.status;
	}
	*query = q;
	return TALLY_OK;
}

void label_query_destroy(struct label_query *query)
{
	if (!query)
		return;
	for (size_t i = 0; i < query->regex_count; i++)
		regfree(&query->regexes[i]);
	arena_deinit(&query->arena);
	free(query);
}

/* The whole value must match: if it can, it is the leftmost longest match, which is the one that regexec finds. */
static bool label_query_matches_regex(const regex_t *regex, struct tally_str value)
{
	char text[LABEL_VALUE_BYTES + 1];
	regmatch_t match;
	if (value.len > LABEL_VALUE_BYTES)
		return false;
	if (value.len > 0)
		memcpy(text, value.data, value.len);
	text[value.len] = '\0';
	return regexec(regex, text, 1, &match, 0) == 0 && match.rm_so == 0 && (size_t)match.rm_eo == value.len;
}

static bool label_query_evaluate(
	const struct label_query_node *node, const struct fleet_labels *lists, size_t list_count)
{
	const struct fleet_label *label = NULL;
	struct tally_str value = STR("");
	if (node->kind == QUERY_NOT)
		return !label_query_evaluate(node->first, lists, list_count);
	if (node->kind == QUERY_AND || node->kind == QUERY_OR) {
		bool decides = node->kind == QUERY_OR;
		for (const struct label_query_node *n = node->first; n; n = n->next)
			if (label_query_evaluate(n, lists, list_count) == decides)
				return decides;
		return !decides;
	}
	for (size_t i = 0; i < list_count && !label; i++)
		label = fleet_labels_find(&lists[i], node->name);
	if (label)
		value = label->value;
	bool is_match = node->kind == QUERY_EQUAL ? str_equal(value, node->value)
						  : label_query_matches_regex(node->regex, value);
	return is_match != node->is_negated;
}

bool label_query_matches(const struct label_query *query, const struct fleet_labels *lists, size_t list_count)
{
	return !query || !query->root || label_query_evaluate(query->root, lists, list_count);
}
