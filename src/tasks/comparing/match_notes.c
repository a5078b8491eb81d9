/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/comparing/match_notes.h"

#include "base/text.h"

static const char *const match_notes_kinds[NAME_MATCH_KINDS] = {
	[NAME_MATCH_FUNCTION] = "function", [NAME_MATCH_FILE] = "file", [NAME_MATCH_THREAD] = "thread name"};

static void match_notes_quote(struct text *out, struct tally_str name)
{
	text_char(out, '\'');
	text_visible(out, name);
	text_char(out, '\'');
}

void match_notes_add(struct diag *notes, const struct name_match *match)
{
	struct text text = {0};
	for (size_t kind = 0; kind < NAME_MATCH_KINDS; kind++) {
		const struct name_match_set *set = &match->sets[kind];
		if (set->pair_count == 0)
			continue;
		text_str(&text, text.len ? ", " : "");
		text_printf(
			&text, "%zu %s%s (", set->pair_count, match_notes_kinds[kind], set->pair_count == 1 ? "" : "s");
		match_notes_quote(&text, intern_get(&set->names, set->pairs[0].name));
		text_str(&text, " as ");
		match_notes_quote(&text, intern_get(&set->names, set->pairs[0].same));
		text_str(&text, set->pair_count == 1 ? ")" : ", ...)");
	}
	text_char(&text, '\0');
	if (text.len > 1 && !text.failed)
		diag_add(notes, DIAG_NOTE, "matched without the numbers of compilers and versions in names: %s",
			text.data);
	text_deinit(&text);
}

void match_notes_add_none(struct diag *notes, const char *base, const char *other, const char *advice)
{
	struct text text = {0};
	match_notes_quote(&text, str_from(other));
	text_str(&text, " was matched with one of ");
	match_notes_quote(&text, str_from(base));
	text_printf(&text, "%s%s", advice ? "; " : "", advice ? advice : "");
	text_char(&text, '\0');
	diag_add(notes, DIAG_WARNING, "no function of %s", text.failed ? other : text.data);
	text_deinit(&text);
}

void match_notes_json(struct json *json, const struct name_match *match)
{
	size_t count = 0;
	for (size_t kind = 0; kind < NAME_MATCH_KINDS; kind++)
		count += match->sets[kind].pair_count;
	if (count == 0)
		return;
	json_array(json, "matched_names");
	for (size_t kind = 0; kind < NAME_MATCH_KINDS; kind++) {
		const struct name_match_set *set = &match->sets[kind];
		for (size_t i = 0; i < set->pair_count; i++) {
			json_object(json, NULL);
			json_string(json, "kind",
				kind == NAME_MATCH_THREAD ? STR("thread") : str_from(match_notes_kinds[kind]));
			json_string(json, "name", intern_get(&set->names, set->pairs[i].name));
			json_string(json, "as", intern_get(&set->names, set->pairs[i].same));
			json_object_end(json);
		}
	}
	json_array_end(json);
}
