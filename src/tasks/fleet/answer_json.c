/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/answer_json.h"

#define MAX_DEPTH 32

struct answer_scan {
	const char *at, *end;
};

static void skip_blanks(struct answer_scan *s)
{
	while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
		s->at++;
}

static bool skip_char(struct answer_scan *s, char c)
{
	skip_blanks(s);
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

/* Skips a string with its quotation marks. */
static bool skip_string(struct answer_scan *s)
{
	if (!skip_char(s, '"'))
		return false;
	while (s->at < s->end && *s->at != '"')
		s->at += *s->at == '\\' && s->end - s->at > 1 ? 2 : 1;
	return skip_char(s, '"');
}

/* Skips a value of any kind. The contents of arrays and objects are not checked except for their brackets. */
static bool skip_value(struct answer_scan *s)
{
	unsigned depth = 0;
	do {
		skip_blanks(s);
		if (s->at == s->end)
			return false;
		char c = *s->at;
		if (c == '"') {
			if (!skip_string(s))
				return false;
		} else if (c == '[' || c == '{') {
			s->at++;
			if (++depth > MAX_DEPTH)
				return false;
		} else if (c == ']' || c == '}') {
			s->at++;
			if (depth-- == 0)
				return false;
		} else if (depth > 0 && (c == ',' || c == ':')) {
			s->at++;
		} else {
			const char *begin = s->at;
			while (s->at < s->end && !strchr(" \t\r\n,:[]{}\"", *s->at))
				s->at++;
			if (s->at == begin)
				return false;
		}
	} while (depth > 0);
	return true;
}

bool answer_json_member(struct tally_str json, struct tally_str name, struct tally_str *value)
{
	struct answer_scan s = {json.data, json.data + json.len};
	if (!skip_char(&s, '{'))
		return false;
	do {
		skip_blanks(&s);
		const char *key = s.at;
		if (!skip_string(&s))
			return false;
		const struct tally_str found = {key + 1, (size_t)(s.at - key) - 2};
		if (!skip_char(&s, ':'))
			return false;
		skip_blanks(&s);
		const char *begin = s.at;
		if (!skip_value(&s))
			return false;
		if (str_equal(found, name)) {
			*value = (struct tally_str){begin, (size_t)(s.at - begin)};
			return true;
		}
	} while (skip_char(&s, ','));
	return false;
}

bool answer_json_bool(struct tally_str json, struct tally_str name)
{
	struct tally_str value;
	return answer_json_member(json, name, &value) && str_equal(value, STR("true"));
}

uint64_t answer_json_u64(struct tally_str json, struct tally_str name)
{
	struct tally_str value;
	uint64_t number;
	return answer_json_member(json, name, &value) && str_to_u64(value, 10, &number) ? number : 0;
}

static void put_unicode(struct text *out, struct tally_str digits)
{
	uint8_t bytes[4];
	uint64_t character = 0xfffd;
	str_to_u64(digits, 16, &character);
	/* Surrogate pairs are not decoded: 'tally serve' does not write any. */
	if (character >= 0xd800 && character < 0xe000)
		character = 0xfffd;
	text_bytes(out, (const char *)bytes, utf8_put((uint32_t)character, bytes));
}

static bool put_string(struct tally_str value, struct text *out)
{
	static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	if (value.len < 2 || value.data[0] != '"')
		return false;
	for (size_t i = 1; i + 1 < value.len; i++) {
		if (value.data[i] != '\\') {
			text_char(out, value.data[i]);
			continue;
		}
		i++;
		const char *pair = NULL;
		for (size_t at = 0; at + 1 < sizeof(escapes); at += 2)
			pair = escapes[at] == value.data[i] ? &escapes[at] : pair;
		if (pair) {
			text_char(out, pair[1]);
		} else if (value.data[i] == 'u' && i + 5 < value.len) {
			put_unicode(out, (struct tally_str){value.data + i + 1, 4});
			i += 4;
		}
	}
	return true;
}

bool answer_json_string(struct tally_str json, struct tally_str name, struct text *out)
{
	struct tally_str value;
	return answer_json_member(json, name, &value) && put_string(value, out);
}

bool answer_json_strings(
	struct tally_str json, struct tally_str name, void (*take)(void *context, struct tally_str text), void *context)
{
	struct tally_str list;
	struct text room = {0};
	if (!answer_json_member(json, name, &list))
		return false;
	struct answer_scan s = {list.data, list.data + list.len};
	if (!skip_char(&s, '['))
		return false;
	bool is_good = true, has_more = !skip_char(&s, ']');
	while (has_more && is_good) {
		skip_blanks(&s);
		const char *begin = s.at;
		text_clear(&room);
		is_good = skip_string(&s) && put_string((struct tally_str){begin, (size_t)(s.at - begin)}, &room) &&
			  !room.failed;
		if (is_good)
			take(context, text_view(&room));
		has_more = skip_char(&s, ',');
	}
	text_deinit(&room);
	return is_good;
}
