/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_expression.c - parses the C expressions of print formats, by recursive descent over a slice of text.
 */
#include "analysis/trace/trace_expression.h"

#include "base/array.h"
#include "base/limits.h"

struct trace_expression_parser {
	struct tally_str rest;
	struct arena *arena;
	struct trace_event *event;
	unsigned long_bytes;
	VEC(struct trace_node) nodes;
	VEC(uint32_t) arguments;
	unsigned depth;
	bool failed;
};

static uint32_t parse_choice(struct trace_expression_parser *p);
static uint32_t parse_unary(struct trace_expression_parser *p);

static uint32_t trace_expression_fail(struct trace_expression_parser *p)
{
	p->failed = true;
	return 0;
}

static void skip_space(struct trace_expression_parser *p)
{
	while (p->rest.len > 0 && strchr(" \t\n\r", p->rest.data[0]))
		p->rest = (struct tally_str){p->rest.data + 1, p->rest.len - 1};
}

static char trace_expression_peek(struct trace_expression_parser *p)
{
	skip_space(p);
	return p->rest.len > 0 ? p->rest.data[0] : '\0';
}

static void trace_expression_drop(struct trace_expression_parser *p, size_t count)
{
	p->rest = (struct tally_str){p->rest.data + count, p->rest.len - count};
}

static bool trace_expression_take(struct trace_expression_parser *p, const char *token)
{
	size_t len = strlen(token);
	skip_space(p);
	if (p->rest.len < len || memcmp(p->rest.data, token, len) != 0)
		return false;
	trace_expression_drop(p, len);
	return true;
}

