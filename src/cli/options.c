/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/text.h"

#define MAX_NAMES   256
#define MAX_CHOICES 32

static bool can_negate(const struct option *option)
{
	return option->kind != OPTION_UNSUPPORTED;
}

static bool options_equals(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && memcmp(name, text, len) == 0;
}

/* Returns whether a row before the group has the same name or, if the option has no name, the same letter. */
static bool option_is_replaced(const struct option_table *table, size_t before, const struct option *option)
{
	for (size_t i = 0; i < before; i++) {
		const struct option *own = &table->options[i];
		if (option->name ? own->name && strcmp(own->name, option->name) == 0 : own->letter == option->letter)
			return true;
	}
	return false;
}

const struct option *option_walk_next(struct option_walk *walk)
{
	const struct option_table *table = walk->table;
	while (table && walk->next < table->count) {
		const struct option *option = &table->options[walk->next];
		walk->base = 0;
		if (option->kind != OPTION_GROUP) {
			walk->next++;
			return option;
		}
		walk->base = option->offset;
		while (walk->next_in_group < option->group->count) {
			const struct option *shared = &option->group->options[walk->next_in_group++];
			if (!option_is_replaced(table, walk->next, shared))
				return shared;
		}
		walk->next_in_group = 0;
		walk->next++;
	}
	return NULL;
}

/* Like options_find; *base is set to the offset of the settings of the row's table. */
static const struct option *find_named(
	const struct option_table *table, const char *name, size_t len, bool *is_negated, size_t *base)
{
	const struct option *option;
	struct option_walk walk = {.table = table};
	*is_negated = false;
	while ((option = option_walk_next(&walk)))
		if (option->name && options_equals(option->name, name, len)) {
			*base = walk.base;
			return option;
		}
	*is_negated = true;
	walk = (struct option_walk){.table = table};
	while ((option = option_walk_next(&walk))) {
		*base = walk.base;
		if (!option->name || !can_negate(option))
			continue;
		if (len > 3 && memcmp(name, "no-", 3) == 0 && options_equals(option->name, name + 3, len - 3))
			return option;
		if (strncmp(option->name, "no-", 3) == 0 && options_equals(option->name + 3, name, len))
			return option;
	}
	return NULL;
}

const struct option *options_find(const struct option_table *table, const char *name, size_t len, bool *is_negated)
{
	size_t base;
	return find_named(table, name, len, is_negated, &base);
}

/* Returns the first option that begins with this name, or NULL if none does. *second is the second one, or NULL if
 * the name is unambiguous. */
static const struct option *find_abbreviated(const struct option_table *table, const char *name, size_t len,
	const struct option **second, bool *is_negated, size_t *base)
{
	const struct option *option, *found = NULL;
	struct option_walk walk = {.table = table};
	*second = NULL;
	bool no_form = len > 3 && memcmp(name, "no-", 3) == 0;
	while ((option = option_walk_next(&walk))) {
		if (!option->name)
			continue;
		bool plain = strncmp(option->name, name, len) == 0;
		bool negated = no_form && can_negate(option) && strncmp(option->name, name + 3, len - 3) == 0;
		if (!plain && !negated)
			continue;
		if (found) {
			*second = option;
			return found;
		}
		found = option;
		*base = walk.base;
		*is_negated = !plain;
	}
	return found;
}

const char *option_complaint(const struct option_use *use, const char *text)
{
	snprintf(use->room, use->room_bytes, "%s", text);
	return use->room;
}

