/* SPDX-License-Identifier: Apache-2.0 */
#include "base/config_edit.h"

#include <stdlib.h>
#include <strings.h>

#include "base/config_text.h"
#include "base/error.h"

/* perf writes this line at the beginning of a new file. */
#define CONFIG_EDIT_HEADER "# this file is auto-generated.\n"

struct config_edit_name {
	struct tally_str section, setting;
};

struct config_edit_found {
	struct tally_str written; /* The value to replace; its data is NULL if the setting does not exist. */
	const char *section_end; /* End of the section's last setting; NULL if the section does not exist. */
};

static struct config_edit_name config_edit_split(struct tally_str name)
{
	size_t dot = name.len;
	while (dot > 0 && name.data[dot - 1] != '.')
		dot--;
	if (dot == 0)
		return (struct config_edit_name){{name.data, 0}, name};
	return (struct config_edit_name){{name.data, dot - 1}, {name.data + dot, name.len - dot}};
}

static bool config_edit_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* True for characters that names of sections and settings may contain. */
static bool config_edit_is_plain(char c)
{
	return config_edit_is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

const char *config_edit_complaint(struct tally_str name)
{
	struct config_edit_name parts = config_edit_split(name);
	if (parts.section.len == 0)
		return "does not contain a section name";
	if (parts.setting.len == 0)
		return "does not contain a variable name";
	if (name.len + 1 >= CONFIG_NAME_BYTES)
		return "is too long";
	if (!config_edit_is_letter(parts.setting.data[0]))
		return "has a variable name that does not begin with a letter";
	for (size_t i = 0; i < parts.setting.len; i++)
		if (!config_edit_is_plain(parts.setting.data[i]))
			return "has a variable name with other characters than letters, digits, '-' and '_'";
	if (!config_edit_is_plain(parts.section.data[0]) || parts.section.data[0] == '-')
		return "has a section name that does not begin with a letter or a digit";
	for (size_t i = 0; i < parts.section.len && parts.section.data[i] != '.'; i++)
		if (!config_edit_is_plain(parts.section.data[i]))
			return "has other characters than letters, digits, '-' and '_' before the first dot";
	for (size_t i = 0; i < parts.section.len; i++)
		if (parts.section.data[i] == '\n' || parts.section.data[i] == 0)
			return "has a line end in its section name";
	return NULL;
}

/* Checks that the reader reads these bytes after "name = " as this value. It reads a tab as a blank, so tabs fail. */
static enum tally_status config_edit_reads_well(struct tally_str value, bool *reads_well, struct tally_error *err)
{
	struct text line = {0};
	struct tally_error bad;
	text_str(&line, "[a]\nb = ");
	text_bytes(&line, value.data, value.len);
	struct config_text config = {.rest = text_view(&line)};
	enum tally_status status = line.failed ? TALLY_NOMEM : config_text_next(&config, &bad);
	*reads_well = status == TALLY_OK && config.rest.len == 0 && config.written.len == value.len &&
		      !memchr(value.data, '\t', value.len);
	bool has_failed = status == TALLY_NOMEM;
	config_text_deinit(&config);
	text_deinit(&line);
	return has_failed ? error_nomem(err) : TALLY_OK;
}

static void config_edit_quote(struct text *out, struct tally_str value, bool is_value)
{
	text_char(out, '"');
	for (size_t i = 0; i < value.len; i++) {
		char c = value.data[i];
		if (c == '"' || c == '\\')
			text_char(out, '\\');
		if (is_value && (c == '\n' || c == '\t'))
			text_str(out, c == '\n' ? "\\n" : "\\t");
		else
			text_char(out, c);
	}
	text_char(out, '"');
}

/* Writes [section], or [section "rest"] if the part after the first dot needs quotation marks. */
static void config_edit_put_section(struct text *out, struct tally_str section)
{
	bool is_plain = true;
	for (size_t i = 0; i < section.len; i++)
		is_plain = is_plain && (config_edit_is_plain(section.data[i]) || section.data[i] == '.');
	size_t first = 0;
	while (first < section.len && section.data[first] != '.')
		first++;
	text_char(out, '[');
	if (is_plain) {
		text_bytes(out, section.data, section.len);
	} else {
		text_bytes(out, section.data, first);
		text_char(out, ' ');
		size_t rest = MIN(first + 1, section.len);
		config_edit_quote(out, (struct tally_str){section.data + rest, section.len - rest}, false);
	}
	text_str(out, "]\n");
}

static bool config_edit_is(const char *read, struct tally_str asked)
{
	return strlen(read) == asked.len && strncasecmp(read, asked.data, asked.len) == 0;
}

static enum tally_status config_edit_find(
	struct tally_str text, struct tally_str name, struct config_edit_found *found, struct tally_error *err)
{
	struct config_text config = {.rest = text};
	enum tally_status status;
	struct tally_str section = config_edit_split(name).section;
	*found = (struct config_edit_found){0};
	while ((status = config_text_next(&config, err)) == TALLY_OK) {
		if (config_edit_is(config.name, name))
			found->written = config.written;
		if (config_edit_is(config.section, section))
			found->section_end = config.rest.data;
	}
	config_text_deinit(&config);
	return status == TALLY_END ? TALLY_OK : status;
}

/* True if a backslash joins the line that ends at end with the next one. */
static bool config_edit_continues(const char *begin, const char *end)
{
	const char *at = end - 1;
	if (at > begin && at[-1] == '\r')
		at--;
	return at > begin && at[-1] == '\\';
}

static void config_edit_put(struct tally_str text, struct tally_str name, const struct config_edit_found *found,
	struct text *out, struct tally_str shown)
{
	struct config_edit_name parts = config_edit_split(name);
	if (!text.data) /* The file is empty. */
		text.data = "";
	const char *end = text.data + text.len;
	const char *cut = found->written.data ? found->written.data : found->section_end ? found->section_end : end;
	text_bytes(out, text.data, (size_t)(cut - text.data));
	if (!found->written.data) {
		if (text.len == 0)
			text_str(out, CONFIG_EDIT_HEADER);
		else if (cut[-1] != '\n' || config_edit_continues(text.data, cut))
			text_char(out, '\n');
		if (!found->section_end)
			config_edit_put_section(out, parts.section);
		text_char(out, '\t');
		text_bytes(out, parts.setting.data, parts.setting.len);
		text_str(out, " = ");
	}
	text_bytes(out, shown.data, shown.len);
	cut += found->written.len;
	if (cut == end || (!found->written.data && *cut != '\n'))
		text_char(out, '\n');
	text_bytes(out, cut, (size_t)(end - cut));
}

enum tally_status config_edit_set(
	struct tally_str text, struct tally_str name, struct tally_str value, struct text *out, struct tally_error *err)
{
	struct config_edit_found found;
	struct text quoted = {0};
	bool reads_well = false;
	enum tally_status status = config_edit_find(text, name, &found, err);
	if (status == TALLY_OK)
		status = config_edit_reads_well(value, &reads_well, err);
	if (status != TALLY_OK)
		return status;
	if (!reads_well)
		config_edit_quote(&quoted, value, true);
	struct tally_str shown = reads_well ? value : text_view(&quoted);
	status = config_edit_reads_well(shown, &reads_well, err);
	if (status == TALLY_OK && !reads_well)
		status = error_set(err, TALLY_INVALID, "the value cannot be written to a configuration file");
	if (status == TALLY_OK)
		config_edit_put(text, name, &found, out, shown);
	if (status == TALLY_OK && (out->failed || quoted.failed))
		status = error_nomem(err);
	text_deinit(&quoted);
	return status;
}