static void trace_expression_need(struct trace_expression_parser *p, const char *token)
{
	if (!trace_expression_take(p, token))
		p->failed = true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool trace_expression_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct tally_str peek_name(struct trace_expression_parser *p)
{
	size_t len = 0;
	skip_space(p);
	if (p->rest.len > 0 && is_letter(p->rest.data[0]))
		while (len < p->rest.len &&
			(is_letter(p->rest.data[len]) || trace_expression_is_digit(p->rest.data[len])))
			len++;
	return (struct tally_str){p->rest.data, len};
}

static struct tally_str take_name(struct trace_expression_parser *p)
{
	struct tally_str name = peek_name(p);
	trace_expression_drop(p, name.len);
	return name;
}

static uint32_t trace_expression_add(struct trace_expression_parser *p, struct trace_node node)
{
	/* Each node takes at least one character of the text, which limits their number. */
	if (p->failed || !vec_push(&p->nodes, node))
		return trace_expression_fail(p);
	return (uint32_t)p->nodes.len - 1;
}

static uint32_t trace_expression_add_number(struct trace_expression_parser *p, uint64_t value)
{
	return trace_expression_add(
		p, (struct trace_node){.kind = TRACE_NUMBER, .value = value, .op = value > INT64_MAX ? 'u' : 0});
}

struct tally_str trace_string_parse(struct tally_str *rest, struct arena *arena)
{
	static const char letters[] = "ntr0";
	static const char values[] = "\n\t\r";
	size_t end = 0;
	while (end < rest->len && rest->data[end] != '"')
		end += rest->data[end] == '\\' ? 2 : 1;
	char *to = end < rest->len ? arena_array(arena, char, end + 1) : NULL;
	if (!to)
		return (struct tally_str){NULL, 0};
	size_t len = 0;
	for (size_t i = 0; i < end; i++) {
		char c = rest->data[i];
		if (c == '\\') {
			c = rest->data[++i];
			const char *letter = c ? strchr(letters, c) : NULL;
			c = letter ? values[letter - letters] : c;
		}
		to[len++] = c;
	}
	to[len] = '\0';
	*rest = (struct tally_str){rest->data + end + 1, rest->len - end - 1};
	return (struct tally_str){to, len};
}

/* Joins adjacent string literals, as C does. */
static struct tally_str parse_string(struct trace_expression_parser *p)
{
	struct tally_str whole = {"", 0};
	while (!p->failed && trace_expression_take(p, "\"")) {
		struct tally_str part = trace_string_parse(&p->rest, p->arena);
		char *joined = part.data ? arena_array(p->arena, char, whole.len + part.len + 1) : NULL;
		if (!joined) {
			p->failed = true;
			break;
		}
		memcpy(joined, whole.data, whole.len);
		memcpy(joined + whole.len, part.data, part.len);
		joined[whole.len + part.len] = '\0';
		whole = (struct tally_str){joined, whole.len + part.len};
	}
	return whole;
}

static uint32_t parse_number(struct trace_expression_parser *p)
{
	size_t len = 0;
	while (len < p->rest.len && (trace_expression_is_digit(p->rest.data[len]) || is_letter(p->rest.data[len])))
		len++;
	struct tally_str digits = {p->rest.data, len};
	trace_expression_drop(p, len);
	while (digits.len > 1 && strchr("uUlL", digits.data[digits.len - 1]))
		digits.len--;
	uint64_t value;
	if (!str_to_u64(digits, 0, &value))
		return trace_expression_fail(p);
	return trace_expression_add_number(p, value);
}

static uint32_t parse_character(struct trace_expression_parser *p)
{
	static const char letters[] = "ntr0";
	static const char values[] = "\n\t\r";
	if (p->rest.len < 3)
		return trace_expression_fail(p);
	char c = p->rest.data[1];
	size_t len = 3;
	if (c == '\\') {
		c = p->rest.data[2];
		const char *letter = c ? strchr(letters, c) : NULL;
		c = letter ? values[letter - letters] : c;
		len = 4;
	}
	if (p->rest.len < len || p->rest.data[len - 1] != '\'')
		return trace_expression_fail(p);
	trace_expression_drop(p, len);
	return trace_expression_add_number(p, (uint64_t)(unsigned char)c);
}

static uint32_t field_node(struct trace_expression_parser *p, enum trace_node_kind kind, struct tally_str name)
{
	uint32_t field = trace_event_field(p->event, name);
	if (field == UINT32_MAX)
		return trace_expression_fail(p);
	return trace_expression_add(p, (struct trace_node){.kind = kind, .value = field});
}

/* Parses "text" or ("text"). Skips any other expression, such as NULL, and returns false. */
static bool take_item_text(struct trace_expression_parser *p, struct tally_str *text)
{
	struct tally_str before = p->rest;
	bool in_parentheses = trace_expression_take(p, "(");
	if (trace_expression_peek(p) != '"') {
		p->rest = before;
		(void)parse_choice(p);
		return false;
	}
	*text = parse_string(p);
	if (in_parentheses)
		trace_expression_need(p, ")");
	return true;
}

/* Parses { value, "text" }, ... to the end of the call. */
static uint32_t parse_items(struct trace_expression_parser *p)
{
	uint32_t first = TRACE_NO_NODE;
	uint32_t last = TRACE_NO_NODE;
	while (!p->failed && trace_expression_take(p, ",")) {
		struct trace_node item = {.kind = TRACE_ITEM, .b = TRACE_NO_NODE};
		if (trace_expression_peek(p) == ')')
			break;
		trace_expression_need(p, "{");
		item.a = parse_choice(p);
		trace_expression_need(p, ",");
		bool has_text = take_item_text(p, &item.text);
		trace_expression_need(p, "}");
		if (!has_text)
			continue; /* The kernel terminates its lists with NULL. */
		uint32_t node = trace_expression_add(p, item);
		if (p->failed)
			break;
		if (last == TRACE_NO_NODE)
			first = node;
		else
			p->nodes.items[last].b = node;
		last = node;
	}
	return first;
}

static uint32_t parse_flags(struct trace_expression_parser *p)
{
	struct trace_node node = {.kind = TRACE_FLAGS};
	node.a = parse_choice(p);
	trace_expression_need(p, ",");
	if (trace_expression_peek(p) == '"')
		node.text = parse_string(p);
	else
		(void)parse_choice(p); /* NULL or 0: no separator. */
	node.b = parse_items(p);
	trace_expression_need(p, ")");
	return trace_expression_add(p, node);
}

static uint32_t parse_symbolic(struct trace_expression_parser *p)
{
	struct trace_node node = {.kind = TRACE_SYMBOLIC};
	node.a = parse_choice(p);
	node.b = parse_items(p);
	trace_expression_need(p, ")");
	return trace_expression_add(p, node);
}

static uint32_t parse_hex(struct trace_expression_parser *p, uint32_t separator)
{
	struct trace_node node = {.kind = TRACE_HEX, .op = separator};
	node.a = parse_choice(p);
	trace_expression_need(p, ",");
	node.b = parse_choice(p);
	trace_expression_need(p, ")");
	return trace_expression_add(p, node);
}

static uint32_t parse_array(struct trace_expression_parser *p)
{
	struct trace_node node = {.kind = TRACE_ARRAY};
	node.a = parse_choice(p);
	trace_expression_need(p, ",");
	node.b = parse_choice(p);
	trace_expression_need(p, ",");
	node.c = parse_choice(p);
	trace_expression_need(p, ")");
	return trace_expression_add(p, node);
}

static uint32_t parse_field_call(struct trace_expression_parser *p, enum trace_node_kind kind)
{
	struct tally_str name = take_name(p);
	trace_expression_need(p, ")");
	return p->failed ? 0 : field_node(p, kind, name);
}

/* Parses a type up to a closing parenthesis. Returns its size in bytes; 0 if it is not a type. */
static unsigned take_type(struct trace_expression_parser *p, bool *is_signed)
{
	static const char *const words[] = {"unsigned", "signed", "char", "short", "int", "long", "const", "volatile",
		"void", "bool", "struct", "enum", "union", "uint", "ulong"};
	struct trace_expression_parser saved = *p;
	bool is_unsigned = false;
	bool is_known = false;
	unsigned bytes = 0;
	unsigned longs = 0;
	struct tally_str name = take_name(p);
	for (; name.len > 0; name = take_name(p)) {
		bool is_word = false;
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			is_word = is_word || str_equal(name, str_from(words[i]));
		bool is_fixed = str_equal(name, STR("u8")) || str_equal(name, STR("s8")) ||
				str_ends_with(name, STR("16")) || str_ends_with(name, STR("32")) ||
				str_ends_with(name, STR("64")) || str_ends_with(name, STR("_t")) ||
				str_equal(name, STR("__u8")) || str_equal(name, STR("__s8"));
		is_known = is_known || is_word || is_fixed;
		is_unsigned = is_unsigned || str_equal(name, STR("unsigned")) || str_equal(name, STR("bool")) ||
			      name.data[0] == 'u' || str_starts_with(name, STR("__u"));
		longs += str_equal(name, STR("long")) || str_equal(name, STR("ulong"));
		if (str_ends_with(name, STR("8")) || str_equal(name, STR("char")) || str_equal(name, STR("bool")))
			bytes = 1;
		else if (str_ends_with(name, STR("16")) || str_equal(name, STR("short")))
			bytes = 2;
		else if (str_ends_with(name, STR("64")))
			bytes = 8;
		else if (bytes == 0 && (str_ends_with(name, STR("32")) || str_equal(name, STR("int")) ||
					       str_equal(name, STR("uint")) || str_equal(name, STR("unsigned"))))
			bytes = 4;
	}
	if (longs > 0)
		bytes = longs > 1 ? 8 : p->long_bytes;
	bool is_pointer = false;
	while (trace_expression_take(p, "*"))
		is_pointer = true;
	if (!trace_expression_take(p, ")") || (!is_known && !is_pointer)) {
		p->rest = saved.rest;
		return 0;
	}
	*is_signed = !is_unsigned && !is_pointer;
	return is_pointer || bytes == 0 ? 8 : bytes;
}

static uint32_t parse_call(struct trace_expression_parser *p, struct tally_str name)
{
	static const struct {
		const char *name;
		enum trace_node_kind kind;
	} calls[] = {
		{"__get_str", TRACE_DYNAMIC},
		{"__get_rel_str", TRACE_DYNAMIC},
		{"__get_dynamic_array", TRACE_DYNAMIC},
		{"__get_rel_dynamic_array", TRACE_DYNAMIC},
		{"__get_sockaddr", TRACE_DYNAMIC},
		{"__get_rel_sockaddr", TRACE_DYNAMIC},
		{"__get_dynamic_array_len", TRACE_DYNAMIC_LENGTH},
		{"__get_rel_dynamic_array_len", TRACE_DYNAMIC_LENGTH},
		{"__get_bitmask", TRACE_BITMASK},
		{"__get_rel_bitmask", TRACE_BITMASK},
		{"__get_cpumask", TRACE_BITMASK},
		{"__get_rel_cpumask", TRACE_BITMASK},
	};
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (str_equal(name, str_from(calls[i].name)))
			return parse_field_call(p, calls[i].kind);
	if (str_equal(name, STR("__print_flags")) || str_equal(name, STR("__print_flags_u64")))
		return parse_flags(p);
	if (str_equal(name, STR("__print_symbolic")) || str_equal(name, STR("__print_symbolic_u64")))
		return parse_symbolic(p);
	if (str_equal(name, STR("__print_hex")))
		return parse_hex(p, ' ');
	if (str_equal(name, STR("__print_hex_str")))
		return parse_hex(p, 0);
	if (str_equal(name, STR("__print_array")))
		return parse_array(p);
	bool is_signed;
	unsigned bytes = str_equal(name, STR("sizeof")) ? take_type(p, &is_signed) : 0;
	if (bytes > 0)
		return trace_expression_add_number(p, bytes);
	if (str_equal(name, STR("__builtin_expect"))) {
		uint32_t value = parse_choice(p);
		trace_expression_need(p, ",");
		(void)parse_choice(p);
		trace_expression_need(p, ")");
		return value;
	}
	return trace_expression_fail(p);
}

static uint32_t parse_primary(struct trace_expression_parser *p)
{
	char c = trace_expression_peek(p);
	if (c == '"')
		return trace_expression_add(p, (struct trace_node){.kind = TRACE_STRING, .text = parse_string(p)});
	if (c == '\'')
		return parse_character(p);
	if (trace_expression_is_digit(c))
		return parse_number(p);
	if (trace_expression_take(p, "(")) {
		bool is_signed = false;
		unsigned bytes = take_type(p, &is_signed);
		if (bytes > 0)
			return trace_expression_add(p, (struct trace_node){.kind = TRACE_CAST,
							       .a = parse_unary(p),
							       .value = bytes,
							       .op = is_signed ? 's' : 0});
		uint32_t inner = parse_choice(p);
		trace_expression_need(p, ")");
		return inner;
	}
	struct tally_str name = take_name(p);
	if (name.len == 0)
		return trace_expression_fail(p);
	if (trace_expression_take(p, "("))
		return parse_call(p, name);
	if (str_equal(name, STR("REC"))) {
		trace_expression_need(p, "->");
		name = take_name(p);
		return p->failed ? 0 : field_node(p, TRACE_FIELD, name);
	}
	return trace_expression_add(p, (struct trace_node){.kind = TRACE_UNKNOWN, .text = name});
}

static uint32_t parse_postfix(struct trace_expression_parser *p)
{
	uint32_t node = parse_primary(p);
	while (!p->failed && trace_expression_take(p, "[")) {
		struct trace_node index = {.kind = TRACE_INDEX, .a = node};
		index.b = parse_choice(p);
		trace_expression_need(p, "]");
		node = trace_expression_add(p, index);
	}
	return node;
}

static uint32_t parse_unary(struct trace_expression_parser *p)
{
	if (p->failed || p->depth++ >= LIMIT_TRACE_DEPTH)
		return trace_expression_fail(p);
	uint32_t result;
	char c = trace_expression_peek(p);
	if (c && strchr("-!~&+", c)) {
		trace_expression_drop(p, 1);
		result = trace_expression_add(
			p, (struct trace_node){.kind = TRACE_UNARY, .a = parse_unary(p), .op = (uint32_t)c});
	} else {
		result = parse_postfix(p);
	}
	p->depth--;
	return result;
}

/* Longer tokens come before their prefixes. */
static const struct {
	const char *token;
	unsigned precedence;
	uint32_t op;
} operators[] = {
	{"<<", 8, TRACE_SHIFT_LEFT},
	{">>", 8, TRACE_SHIFT_RIGHT},
	{"<=", 7, TRACE_LESS_EQUAL},
	{">=", 7, TRACE_GREATER_EQUAL},
	{"==", 6, TRACE_EQUAL},
	{"!=", 6, TRACE_UNEQUAL},
	{"&&", 2, TRACE_AND},
	{"||", 1, TRACE_OR},
	{"*", 10, '*'},
	{"/", 10, '/'},
	{"%", 10, '%'},
	{"+", 9, '+'},
	{"-", 9, '-'},
	{"<", 7, '<'},
	{">", 7, '>'},
	{"&", 5, '&'},
	{"^", 4, '^'},
	{"|", 3, '|'},
};

static uint32_t parse_binary(struct trace_expression_parser *p, unsigned least)
{
	uint32_t left = parse_unary(p);
	while (!p->failed) {
		size_t i = 0;
		size_t count = ARRAY_LEN(operators);
		struct tally_str before = p->rest;
		while (i < count && !trace_expression_take(p, operators[i].token))
			i++;
		if (i == count)
			break;
		if (operators[i].precedence < least) {
			p->rest = before;
			break;
		}
		struct trace_node node = {.kind = TRACE_BINARY, .a = left, .op = operators[i].op};
		if (p->depth++ >= LIMIT_TRACE_DEPTH)
			return trace_expression_fail(p);
		node.b = parse_binary(p, operators[i].precedence + 1);
		p->depth--;
		left = trace_expression_add(p, node);
	}
	return left;
}

static uint32_t parse_choice(struct trace_expression_parser *p)
{
	if (p->failed || p->depth++ >= LIMIT_TRACE_DEPTH)
		return trace_expression_fail(p);
	uint32_t node = parse_binary(p, 1);
	if (!p->failed && trace_expression_take(p, "?")) {
		struct trace_node choice = {.kind = TRACE_CHOICE, .a = node};
		choice.b = parse_choice(p);
		trace_expression_need(p, ":");
		choice.c = parse_choice(p);
		node = trace_expression_add(p, choice);
	}
	p->depth--;
	return node;
}

bool trace_print_parse(struct tally_str text, unsigned long_bytes, struct arena *arena, struct trace_event *event)
{
	struct trace_expression_parser p = {.rest = text, .arena = arena, .event = event, .long_bytes = long_bytes};
	if (trace_expression_peek(&p) != '"')
		return false;
	event->format = parse_string(&p);
	while (!p.failed && trace_expression_take(&p, ",")) {
		uint32_t node = parse_choice(&p);
		if (!p.failed && !vec_push(&p.arguments, node))
			p.failed = true;
	}
	bool ok = !p.failed && trace_expression_peek(&p) == '\0';
	if (ok) {
		event->nodes = arena_array(arena, struct trace_node, p.nodes.len + 1);
		event->arguments = arena_array(arena, uint32_t, p.arguments.len + 1);
		ok = event->nodes && event->arguments;
	}
	if (ok) {
		event->node_count = (uint32_t)p.nodes.len;
		event->argument_count = (uint32_t)p.arguments.len;
		if (p.nodes.len > 0)
			memcpy(event->nodes, p.nodes.items, p.nodes.len * sizeof(*p.nodes.items));
		if (p.arguments.len > 0)
			memcpy(event->arguments, p.arguments.items, p.arguments.len * sizeof(*p.arguments.items));
	}
	vec_free(&p.nodes);
	vec_free(&p.arguments);
	return ok;
}
