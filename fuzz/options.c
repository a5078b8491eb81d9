/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses command lines, one word per line, with a table that has every kind of option.
 */
#include "cli/options.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct settings {
	bool flag;
	unsigned times;
	const char *text;
	uint64_t number;
	size_t bytes_seen;
};

static const char *look_at(const struct option_use *use)
{
	struct settings *s = use->settings;
	s->bytes_seen += use->value ? strlen(use->value) : 0;
	return s->bytes_seen > 100 ? "has said enough" : NULL;
}

#define AT(field) .offset = offsetof(struct settings, field)
static const struct option options[] = {
	{.name = "all-cpus", .letter = 'a', .kind = OPTION_FLAG, AT(flag)},
	{.name = "all-user", .kind = OPTION_UNSUPPORTED},
	{.name = "no-inherit", .letter = 'i', .kind = OPTION_FLAG, AT(flag)},
	{.name = "verbose", .letter = 'v', .kind = OPTION_COUNT, AT(times)},
	{.name = "output", .letter = 'o', .kind = OPTION_STRING, .argument = "file", AT(text)},
	{.name = "count", .letter = 'c', .kind = OPTION_U64, .argument = "n", AT(number)},
	{.name = "event", .letter = 'e', .kind = OPTION_CALL, .argument = "event", .call = look_at},
	{.name = "graph",
		.letter = 'g',
		.kind = OPTION_CALL,
		.argument = "mode",
		.argument_is_optional = true,
		.takes_next_word = true,
		.call = look_at},
	{.letter = 'x', .kind = OPTION_FLAG, AT(flag)},
};

static void parse(const uint8_t *data, size_t size, bool stops_at_command)
{
	enum { MAX_WORDS = 64 };
	const struct option_table table = {options, ARRAY_LEN(options), stops_at_command};
	char *text = malloc(size + 1);
	char *words[MAX_WORDS + 1] = {(char *)"verb"};
	int count = 1;
	if (!text)
		abort();
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	char *rest = text;
	for (char *word; count < MAX_WORDS && (word = strsep(&rest, "\n"));)
		words[count++] = word;
	struct settings settings = {0};
	struct option_parse parse = {.table = &table, .settings = &settings, .argc = count, .argv = words};
	if (options_parse(&parse) == OPTIONS_OK && (parse.rest < 1 || parse.rest > count))
		abort();
	if (strnlen(parse.message, sizeof(parse.message)) == sizeof(parse.message))
		abort();
	for (int i = 1; i < count; i++)
		if (words[i] < text || words[i] > text + size)
			abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse(data, size, false);
	parse(data, size, true);
	return 0;
}
