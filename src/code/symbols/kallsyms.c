#include "code/symbols/kallsyms.h"

#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

struct line {
	uint64_t address;
	char type;
	struct tally_str name, module;
};

/* "ffffffff81000000 T _text" or "ffffffffc0001000 t foo\t[mod]" */
static bool parse_line(struct tally_str text, struct line *line)
{
	size_t i = 0;
	uint64_t address = 0;
	int digit;
	while (i < text.len && i < 16 && (digit = hex_digit(text.data[i])) >= 0) {
		address = address << 4 | (uint64_t)digit;
		i++;
	}
	if (i == 0 || i + 3 >= text.len || text.data[i] != ' ' || text.data[i + 2] != ' ')
		return false;
	line->address = address;
	line->type = text.data[i + 1];
	struct tally_str rest = {text.data + i + 3, text.len - i - 3};
	const char *tab = memchr(rest.data, '\t', rest.len);
	line->name = tab ? (struct tally_str){rest.data, (size_t)(tab - rest.data)} : rest;
	line->module =
		tab ? str_trim((struct tally_str){tab + 1, rest.len - line->name.len - 1}) : (struct tally_str){"", 0};
	return line->name.len > 0;
}

static bool is_code_or_data(char type)
{
	return strchr("tTwWdDbB", type) != NULL;
}

static char binding_of(char type)
{
	if (type == 'W' || type == 'w')
		return 'w';
	return type >= 'A' && type <= 'Z' ? 'g' : 'l';
}

bool kallsyms_parse(
	const struct kallsyms_request *request, struct arena *arena, struct symbol_table *table, bool *is_hidden)
{
	struct tally_str rest = request->text;
	struct tally_str text;
	bool some_address = false;
	while (rest.len > 0 && str_next(&rest, '\n', &text)) {
		struct line line;
		if (!parse_line(text, &line))
			continue;
		some_address = some_address || line.address != 0;
		if (!is_code_or_data(line.type) || !str_equal(line.module, request->module) || line.name.data[0] == '$')
			continue;
		const char *name = arena_string(arena, line.name.data, line.name.len);
		if (!name || !symbol_table_add(table, line.address, 0, name, binding_of(line.type)))
			return false;
	}
	*is_hidden = !some_address && table->symbols.len > 0;
	if (*is_hidden)
		table->symbols.len = 0;
	return symbol_table_finish(table, true);
}
