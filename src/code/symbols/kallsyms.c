/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/kallsyms.h"

#include <string.h>

/* Size of a line in bytes, as assumed to reserve room for all symbols; the average of the kernel's own lines is 45. */
#define LINE_BYTES_LEAST 40
/* The list does not say where the last symbol of a module ends, so it is assumed to end with its page. */
#define KALLSYMS_PAGE_MASK UINT64_C(4095)

struct line {
	uint64_t address;
	char type;
	struct tally_str name;
	struct tally_str module;
};

#define ADDRESS_DIGITS 16
#define EVERY_BYTE(b)  ((uint64_t)(b)*UINT64_C(0x0101010101010101))

/* Parses eight hex digits at once, because a quarter of a million lines are read before the first name is known. */
static bool parse_eight(const char *text, uint64_t *value)
{
	uint64_t w;
	memcpy(&w, text, sizeof(w));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	w = __builtin_bswap64(w); /* The first digit is the most significant one. */
#endif
	uint64_t letters = (w & EVERY_BYTE(0x40)) >> 6;
	uint64_t digits = (w & EVERY_BYTE(0x0f)) + letters * 9;
	bool is_right = digits + EVERY_BYTE('0') + letters * ('a' - 10 - '0') == w &&
			(digits & EVERY_BYTE(0xf0)) == 0 &&
			((digits + EVERY_BYTE(6)) & EVERY_BYTE(0x10)) == letters << 4;
	digits = (digits | digits >> 4) & UINT64_C(0x00ff00ff00ff00ff);
	digits = (digits | digits >> 8) & UINT64_C(0x0000ffff0000ffff);
	*value = (digits | digits >> 16) & UINT32_MAX;
	return is_right;
}

static int kallsyms_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Returns the number of digits; 16 is usual, and the maximum. */
static size_t parse_address(struct tally_str text, uint64_t *address)
{
	uint64_t high, low;
	if (text.len >= ADDRESS_DIGITS && parse_eight(text.data, &high) && parse_eight(text.data + 8, &low)) {
		*address = high << 32 | low;
		return ADDRESS_DIGITS;
	}
	size_t n = 0;
	int digit;
	for (*address = 0; n < text.len && n < ADDRESS_DIGITS && (digit = kallsyms_hex_digit(text.data[n])) >= 0; n++)
		*address = *address << 4 | (uint64_t)digit;
	return n;
}

/* Parses "ffffffff81000000 T _text" or "ffffffffc0001000 t foo\t[mod]"; the name then includes the module. */
static bool parse_line(struct tally_str text, struct line *line)
{
	uint64_t address;
	size_t i = parse_address(text, &address);
	if (i == 0 || i + 3 >= text.len || text.data[i] != ' ' || text.data[i + 2] != ' ')
		return false;
	line->address = address;
	line->type = text.data[i + 1];
	line->name = (struct tally_str){text.data + i + 3, text.len - i - 3};
	line->module = (struct tally_str){"", 0};
	return true;
}

static bool kallsyms_next_line(struct tally_str *rest, struct tally_str *line)
{
	if (rest->len == 0)
		return false;
	const char *end = memchr(rest->data, '\n', rest->len);
	size_t len = end ? (size_t)(end - rest->data) : rest->len;
	*line = (struct tally_str){rest->data, len};
	size_t used = end ? len + 1 : len;
	rest->data += used;
	rest->len -= used;
	return true;
}

static void split_module(struct line *line)
{
	const char *tab = memchr(line->name.data, '\t', line->name.len);
	if (!tab)
		return;
	size_t len = (size_t)(tab - line->name.data);
	line->module = str_trim((struct tally_str){tab + 1, line->name.len - len - 1});
	line->name.len = len;
}

bool kallsyms_is_hidden(const char *text, size_t len)
{
	const char *line = text;
	while (len > 0) {
		if (line[0] != '0')
			return false;
		const char *digit = line;
		while ((size_t)(digit - line) < len && *digit == '0')
			digit++;
		if ((size_t)(digit - line) < len && *digit != ' ')
			return false;
		const char *end = memchr(line, '\n', len);
		if (!end)
			return true;
		len -= (size_t)(end + 1 - line);
		line = end + 1;
	}
	return true;
}

static bool is_code_or_data(char type)
{
	switch (type | 0x20) {
	case 't':
	case 'w':
	case 'd':
	case 'b':
		return true;
	default:
		return false;
	}
}

static char kallsyms_binding_of(char type)
{
	if (type == 'W' || type == 'w')
		return 'w';
	return type >= 'A' && type <= 'Z' ? 'g' : 'l';
}

