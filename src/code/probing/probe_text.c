/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_text.h"

#include <ctype.h>
#include <limits.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"

#define PROBE_TEXT_FIELDS_MAX 64
#define PROBE_TEXT_FILE_SHOWN 30 /* Maximum number of characters of a path that are shown. */

/* Returns the position of the first character in set that is neither escaped, quoted, nor part of a "::"; text.len if
 * there is none. */
static size_t probe_text_find(struct tally_str text, const char *set)
{
	char quote = 0;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		if (c == '\\') {
			i++;
		} else if (quote) {
			if (c == quote)
				quote = 0;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == ':' && i + 1 < text.len && text.data[i + 1] == ':') {
			i++;
		} else if (c && strchr(set, c)) {
			return i;
		}
	}
	return text.len;
}

/* Removes backslashes and quotes. In the result, data is NULL if memory ran out. */
static struct tally_str probe_text_plain(struct arena *arena, struct tally_str text)
{
	char *plain = arena_alloc(arena, text.len + 1, 1);
	size_t len = 0;
	char quote = 0;
	for (size_t i = 0; plain && i < text.len; i++) {
		char c = text.data[i];
		if (c == '\\' && i + 1 < text.len)
			plain[len++] = text.data[++i];
		else if (quote ? c == quote : c == '"' || c == '\'')
			quote = quote ? 0 : c;
		else
			plain[len++] = c;
	}
	return (struct tally_str){plain, len};
}

/* Removes the next word from rest. Blanks separate words unless they are quoted. */
static bool probe_text_word(struct tally_str *rest, struct tally_str *word)
{
	*rest = str_trim(*rest);
	if (rest->len == 0)
		return false;
	char quote = 0;
	size_t end = 0;
	for (; end < rest->len; end++) {
		char c = rest->data[end];
		if (c == '\\' && end + 1 < rest->len)
			end++;
		else if (quote ? c == quote : c == '"' || c == '\'')
			quote = quote ? 0 : c;
		else if (!quote && isspace((unsigned char)c))
			break;
	}
	end = MIN(end, rest->len);
	*word = (struct tally_str){rest->data, end};
	*rest = (struct tally_str){rest->data + end, rest->len - end};
	return true;
}

static struct tally_str probe_text_from(struct tally_str text, size_t begin)
{
	begin = MIN(begin, text.len);
	return (struct tally_str){text.data + begin, text.len - begin};
}

static struct tally_str probe_text_until(struct tally_str text, size_t end)
{
	return (struct tally_str){text.data, MIN(end, text.len)};
}

bool probe_name_is_valid(struct tally_str name)
{
	if (name.len == 0 || isdigit((unsigned char)name.data[0]))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!isalnum((unsigned char)name.data[i]) && name.data[i] != '_')
			return false;
	return true;
}

/* Sets an error with a part of the input between two texts. */
static enum tally_status probe_text_refuse(
	struct tally_error *err, const char *before, struct tally_str part, const char *behind)
{
	char room[256];
	struct text out = text_over(room, sizeof(room) - 1);
	text_visible(&out, probe_text_until(part, 64));
	room[out.len] = 0;
	return error_set(err, TALLY_INVALID, "%s%s%s", before, room, behind);
}

/* An empty number is 0, as in perf. */
static enum tally_status probe_text_line(struct tally_str text, uint32_t *line, struct tally_error *err)
{
	uint64_t value = 0;
	if (text.len > 0 && !str_to_u64(text, 10, &value))
		return probe_text_refuse(err, "There is non-digit char in line number '", text, "'.");
	if (value > INT_MAX)
		return probe_text_refuse(err, "The line number '", text, "' is too large.");
	*line = (uint32_t)value;
	return TALLY_OK;
}

struct probe_text_parser {
	struct arena *arena;
	struct probe_point *point;
	struct tally_error *err;
};

static enum tally_status probe_text_set_file(const struct probe_text_parser *parser, struct tally_str text)
{
	struct probe_point *point = parser->point;
	if (str_equal(text, STR("plt")) && point->function.len > 0) {
		char *name = arena_printf(parser->arena, "%.*s@plt", (int)point->function.len, point->function.data);
		point->function = str_from(name);
		return name ? TALLY_OK : error_nomem(parser->err);
	}
	if (point->file.len > 0)
		return error_set(parser->err, TALLY_INVALID, "SRC@SRC is not allowed.");
	struct tally_str file = probe_text_plain(parser->arena, text);
	if (!file.data)
		return error_nomem(parser->err);
	if (!str_equal(file, STR("*"))) /* A source file of * only states that the name is a function's. */
		point->file = file;
	return TALLY_OK;
}

