/* SPDX-License-Identifier: Apache-2.0 */
#include "base/config_text.h"

#include <stdio.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"

/* Returns the next byte, or 0 at the end. \r\n counts as one line end. */
static char config_text_take(struct config_text *config)
{
	if (config->rest.len == 0)
		return 0;
	char c = *config->rest.data;
	config->rest = (struct tally_str){config->rest.data + 1, config->rest.len - 1};
	if (c == '\r' && config->rest.len && *config->rest.data == '\n')
		return config_text_take(config);
	config->line += c == '\n';
	return c;
}

static char config_text_peek(const struct config_text *config)
{
	return config->rest.len ? *config->rest.data : 0;
}

static bool config_text_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static char config_text_small(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_name(char c)
{
	return (config_text_small(c) >= 'a' && config_text_small(c) <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_' || c == '.';
}

static void skip_comment(struct config_text *config)
{
	while (config->rest.len && config_text_peek(config) != '\n')
		if (config_text_take(config) == '\n') /* The line ended in \r\n. */
			break;
}

/*
 * Reads a section's name after the opening bracket. A quoted part is not converted to lower case: [colors "X"] is
 * colors.X.
 */
static bool take_section(struct config_text *config)
{
	size_t len = 0;
	bool is_quoted = false;
	for (;;) {
		char c = config_text_take(config);
		if (c == 0 || c == '\n' || len + 1 >= sizeof(config->section))
			return false;
		if (c == '"') {
			is_quoted = !is_quoted;
			continue;
		}
		if (c == ']' && !is_quoted)
			break;
		if (c == '\\' && is_quoted)
			c = config_text_take(config);
		if (config_text_is_blank(c) && !is_quoted)
			c = '.';
		else if (!is_quoted && !is_name(c))
			return false;
		config->section[len++] = is_quoted ? c : config_text_small(c);
	}
	config->section[len] = 0;
	return len > 0;
}

/* Returns the character that an escape stands for, 0 if the line continues, or -1 if the escape is invalid. */
static int take_escaped(struct config_text *config)
{
	char c = config_text_take(config);
	switch (c) {
	case '\n':
		return 0;
	case 't':
		return '\t';
	case 'n':
		return '\n';
	case 'b':
		return '\b';
	case '\\':
	case '"':
		return c;
	default:
		return -1;
	}
}

/* Reads the value after the equals sign, up to the end of the line, without surrounding blanks and comments. */
static bool config_text_take_value(struct config_text *config)
{
	bool is_quoted = false;
	size_t blanks = 0;
	text_clear(&config->value);
	while (config_text_is_blank(config_text_peek(config)))
		config_text_take(config);
	config->written = (struct tally_str){config->rest.data, 0};
	while (config->rest.len && config_text_peek(config) != '\n') {
		char c = config_text_take(config);
		if (c == '\n') /* The line ended in \r\n. */
			break;
		if (!is_quoted && config_text_is_blank(c)) {
			blanks += config->value.len > 0;
			continue;
		}
		if (!is_quoted && (c == '#' || c == ';')) {
			skip_comment(config);
			break;
		}
		text_repeat(&config->value, ' ', blanks);
		blanks = 0;
		int escaped = c == '\\' ? take_escaped(config) : 0;
		config->written.len = (size_t)(config->rest.data - config->written.data);
		if (c == '"') {
			is_quoted = !is_quoted;
			continue;
		}
		if (escaped < 0 || c == 0)
			return false;
		if (c != '\\' || escaped)
			text_char(&config->value, escaped ? (char)escaped : c);
	}
	return !is_quoted;
}

/* Reads "name = value" up to the end of the line. The caller has checked that a name begins here. */
static bool take_setting(struct config_text *config)
{
	char name[CONFIG_NAME_BYTES];
	size_t len = 0;
	while (is_name(config_text_peek(config))) {
		if (len + 1 >= sizeof(name))
			return false;
		name[len++] = config_text_small(config_text_take(config));
	}
	name[len] = 0;
	while (config_text_is_blank(config_text_peek(config)))
		config_text_take(config);
	if (!config->section[0] || config_text_take(config) != '=')
		return false;
	snprintf(config->name, sizeof(config->name), "%s.%s", config->section, name);
	return config_text_take_value(config);
}

enum tally_status config_text_next(struct config_text *config, struct tally_error *err)
{
	if (config->line == 0)
		config->line = 1;
	while (config->rest.len) {
		unsigned line = config->line;
		bool is_good = true;
		if (config_text_peek(config) == '#' || config_text_peek(config) == ';') {
			skip_comment(config);
		} else if (config_text_peek(config) == '[') {
			config_text_take(config);
			is_good = take_section(config);
		} else if (is_name(config_text_peek(config))) {
			is_good = take_setting(config);
			if (is_good)
				return config->value.failed ? error_nomem(err) : TALLY_OK;
		} else {
			char c = config_text_take(config);
			is_good = config_text_is_blank(c) || c == '\n';
		}
		if (!is_good) {
			config->line = line;
			return error_set(err, TALLY_CORRUPT, "bad config file line %u", line);
		}
	}
	return TALLY_END;
}

bool config_text_bool(struct tally_str value, bool *is_on)
{
	static const struct {
		const char *word;
		bool is_on;
	} words[] = {{"", true}, {"true", true}, {"yes", true}, {"on", true}, {"1", true}, {"false", false},
		{"no", false}, {"off", false}, {"0", false}};
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strlen(words[i].word) != value.len ||
			(value.len && strncasecmp(words[i].word, value.data, value.len) != 0))
			continue;
		*is_on = words[i].is_on;
		return true;
	}
	return false;
}

void config_text_deinit(struct config_text *config)
{
	text_deinit(&config->value);
}