/* Returns whether the line names a symbol of code or data. Mapping symbols ("$x", "$d") do not count. */
static bool kallsyms_is_wanted(const struct line *line)
{
	return line->name.len > 0 && line->name.data[0] != '$' && line->name.data[0] != '\0' &&
	       is_code_or_data(line->type);
}

void kallsyms_open(const char *text, size_t len, struct kallsyms *kallsyms)
{
	if (len == 0)
		text = "";
	const char *tab = memchr(text, '\t', len);
	size_t split = tab ? (size_t)(tab - text) : len;
	while (tab && split > 0 && text[split - 1] != '\n')
		split--;
	kallsyms->kernel = (struct tally_str){text, split};
	kallsyms->modules = (struct tally_str){text + split, len - split};
}

static bool kallsyms_add_line(const struct line *line, struct arena *arena, struct symbol_table *table)
{
	const char *name = arena_string(arena, line->name.data, line->name.len);
	if (!name || !symbol_table_add(table, line->address, 0, name, kallsyms_binding_of(line->type)))
		return false;
	symbol_table_mark_object(table, (line->type | 0x20) != 't' && (line->type | 0x20) != 'w');
	return true;
}

static bool add_kernel_lines(struct tally_str rest, struct arena *arena, struct symbol_table *table, bool *some_address)
{
	struct tally_str text;
	while (kallsyms_next_line(&rest, &text)) {
		struct line line;
		if (!parse_line(text, &line))
			continue;
		split_module(&line);
		if (line.module.len > 0 || !kallsyms_is_wanted(&line))
			continue;
		*some_address = *some_address || line.address != 0;
		if (!kallsyms_add_line(&line, arena, table))
			return false;
	}
	return true;
}

bool kallsyms_add_kernel(
	const struct kallsyms *kallsyms, struct arena *arena, struct symbol_table *table, bool *is_hidden)
{
	bool some_address = false;
	if (!vec_reserve(&table->symbols, kallsyms->kernel.len / LINE_BYTES_LEAST) ||
		!add_kernel_lines(kallsyms->kernel, arena, table, &some_address) ||
		!add_kernel_lines(kallsyms->modules, arena, table, &some_address))
		return false;
	*is_hidden = !some_address && table->symbols.len > 0;
	if (*is_hidden)
		table->symbols.len = 0;
	return true;
}

/* Returns whether all lines are of modules. In some lists, lines of the kernel follow the first module's lines. */
static bool all_are_modules(struct tally_str rest)
{
	struct tally_str text;
	while (kallsyms_next_line(&rest, &text)) {
		struct line line = {.name = text, .module = {"", 0}};
		split_module(&line);
		if (line.module.len == 0)
			return false;
	}
	return true;
}

#define NAME_AT (ADDRESS_DIGITS + 3)

/* Parses the address of a line, which must have sixteen digits: kallsyms_mark refuses a list with any other line. */
static bool parse_usual(struct tally_str line, uint64_t *address)
{
	uint64_t high, low;
	if (line.len <= NAME_AT || line.data[ADDRESS_DIGITS] != ' ' || line.data[ADDRESS_DIGITS + 2] != ' ' ||
		!parse_eight(line.data, &high) || !parse_eight(line.data + ADDRESS_DIGITS / 2, &low))
		return false;
	*address = high << 32 | low;
	return true;
}

enum tally_status kallsyms_mark(const struct kallsyms *kallsyms, struct kallsyms_marks *marks)
{
	struct tally_str rest = kallsyms->kernel, line;
	uint64_t address, before = 0, named = 0;
	enum tally_status status = all_are_modules(kallsyms->modules) ? TALLY_OK : TALLY_NOT_FOUND;
	*marks = (struct kallsyms_marks){0};
	while (status == TALLY_OK && kallsyms_next_line(&rest, &line)) {
		if (!parse_usual(line, &address) || address < before) {
			status = TALLY_NOT_FOUND;
			break;
		}
		before = address;
		struct tally_str name = {line.data + NAME_AT, line.len - NAME_AT};
		if (!is_code_or_data(line.data[ADDRESS_DIGITS + 1]) || *name.data == '$' || *name.data == '\0')
			continue;
		if (*name.data == '_') {
			uint64_t *reference = str_equal(name, STR("_text"))    ? &marks->text
					      : str_equal(name, STR("_stext")) ? &marks->stext
									       : NULL;
			if (reference && *reference == 0)
				*reference = address;
		}
		bool is_new = marks->count == 0 || address > named;
		const struct kallsyms_mark mark = {address, (size_t)(line.data - kallsyms->kernel.data)};
		/* Every KALLSYMS_PART-th symbol that has a new address gets a mark. */
		if (is_new && marks->count++ % KALLSYMS_PART == 0 && !vec_push(&marks->marks, mark))
			status = TALLY_NOMEM;
		named = address;
	}
	marks->is_hidden = marks->count > 0 && named == 0;
	if (status != TALLY_OK)
		kallsyms_marks_deinit(marks);
	return status;
}