/* Parses the text that follows one of the marks ":+@%;" in a point. */
static enum tally_status probe_text_part(const struct probe_text_parser *parser, char mark, struct tally_str text)
{
	struct probe_point *point = parser->point;
	switch (mark) {
	case ':':
		point->has_line = true;
		return probe_text_line(text, &point->line, parser->err);
	case '+':
		if (text.len > 0 && !str_to_u64(text, 0, &point->offset))
			return probe_text_refuse(parser->err, "There is non-digit character in offset '", text, "'.");
		return TALLY_OK;
	case '@':
		return probe_text_set_file(parser, text);
	case '%':
		if (!str_equal(text, STR("return")))
			return probe_text_refuse(parser->err, "%", text, " is not supported: only %return is.");
		point->is_return = true;
		return TALLY_OK;
	default:
		point->lazy = probe_text_plain(parser->arena, text);
		return point->lazy.data ? TALLY_OK : error_nomem(parser->err);
	}
}

/* The first name in a point is a file name if it has a period, and nothing but a line or a pattern follows. */
static bool probe_text_names_file(struct tally_str word, size_t end)
{
	if (end == word.len || !strchr(":;", word.data[end]))
		return false;
	size_t period = probe_text_find(word, "+@%;");
	bool has_other = period < word.len && word.data[period] != ';';
	return !has_other && memchr(word.data, '.', end);
}

static enum tally_status probe_text_check(const struct probe_point *point, struct tally_error *err)
{
	const char *why = NULL;
	if (point->lazy.len > 0 && (point->has_line && point->line > 0))
		why = "Lazy pattern can't be used with line number.";
	else if (point->lazy.len > 0 && point->offset > 0)
		why = "Lazy pattern can't be used with offset.";
	else if (point->has_line && point->line > 0 && point->offset > 0)
		why = "Offset can't be used with line number.";
	else if (point->file.len > 0 && point->function.len == 0 && point->line == 0 && point->lazy.len == 0)
		why = "File always requires line number or lazy pattern.";
	else if (point->offset > 0 && point->function.len == 0 && !point->has_address)
		why = "Offset requires an entry function.";
	else if (point->is_return && point->function.len == 0 && !point->has_address)
		why = "Return probe requires an entry function.";
	else if (point->is_return && (point->offset > 0 || point->line > 0 || point->lazy.len > 0))
		why = "Offset/Line/Lazy pattern can't be used with return probe.";
	else if (point->function.len == 0 && point->file.len == 0 && !point->has_address)
		why = "It names no function, file or address.";
	return why ? error_set(err, TALLY_INVALID, "%s", why) : TALLY_OK;
}

static enum tally_status probe_text_parse_point(
	struct tally_str word, struct arena *arena, struct probe_point *point, struct tally_error *err)
{
	const struct probe_text_parser parser = {arena, point, err};
	*point = (struct probe_point){0};
	size_t end = probe_text_find(word, ";:+@%");
	struct tally_str name = probe_text_plain(arena, probe_text_until(word, end));
	if (!name.data)
		return error_nomem(err);
	if (probe_text_names_file(word, end))
		point->file = name;
	else if (str_starts_with(name, STR("0x"))) {
		point->has_address = true;
		if (!str_to_u64(name, 0, &point->address))
			return probe_text_refuse(err, "Invalid absolute address '", name, "'.");
	} else
		point->function = name;
	struct tally_str rest = probe_text_from(word, end);
	while (rest.len > 0) {
		char mark = rest.data[0];
		rest = probe_text_from(rest, 1);
		/* A pattern may contain any character, so it ends with the word. */
		end = mark == ';' ? rest.len : probe_text_find(rest, ";:+%@");
		enum tally_status status = probe_text_part(&parser, mark, probe_text_until(rest, end));
		if (status != TALLY_OK)
			return status;
		rest = probe_text_from(rest, end);
	}
	if (point->has_address) {
		point->address += point->offset;
		point->offset = 0;
	}
	return probe_text_check(point, err);
}

enum tally_status probe_point_parse(
	const char *text, struct arena *arena, struct probe_point *point, struct tally_error *err)
{
	struct tally_str rest = str_from(text), word, more;
	if (!probe_text_word(&rest, &word))
		return error_set(err, TALLY_INVALID, "It names no function, file or address.");
	if (probe_text_word(&rest, &more))
		return probe_text_refuse(err, "unexpected word '", more, "': a place takes no arguments.");
	return probe_text_parse_point(word, arena, point, err);
}