bool option_has_choices(const struct option *option)
{
	const char *argument = option->argument ? option->argument : "";
	return strchr(argument, '|') && argument[strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789-|")] == '\0';
}

/* Adds to the message the valid choice that is most similar to the invalid value. */
static void suggest_choice(struct option_parse *parse, const struct option *option, const char *value)
{
	char choices[sizeof(parse->message)];
	const char *names[MAX_CHOICES];
	size_t count = 0, used = strlen(parse->message);
	if (!value || !option_has_choices(option))
		return;
	snprintf(choices, sizeof(choices), "%s", option->argument);
	char *rest = choices;
	for (char *name; count < MAX_CHOICES && (name = strsep(&rest, "|"));)
		names[count++] = name;
	size_t nearest = text_nearest(names, count, value);
	if (nearest != SIZE_MAX)
		snprintf(
			parse->message + used, sizeof(parse->message) - used, "\n  Did you mean `%s'?", names[nearest]);
}

static enum option_result bad_use(
	struct option_parse *parse, const struct option *option, bool by_letter, const char *what)
{
	char who[100];
	if (by_letter && option->letter)
		snprintf(who, sizeof(who), "switch `%c'", option->letter);
	else
		snprintf(who, sizeof(who), "option `%s'", option->name);
	snprintf(parse->message, sizeof(parse->message), "%s %s", who, what);
	parse->culprit = option;
	return OPTIONS_BAD;
}

static enum option_result options_refuse(struct option_parse *parse, const struct option *option, bool by_letter)
{
	char what[sizeof(parse->message)];
	snprintf(what, sizeof(what), "is not supported yet%s%s", option->refusal ? ": " : "",
		option->refusal ? option->refusal : "");
	return bad_use(parse, option, by_letter, what);
}

static enum option_result options_set_number(
	struct option_parse *parse, const struct option *option, bool by_letter, const char *value, void *target)
{
	uint64_t number;
	if (!str_to_u64(str_from(value), 0, &number))
		return bad_use(parse, option, by_letter, "expects a numerical value");
	memcpy(target, &number, sizeof(number));
	return OPTIONS_OK;
}

static enum option_result options_apply(
	struct option_parse *parse, const struct option *option, bool by_letter, const char *value, bool is_negated)
{
	char *settings = (char *)parse->settings + parse->base;
	void *target = settings + option->offset;
	unsigned times = 0;
	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)target = !is_negated;
		return OPTIONS_OK;
	case OPTION_COUNT:
		memcpy(&times, target, sizeof(times));
		times = is_negated ? 0 : times + 1;
		memcpy(target, &times, sizeof(times));
		return OPTIONS_OK;
	case OPTION_STRING:
		memcpy(target, &value, sizeof(value));
		return OPTIONS_OK;
	case OPTION_U64:
		if (is_negated) {
			memset(target, 0, sizeof(uint64_t));
			return OPTIONS_OK;
		}
		return options_set_number(parse, option, by_letter, value, target);
	case OPTION_CALL: {
		char room[sizeof(parse->message)];
		struct option_use use = {settings, value, is_negated, room, sizeof(room)};
		const char *problem = option->call(&use);
		if (!problem)
			return OPTIONS_OK;
		if (option->is_self_explaining)
			snprintf(parse->message, sizeof(parse->message), "%s", problem);
		else
			bad_use(parse, option, by_letter, problem);
		parse->culprit = option;
		parse->is_sentence = option->is_self_explaining;
		suggest_choice(parse, option, value);
		return OPTIONS_BAD;
	}
	case OPTION_UNSUPPORTED:
		return options_refuse(parse, option, by_letter);
	case OPTION_GROUP: /* Not reached, because option_walk_next returns the rows of a group instead of this row. */
		break;
	}
	return OPTIONS_BAD;
}

/* *index is the position of the current word; it is advanced if the value is a separate word. */
static enum option_result options_use_option(struct option_parse *parse, const struct option *option, bool by_letter,
	bool is_negated, const char *attached, int *index)
{
	if (option->kind == OPTION_UNSUPPORTED)
		return options_apply(parse, option, by_letter, NULL, false);
	bool may_lack_value = !option->argument || option->argument_is_optional || option->can_be_negated;
	if (is_negated && option->kind == OPTION_CALL && !may_lack_value)
		return bad_use(parse, option, by_letter, "cannot be negated");
	if (!option->argument || is_negated) {
		if (attached)
			return bad_use(parse, option, by_letter, "takes no value");
		return options_apply(parse, option, by_letter, NULL, is_negated);
	}
	const char *value = attached;
	if (!value && !option->argument_is_optional) {
		if (*index + 1 >= parse->argc)
			return bad_use(parse, option, by_letter, "requires a value");
		value = parse->argv[++*index];
	}
	if (!value && option->takes_next_word && *index + 1 < parse->argc && parse->argv[*index + 1][0] != '-')
		value = parse->argv[++*index];
	return options_apply(parse, option, by_letter, value, false);
}