void kallsyms_marks_deinit(struct kallsyms_marks *marks)
{
	vec_free(&marks->marks);
	*marks = (struct kallsyms_marks){0};
}

bool kallsyms_add_part(const struct kallsyms *kallsyms, const struct kallsyms_marks *marks, size_t index,
	struct arena *arena, struct symbol_table *table)
{
	size_t from = marks->marks.items[index].offset;
	bool is_last = index + 1 == marks->marks.len;
	const char *end =
		kallsyms->kernel.data + (is_last ? kallsyms->kernel.len : marks->marks.items[index + 1].offset);
	struct tally_str rest = {kallsyms->kernel.data + from, kallsyms->kernel.len - from};
	struct tally_str text;
	while (kallsyms_next_line(&rest, &text)) {
		struct line line;
		if (!parse_line(text, &line) || !kallsyms_is_wanted(&line))
			continue;
		if (!kallsyms_add_line(&line, arena, table))
			return false;
		if (text.data >= end)
			break;
	}
	return true;
}

bool kallsyms_add_module(
	const struct kallsyms *kallsyms, struct tally_str module, struct arena *arena, struct symbol_table *table)
{
	struct tally_str rest = kallsyms->modules;
	struct tally_str text;
	const char *first = module.len > 0 ? memmem(rest.data, rest.len, module.data, module.len) : NULL;
	if (!first)
		return true;
	while (first > rest.data && first[-1] != '\n')
		first--;
	rest.len -= (size_t)(first - rest.data);
	rest.data = first;
	while (kallsyms_next_line(&rest, &text)) {
		struct line line;
		if (!parse_line(text, &line))
			continue;
		split_module(&line);
		if (!str_equal(line.module, module) || !kallsyms_is_wanted(&line) || line.address == 0)
			continue;
		if (!kallsyms_add_line(&line, arena, table))
			return false;
	}
	return true;
}

static bool find_start(struct tally_str rest, bool in_module, struct tally_str name, struct kallsyms_place *place)
{
	struct tally_str text;
	bool is_found = false;
	while (kallsyms_next_line(&rest, &text)) {
		struct line line;
		if (!parse_line(text, &line))
			continue;
		split_module(&line);
		if (!str_equal(line.name, name) || !kallsyms_is_wanted(&line) || line.address == 0 ||
			(line.module.len > 0) != in_module || (is_found && line.address >= place->start))
			continue;
		*place = (struct kallsyms_place){.start = line.address, .module = line.module};
		is_found = true;
	}
	return is_found;
}

static void kallsyms_find_end(struct tally_str rest, struct kallsyms_place *place)
{
	struct tally_str text;
	while (kallsyms_next_line(&rest, &text)) {
		struct line line;
		if (!parse_line(text, &line) || line.address <= place->start)
			continue;
		split_module(&line);
		if (str_equal(line.module, place->module) && kallsyms_is_wanted(&line) &&
			(place->end == 0 || line.address < place->end))
			place->end = line.address;
	}
}

bool kallsyms_find(const struct kallsyms *kallsyms, struct tally_str name, struct kallsyms_place *place)
{
	struct kallsyms_place found = {0};
	/* Symbols of the kernel may also follow the first module's line. */
	if (!find_start(kallsyms->kernel, false, name, &found) && !find_start(kallsyms->modules, false, name, &found) &&
		!find_start(kallsyms->modules, true, name, &found))
		return false;
	kallsyms_find_end(kallsyms->kernel, &found);
	kallsyms_find_end(kallsyms->modules, &found);
	if (found.end == 0)
		found.end = (found.start | KALLSYMS_PAGE_MASK) + 1;
	*place = found;
	return true;
}

uint64_t kallsyms_address(const struct symbol_table *table, const char *name)
{
	for (size_t i = 0; i < table->symbols.len; i++)
		if (strcmp(table->symbols.items[i].name, name) == 0)
			return table->symbols.items[i].start;
	return 0;
}