static enum tally_status probe_text_names(
	struct tally_str text, struct arena *arena, struct probe_definition *definition, struct tally_error *err)
{
	size_t colon = probe_text_find(text, ":");
	if (colon < text.len) {
		definition->group = probe_text_plain(arena, probe_text_until(text, colon));
		text = probe_text_from(text, colon + 1);
	}
	definition->event = probe_text_plain(arena, text);
	if ((colon < text.len && !definition->group.data) || !definition->event.data)
		return error_nomem(err);
	return TALLY_OK;
}

static enum tally_status probe_text_check_name(struct tally_str name, const char *what, struct tally_error *err)
{
	char behind[96];
	if (probe_name_is_valid(name))
		return TALLY_OK;
	struct text out = text_over(behind, sizeof(behind) - 1);
	text_str(&out, " is bad for ");
	text_str(&out, what);
	text_str(&out, " name -it must follow C symbol-naming rule.");
	behind[out.len] = 0;
	return probe_text_refuse(err, "", name, behind);
}

/* Parses "EVENT" or "GROUP:EVENT", which precede "=" and the point. */
static enum tally_status probe_text_event(
	struct tally_str text, struct arena *arena, struct probe_definition *definition, struct tally_error *err)
{
	size_t colon = probe_text_find(text, ":");
	enum tally_status status = probe_text_names(text, arena, definition, err);
	if (status == TALLY_OK && colon < text.len)
		status = probe_text_check_name(definition->group, "group", err);
	return status == TALLY_OK ? probe_text_check_name(definition->event, "event", err) : status;
}

/* Parses "->a", ".b" or "[3]" after the variable. */
static enum tally_status probe_text_field(struct tally_str *rest, struct probe_field *field, struct tally_error *err)
{
	size_t end;
	if (rest->data[0] == '[') {
		uint64_t index;
		bool is_negative = rest->len > 1 && rest->data[1] == '-';
		const char *closing = memchr(rest->data, ']', rest->len);
		struct tally_str number = {rest->data + 1, closing ? (size_t)(closing - rest->data - 1) : 0};
		if (!closing || !str_to_u64(probe_text_from(number, is_negative ? 1 : 0), 0, &index) || index > INT_MAX)
			return error_set(err, TALLY_INVALID, "Array index must be a number.");
		*field = (struct probe_field){
			.kind = PROBE_FIELD_INDEX, .index = is_negative ? -(int64_t)index : (int64_t)index};
		*rest = probe_text_from(*rest, number.len + 2);
		return TALLY_OK;
	}
	bool is_arrow = rest->data[0] == '-';
	struct tally_str name = probe_text_from(*rest, is_arrow ? 2 : 1);
	for (end = 0; end < name.len; end++)
		if (strchr(".[", name.data[end]) ||
			(name.data[end] == '-' && end + 1 < name.len && name.data[end + 1] == '>'))
			break;
	*field = (struct probe_field){
		.kind = is_arrow ? PROBE_FIELD_ARROW : PROBE_FIELD_DOT, .name = probe_text_until(name, end)};
	*rest = probe_text_from(name, end);
	return end > 0 ? TALLY_OK
		       : error_set(err, TALLY_INVALID, "Argument parse error: no name follows '%s'.",
				 is_arrow ? "->" : ".");
}

static enum tally_status probe_text_fields(
	struct arena *arena, struct probe_argument *argument, struct tally_error *err)
{
	struct tally_str value = argument->value;
	size_t end = 0;
	while (end < value.len && value.data[end] != '.' && value.data[end] != '[' &&
		!(value.data[end] == '-' && end + 1 < value.len && value.data[end + 1] == '>'))
		end++;
	argument->variable = probe_text_until(value, end);
	struct tally_str rest = probe_text_from(value, end);
	struct probe_field fields[PROBE_TEXT_FIELDS_MAX];
	size_t count = 0;
	while (rest.len > 0) {
		if (count == ARRAY_LEN(fields))
			return error_set(err, TALLY_INVALID, "Argument parse error: more than %d fields.",
				PROBE_TEXT_FIELDS_MAX);
		if (rest.data[0] != '.' && rest.data[0] != '[' && rest.data[0] != '-')
			return probe_text_refuse(err, "Argument parse error at '", rest, "'.");
		enum tally_status status = probe_text_field(&rest, &fields[count++], err);
		if (status != TALLY_OK)
			return status;
	}
	argument->field_count = count;
	argument->fields = arena_copy(arena, fields, count * sizeof(*fields));
	return argument->fields ? TALLY_OK : error_nomem(err);
}