static enum option_result options_unknown(struct option_parse *parse, const char *kind, const char *name, size_t len)
{
	const char *names[MAX_NAMES];
	size_t count = 0;
	struct option_walk walk = {.table = parse->table};
	for (const struct option *option; count < MAX_NAMES && (option = option_walk_next(&walk));)
		if (option->name)
			names[count++] = option->name;
	int used =
		snprintf(parse->message, sizeof(parse->message), "unknown %s `%.*s'", kind, (int)(MIN(len, 100)), name);
	char word[101];
	snprintf(word, sizeof(word), "%.*s", (int)(MIN(len, 100)), name);
	word[strcspn(word, "=")] = '\0';
	size_t nearest = len > 1 ? text_nearest(names, count, word) : SIZE_MAX;
	if (nearest != SIZE_MAX)
		snprintf(parse->message + used, sizeof(parse->message) - (size_t)used, "\n  Did you mean `--%s'?",
			names[nearest]);
	parse->is_unknown = true;
	return OPTIONS_BAD;
}

static enum option_result long_option(struct option_parse *parse, const char *word, int *index)
{
	const char *equal = strchr(word, '=');
	size_t len = equal ? (size_t)(equal - word) : strlen(word);
	const char *attached = equal ? equal + 1 : NULL;
	bool is_negated;
	const struct option *option = find_named(parse->table, word, len, &is_negated, &parse->base);
	if (option)
		return options_use_option(parse, option, false, is_negated, attached, index);
	if (options_equals("help", word, len)) {
		parse->is_long_help = true;
		return OPTIONS_WANT_HELP;
	}
	if (options_equals("list-opts", word, len))
		return OPTIONS_LIST;
	const struct option *second;
	option = find_abbreviated(parse->table, word, len, &second, &is_negated, &parse->base);
	if (second) {
		snprintf(parse->message, sizeof(parse->message), "Ambiguous option: %.*s (could be --%s or --%s)",
			(int)(MIN(len, 100)), word, option->name, second->name);
		parse->culprit = option;
		parse->second = second;
		return OPTIONS_BAD;
	}
	if (!option)
		return options_unknown(parse, "option", word, strlen(word));
	return options_use_option(parse, option, false, is_negated, attached, index);
}

static const struct option *find_letter(const struct option_table *table, char letter, size_t *base)
{
	struct option_walk walk = {.table = table};
	for (const struct option *option; (option = option_walk_next(&walk));)
		if (option->letter == letter) {
			*base = walk.base;
			return option;
		}
	return NULL;
}

static enum option_result short_options(struct option_parse *parse, const char *letters, int *index)
{
	while (*letters) {
		const struct option *option = find_letter(parse->table, *letters, &parse->base);
		if (!option)
			return *letters == 'h' ? OPTIONS_WANT_HELP : options_unknown(parse, "switch", letters, 1);
		letters++;
		bool takes_rest = option->argument && *letters && option->kind != OPTION_UNSUPPORTED;
		enum option_result result =
			options_use_option(parse, option, true, false, takes_rest ? letters : NULL, index);
		if (result != OPTIONS_OK || takes_rest)
			return result;
	}
	return OPTIONS_OK;
}

/* Moves argv[from] to position to, and the words between them up by one. */
static void move_word(char **argv, int from, int to)
{
	char *word = argv[from];
	memmove(argv + to + 1, argv + to, (size_t)(from - to) * sizeof(*argv));
	argv[to] = word;
}

enum option_result options_parse(struct option_parse *parse)
{
	int words = 0; /* Number of words that are not options; they are moved behind the options parsed so far. */
	parse->rest = parse->argc;
	for (int i = 1; i < parse->argc; i++) {
		char *word = parse->argv[i];
		if (word[0] != '-' || word[1] == '\0') {
			if (parse->table->stops_at_command) {
				parse->rest = i;
				return OPTIONS_OK;
			}
			words++;
			continue;
		}
		if (strcmp(word, "--") == 0) {
			parse->had_separator = true;
			/* Words before "--" stay in front of those after it. */
			memmove(parse->argv + i - words + 1, parse->argv + i - words,
				(size_t)words * sizeof(*parse->argv));
			parse->rest = i - words + 1;
			return OPTIONS_OK;
		}
		int first = i;
		enum option_result result =
			word[1] == '-' ? long_option(parse, word + 2, &i) : short_options(parse, word + 1, &i);
		if (result != OPTIONS_OK)
			return result;
		if (words > 0)
			for (int moved = first; moved <= i; moved++)
				move_word(parse->argv, moved, moved - words);
	}
	parse->rest = parse->argc - words;
	return OPTIONS_OK;
}
