/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_text.c - parses arbitrary text as arguments of `probe`: a definition, a point, a range of lines and an
 * argument. The result is an error message, or a parsed form within bounds, with parts no longer than the text and a
 * point that always prints the same.
 */
#include "code/probing/probe_text.h"

#include <stdlib.h>
#include <string.h>

static void check_part(struct tally_str part, size_t size)
{
	if (part.len > size || (part.len > 0 && !part.data))
		abort();
}

static void check_point(const struct probe_point *point, size_t size)
{
	struct text first = {0}, second = {0};
	check_part(point->function, size);
	check_part(point->file, size);
	check_part(point->lazy, size);
	if (point->function.len == 0 && point->file.len == 0 && !point->has_address)
		abort();
	probe_point_print(point, &first);
	probe_point_print(point, &second);
	if (!str_equal(text_view(&first), text_view(&second)))
		abort();
	text_deinit(&first);
	text_deinit(&second);
}

static void check_argument(const struct probe_argument *argument, size_t size)
{
	check_part(argument->text, size);
	check_part(argument->name, size);
	check_part(argument->value, size);
	check_part(argument->variable, size);
	check_part(argument->type, size);
	if (argument->kind == PROBE_ARGUMENT_VARIABLE && argument->variable.len == 0)
		abort();
	if (argument->field_count > size)
		abort();
	for (size_t i = 0; i < argument->field_count; i++)
		check_part(argument->fields[i].name, size);
}

static void check_definition(const struct probe_definition *definition, size_t size)
{
	if (definition->argument_count > PROBE_ARGUMENTS_MAX)
		abort();
	check_part(definition->group, size);
	check_part(definition->event, size);
	if (!definition->is_named_event)
		check_point(&definition->point, size);
	else if (definition->event.len == 0)
		abort();
	for (size_t i = 0; i < definition->argument_count; i++)
		check_argument(&definition->arguments[i], size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena;
	struct probe_definition definition;
	struct probe_point point;
	struct probe_line_range range;
	struct probe_argument argument;
	struct tally_error err = {0};
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	arena_init(&arena);
	if (probe_definition_parse(text, &arena, &definition, &err) == TALLY_OK)
		check_definition(&definition, strlen(text));
	else if (!*err.text)
		abort();
	if (probe_point_parse(text, &arena, &point, NULL) == TALLY_OK)
		check_point(&point, strlen(text));
	if (probe_line_range_parse(text, &arena, &range, NULL) == TALLY_OK && range.first > range.last)
		abort();
	if (probe_argument_parse(text, &arena, &argument, NULL) == TALLY_OK)
		check_argument(&argument, strlen(text));
	arena_deinit(&arena);
	free(text);
	return 0;
}