static enum probe_argument_kind probe_text_kind(struct tally_str value)
{
	if (str_equal(value, STR("$vars")))
		return PROBE_ARGUMENT_VARIABLES;
	if (str_equal(value, STR("$params")))
		return PROBE_ARGUMENT_PARAMETERS;
	bool is_name = value.len > 0 &&
		       (isalpha((unsigned char)value.data[0]) || value.data[0] == '_' || (value.data[0] & 0x80));
	return is_name ? PROBE_ARGUMENT_VARIABLE : PROBE_ARGUMENT_FETCH;
}

static enum tally_status probe_text_argument(
	struct tally_str word, struct arena *arena, struct probe_argument *argument, struct tally_error *err)
{
	word.data = arena_string(arena, word.data, word.len);
	if (!word.data)
		return error_nomem(err);
	*argument = (struct probe_argument){.text = word};
	struct tally_str value = word;
	const char *equals = memchr(word.data, '=', word.len);
	/* A text that the kernel gets unchanged, such as \"a=b", has no name. */
	if (equals && word.data[0] != '\\') {
		argument->name = probe_text_until(word, (size_t)(equals - word.data));
		value = probe_text_from(word, argument->name.len + 1);
		enum tally_status status = probe_text_check_name(argument->name, "argument", err);
		if (status != TALLY_OK)
			return status;
	}
	if (str_ends_with(value, STR("@user"))) {
		argument->is_user = true;
		value.len -= strlen("@user");
	}
	size_t colon = probe_text_find(value, ":");
	if (colon < value.len)
		argument->type = probe_text_from(value, colon + 1);
	argument->value = probe_text_until(value, colon);
	if (argument->value.len == 0)
		return probe_text_refuse(err, "The argument '", word, "' has no value.");
	if (colon < value.len && argument->type.len == 0)
		return probe_text_refuse(err, "The argument '", word, "' has no type behind its colon.");
	argument->kind = probe_text_kind(argument->value);
	return argument->kind == PROBE_ARGUMENT_VARIABLE ? probe_text_fields(arena, argument, err) : TALLY_OK;
}

enum tally_status probe_argument_parse(
	const char *text, struct arena *arena, struct probe_argument *argument, struct tally_error *err)
{
	return probe_text_argument(str_trim(str_from(text)), arena, argument, err);
}

static enum tally_status probe_text_arguments(
	struct tally_str rest, struct arena *arena, struct probe_definition *definition, struct tally_error *err)
{
	VEC(struct probe_argument) arguments = {0};
	struct tally_str word;
	while (probe_text_word(&rest, &word)) {
		if (arguments.len == PROBE_ARGUMENTS_MAX)
			return error_set(err, TALLY_INVALID,
				"Too many probe arguments are specified: the kernel takes %d.", PROBE_ARGUMENTS_MAX);
		if (!arena_vec_reserve(arena, &arguments, arguments.len + 1))
			return error_nomem(err);
		struct probe_argument *argument = &arguments.items[arguments.len++];
		enum tally_status status = probe_text_argument(word, arena, argument, err);
		if (status != TALLY_OK)
			return status;
		if (argument->kind == PROBE_ARGUMENT_VARIABLE && definition->point.is_return)
			return error_set(err, TALLY_INVALID, "You can't specify local variable for kretprobe.");
	}
	definition->arguments = arguments.items;
	definition->argument_count = arguments.len;
	return TALLY_OK;
}

/* The word refers to an existing event: "%group:event", "%event" or "sdt_provider:event". */
static bool probe_text_is_named(struct tally_str word)
{
	if (word.data[0] == '%')
		return word.len > 1 && !str_equal(word, STR("%return"));
	bool has_group = probe_text_find(word, ":") < word.len;
	return str_starts_with(word, STR("sdt_")) && has_group && probe_text_find(word, "=") == word.len;
}

enum tally_status probe_definition_parse(
	const char *text, struct arena *arena, struct probe_definition *definition, struct tally_error *err)
{
	*definition = (struct probe_definition){.text = str_trim(str_from(text))};
	definition->text.data = arena_string(arena, definition->text.data, definition->text.len);
	if (!definition->text.data)
		return error_nomem(err);
	struct tally_str rest = definition->text, word;
	if (!probe_text_word(&rest, &word))
		return error_set(err, TALLY_INVALID, "It names no function, file or address.");
	if (probe_text_is_named(word)) {
		definition->is_named_event = true;
		word = probe_text_from(word, word.data[0] == '%' ? 1 : 0);
		enum tally_status status = probe_text_names(word, arena, definition, err);
		if (status == TALLY_OK && definition->event.len == 0)
			return probe_text_refuse(err, "'", definition->text, "' names no event.");
		return status == TALLY_OK ? probe_text_arguments(rest, arena, definition, err) : status;
	}
	enum tally_status status = TALLY_OK;
	size_t equals = probe_text_find(word, ";=@+%");
	if (equals < word.len && word.data[equals] == '=') {
		status = probe_text_event(probe_text_until(word, equals), arena, definition, err);
		word = probe_text_from(word, equals + 1);
	}
	if (status == TALLY_OK)
		status = probe_text_parse_point(word, arena, &definition->point, err);
	return status == TALLY_OK ? probe_text_arguments(rest, arena, definition, err) : status;
}

