/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/perf_map.h"

/* Splits the next word off; runs of blanks and tabs part words. */
static struct tally_str perf_map_next_word(struct tally_str *rest)
{
	size_t start = 0;
	while (start < rest->len && (rest->data[start] == ' ' || rest->data[start] == '\t'))
		start++;
	size_t end = start;
	while (end < rest->len && rest->data[end] != ' ' && rest->data[end] != '\t')
		end++;
	struct tally_str word = {rest->data + start, end - start};
	*rest = (struct tally_str){rest->data + end, rest->len - end};
	return word;
}

bool perf_map_parse(char *text, size_t len, struct symbol_table *table)
{
	char *end = text + len;
	for (char *line = text; line < end;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		char *stop = newline ? newline : end;
		struct tally_str rest = {line, (size_t)(stop - line)};
		uint64_t start;
		uint64_t size;
		*stop = '\0';
		line = stop + 1;
		struct tally_str start_text = perf_map_next_word(&rest);
		struct tally_str size_text = perf_map_next_word(&rest);
		if (rest.len < 2 || !str_to_u64(start_text, 16, &start) || !str_to_u64(size_text, 16, &size))
			continue;
		if (rest.data[1] != '\0' && !symbol_table_add(table, start, size, rest.data + 1, 'g'))
			return false;
	}
	return symbol_table_finish(table, SYMBOLS_LAST_STAYS);
}

void perf_map_split_python(struct symbol_table *table)
{
	static const char prefix[] = "py::";
	for (size_t i = 0; i < table->symbols.len; i++) {
		struct symbol *symbol = &table->symbols.items[i];
		if (!perf_map_is_python(symbol->start) || strncmp(symbol->name, prefix, sizeof(prefix) - 1) != 0)
			continue;
		char *name = (char *)symbol->name + sizeof(prefix) - 1;
		char *file = strchr(name, ':'), *line = strrchr(name, ':');
		if (!file || line == file)
			continue;
		*file = *line = '\0';
		symbol->name = name;
	}
}
