/* SPDX-License-Identifier: Apache-2.0 */
#include "code/demangle/demangle_runtime.h"

#define OCAML "caml"

static bool demangle_runtime_hex_digit(char c, unsigned *value)
{
	if (c >= '0' && c <= '9')
		*value = (unsigned)(c - '0');
	else if (c >= 'a' && c <= 'f')
		*value = (unsigned)(c - 'a') + 10;
	else
		return false;
	return true;
}

static bool demangle_ocaml(struct tally_str name, struct text *text)
{
	size_t at = sizeof(OCAML) - 1;
	/* Functions of the OCaml runtime itself ("caml_main") are written in C; the name of a module begins with a
	 * capital letter. */
	if (name.len <= at || !str_starts_with(name, STR(OCAML)) || name.data[at] < 'A' || name.data[at] > 'Z')
		return false;
	while (at < name.len) {
		unsigned high, low;
		if (at + 1 < name.len && name.data[at] == '_' && name.data[at + 1] == '_') {
			text_char(text, '.');
			at += 2;
		} else if (at + 2 < name.len && name.data[at] == '$' &&
			   demangle_runtime_hex_digit(name.data[at + 1], &high) &&
			   demangle_runtime_hex_digit(name.data[at + 2], &low)) {
			text_char(text, (char)(high << 4 | low));
			at += 3;
		} else {
			text_char(text, name.data[at++]);
		}
	}
	return true;
}

static const char *java_primitive(char c)
{
	switch (c) {
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'D':
		return "double";
	case 'F':
		return "float";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'S':
		return "short";
	case 'Z':
		return "boolean";
	case 'V':
		return "void";
	default:
		return NULL;
	}
}

/* Parses "java/lang/String;", which follows "L". Returns false if the semicolon is missing. */
static bool java_class(struct tally_str *rest, struct text *text)
{
	const char *end = memchr(rest->data, ';', rest->len);
	if (!end)
		return false;
	for (; rest->data < end; rest->data++, rest->len--)
		text_char(text, *rest->data == '/' ? '.' : *rest->data);
	rest->data++;
	rest->len--;
	return true;
}

static bool java_type(struct tally_str *rest, struct text *text)
{
	size_t dimensions = 0;
	while (rest->len > 0 && rest->data[0] == '[') {
		dimensions++;
		*rest = (struct tally_str){rest->data + 1, rest->len - 1};
	}
	if (rest->len == 0)
		return false;
	char first = rest->data[0];
	const char *primitive = java_primitive(first);
	*rest = (struct tally_str){rest->data + 1, rest->len - 1};
	if (primitive)
		text_str(text, primitive);
	else if (first != 'L' || !java_class(rest, text))
		return false;
	for (; dimensions > 0; dimensions--)
		text_str(text, "[]");
	return true;
}

static bool demangle_java(struct tally_str name, struct text *text)
{
	struct tally_str rest = {name.data + 1, name.len - 1};
	struct text unused = {0};
	if (name.len < 2 || name.data[0] != 'L' || !java_class(&rest, text))
		return false;
	const char *open = memchr(rest.data, '(', rest.len);
	if (!open || open == rest.data)
		return false;
	if (rest.data[0] != '<') /* A constructor ("<init>") directly follows the name of its class. */
		text_char(text, '.');
	size_t method = (size_t)(open - rest.data);
	text_bytes(text, rest.data, method + 1);
	rest = (struct tally_str){open + 1, rest.len - method - 1};
	for (bool is_first = true; rest.len > 0 && rest.data[0] != ')'; is_first = false) {
		text_str(text, is_first ? "" : ", ");
		if (!java_type(&rest, text))
			return false;
	}
	if (rest.len == 0)
		return false;
	text_char(text, ')');
	rest = (struct tally_str){rest.data + 1, rest.len - 1};
	bool is_type = rest.len == 0 || (java_type(&rest, &unused) && rest.len == 0);
	text_deinit(&unused);
	return is_type;
}

bool demangle_runtime(const char *data, size_t len, struct text *text)
{
	size_t before = text->len;
	struct tally_str name = {data, len};
	if (demangle_ocaml(name, text) || demangle_java(name, text))
		return true;
	text->len = before;
	return false;
}