/* Parses the part after the colon: FROM, FROM-TO or FROM+COUNT. */
static enum tally_status probe_text_range(
	struct tally_str text, struct probe_line_range *range, struct tally_error *err)
{
	uint64_t first, last;
	size_t mark = probe_text_find(text, "+-");
	if (!str_to_u64(probe_text_until(text, mark), 10, &first) || first > INT_MAX)
		return error_set(err, TALLY_INVALID, "'start line' is not a valid number.");
	range->has_lines = true;
	range->first = (uint32_t)first;
	range->last = INT_MAX;
	if (mark == text.len)
		return TALLY_OK;
	if (!str_to_u64(probe_text_from(text, mark + 1), 10, &last) || last > INT_MAX)
		return error_set(err, TALLY_INVALID, "'end line' is not a valid number.");
	if (text.data[mark] == '+')
		last = MIN(first + last, (uint64_t)INT_MAX) - (last > 0 ? 1 : 0);
	range->last = (uint32_t)last;
	if (range->first > range->last)
		return error_set(err, TALLY_INVALID, "Start line must be smaller than end line.");
	return TALLY_OK;
}

enum tally_status probe_line_range_parse(
	const char *text, struct arena *arena, struct probe_line_range *range, struct tally_error *err)
{
	struct tally_str all = str_trim(str_from(text));
	*range = (struct probe_line_range){.last = UINT32_MAX};
	size_t colon = probe_text_find(all, ":");
	struct tally_str name = probe_text_until(all, colon);
	if (name.len == 0 && colon < all.len)
		return probe_text_refuse(err, "No file/function name in '", all, "'.");
	enum tally_status status = TALLY_OK;
	if (colon < all.len)
		status = probe_text_range(probe_text_from(all, colon + 1), range, err);
	size_t at = probe_text_find(name, "@");
	struct tally_str first = probe_text_plain(arena, probe_text_until(name, at));
	struct tally_str second = probe_text_plain(arena, probe_text_from(name, at + 1));
	if (status == TALLY_OK && (!first.data || !second.data))
		status = error_nomem(err);
	if (status != TALLY_OK)
		return status;
	if (at == name.len && (memchr(first.data, '.', first.len) || memchr(first.data, '/', first.len))) {
		range->file = first;
		return TALLY_OK;
	}
	range->function = first;
	range->file = str_equal(second, STR("*")) ? (struct tally_str){0} : second;
	if (first.len == 0 || probe_text_find(probe_text_until(name, at), ";+*?%=") < MIN(at, name.len))
		return probe_text_refuse(err, "'", first, "' is not a valid function name.");
	return TALLY_OK;
}

/* Shortens a long path to whole folders at its end, as perf does. */
static struct tally_str probe_text_file_end(struct tally_str file)
{
	if (file.len <= PROBE_TEXT_FILE_SHOWN)
		return file;
	const struct tally_str end = probe_text_from(file, file.len - PROBE_TEXT_FILE_SHOWN);
	const char *slash = memchr(end.data, '/', end.len);
	if (!slash)
		slash = memrchr(file.data, '/', file.len);
	return slash ? probe_text_from(file, (size_t)(slash + 1 - file.data)) : file;
}

void probe_point_print(const struct probe_point *point, struct text *out)
{
	if (point->has_address)
		text_printf(out, "0x%llx", (unsigned long long)point->address);
	text_bytes(out, point->function.data, point->function.len);
	if (point->offset > 0)
		text_printf(out, "+%llu", (unsigned long long)point->offset);
	if (point->is_return)
		text_str(out, "%return");
	bool is_of_file = point->function.len == 0;
	if (point->line > 0 && !is_of_file)
		text_printf(out, ":%u", point->line);
	if (point->file.len > 0) {
		const struct tally_str file = probe_text_file_end(point->file);
		text_char(out, '@');
		text_bytes(out, file.data, file.len);
	}
	if (point->line > 0 && is_of_file)
		text_printf(out, ":%u", point->line);
}
