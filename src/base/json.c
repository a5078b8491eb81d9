#include "base/json.h"

#define REPLACEMENT "\\ufffd"

static void put_escaped(struct text *t, uint8_t c)
{
	switch (c) {
	case '"':
		text_str(t, "\\\"");
		break;
	case '\\':
		text_str(t, "\\\\");
		break;
	case '\b':
		text_str(t, "\\b");
		break;
	case '\f':
		text_str(t, "\\f");
		break;
	case '\n':
		text_str(t, "\\n");
		break;
	case '\r':
		text_str(t, "\\r");
		break;
	case '\t':
		text_str(t, "\\t");
		break;
	default:
		text_str(t, "\\u");
		text_hex(t, c, 4);
	}
}

static void put_string(struct text *t, struct tally_str value)
{
	const uint8_t *s = (const uint8_t *)value.data;
	size_t plain = 0; /* start of what needs no change */

	text_char(t, '"');
	for (size_t i = 0; i < value.len;) {
		bool is_ascii = s[i] < 0x80;
		size_t count = is_ascii ? 1 : utf8_bytes(s + i, value.len - i);
		if (count > 0 && !(is_ascii && (s[i] < 0x20 || s[i] == '"' || s[i] == '\\'))) {
			i += count;
			continue;
		}
		text_bytes(t, value.data + plain, i - plain);
		if (count > 0)
			put_escaped(t, s[i]);
		else
			text_str(t, REPLACEMENT);
		plain = ++i;
	}
	if (value.len > plain)
		text_bytes(t, value.data + plain, value.len - plain);
	text_char(t, '"');
}

static void begin_line(struct json *j)
{
	if (j->is_compact)
		return;
	text_char(j->out, '\n');
	text_repeat(j->out, '\t', j->depth);
}

/* To where the next item starts. */
static void begin_item(struct json *j, struct tally_str key)
{
	if (j->has_item)
		text_char(j->out, ',');
	if (j->depth > 0)
		begin_line(j);
	j->has_item = true;
	if (!key.data)
		return;
	put_string(j->out, key);
	text_str(j->out, ": ");
}

static void open_nested(struct json *j, const char *key, char bracket)
{
	begin_item(j, str_from(key));
	text_char(j->out, bracket);
	j->depth++;
	j->has_item = false;
}

static void close_nested(struct json *j, char bracket)
{
	j->depth--;
	begin_line(j);
	text_char(j->out, bracket);
	j->has_item = j->depth > 0;
	if (j->depth == 0)
		text_char(j->out, '\n');
}

void json_object(struct json *j, const char *key)
{
	open_nested(j, key, '{');
}

void json_object_end(struct json *j)
{
	close_nested(j, '}');
}

void json_array(struct json *j, const char *key)
{
	open_nested(j, key, '[');
}

void json_array_end(struct json *j)
{
	close_nested(j, ']');
}

void json_member(struct json *j, struct tally_str key, struct tally_str value)
{
	begin_item(j, key);
	put_string(j->out, value);
}

void json_string(struct json *j, const char *key, struct tally_str value)
{
	json_member(j, str_from(key), value);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	begin_item(j, str_from(key));
	text_u64(j->out, value);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	begin_item(j, str_from(key));
	text_i64(j->out, value);
}

void json_fixed(struct json *j, const char *key, double value, unsigned decimals)
{
	begin_item(j, str_from(key));
	text_fixed(j->out, value, decimals);
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin_item(j, str_from(key));
	text_str(j->out, value ? "true" : "false");
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	begin_item(j, str_from(key));
	text_str(j->out, "\"0x");
	text_hex(j->out, value, 0);
	text_char(j->out, '"');
}
