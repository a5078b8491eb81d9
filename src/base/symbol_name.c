/* SPDX-License-Identifier: Apache-2.0 */
#include "base/symbol_name.h"

#include "base/array.h"
#include "base/word_list.h"

/* Removes what follows the parameters, such as " const", " &" and " [clone .cold]". */
static struct tally_str without_qualifiers(struct tally_str name)
{
	static const struct tally_str qualifiers[] = {
		{" const", 6}, {" volatile", 9}, {" &", 2}, {" &&", 3}, {" noexcept", 9}};
	for (bool is_cut = true; is_cut;) {
		is_cut = false;
		for (size_t i = 0; i < ARRAY_LEN(qualifiers); i++) {
			if (!str_ends_with(name, qualifiers[i]))
				continue;
			name.len -= qualifiers[i].len;
			is_cut = true;
		}
		const char *clone = str_ends_with(name, STR("]")) ? memrchr(name.data, '[', name.len) : NULL;
		if (clone && clone - name.data > 1 && clone[-1] == ' ') {
			name.len = (size_t)(clone - name.data) - 1;
			is_cut = true;
		}
	}
	return name;
}

/* Returns where the last pair of parentheses opens; the length if there is none. */
static size_t parameters_of(struct tally_str name)
{
	size_t depth = 0;
	for (size_t i = name.len; i-- > 0;) {
		depth += name.data[i] == ')';
		if (name.data[i] == '(' && --depth == 0)
			return i;
		if (depth == 0)
			break;
	}
	return name.len;
}

/* The name of a template function begins with its return type. */
static size_t return_type_len(struct tally_str name)
{
	static const char operator_word[] = "operator";
	size_t len = 0, depth = 0, end = name.len;
	const char *own = memmem(name.data, name.len, operator_word, sizeof(operator_word) - 1);
	if (own)
		end = (size_t)(own - name.data);
	for (size_t i = 0; i < end; i++) {
		char c = name.data[i];
		bool is_arrow = c == '>' && i > 0 && name.data[i - 1] == '-';
		if (c == '<' || c == '(' || c == '{' || c == '[')
			depth++;
		else if ((c == '>' || c == ')' || c == '}' || c == ']') && !is_arrow && depth > 0)
			depth--;
		else if (c == ' ' && depth == 0)
			len = i + 1;
	}
	return len;
}

struct tally_str symbol_name_plain(struct tally_str name)
{
	struct tally_str plain = without_qualifiers(name);
	size_t parameters = parameters_of(plain);
	/* A parenthesis after a blank is part of the name: "StubRoutines (1)". */
	if (parameters == 0 || parameters == plain.len || plain.data[parameters - 1] == ' ')
		return name;
	plain.len = parameters;
	if (str_ends_with(plain, STR("operator"))) /* The parentheses after "operator" are part of the name. */
		return name;
	size_t returned = return_type_len(plain);
	return (struct tally_str){plain.data + returned, plain.len - returned};
}

/*
 * True if the list contains the name between commas; the name may contain commas. Lists with one name per line are not
 * split at commas, so word_list_has handles them.
 */
static bool list_contains(const char *list, struct tally_str name)
{
	const char *first = strchr(list, '\n') ? list + strlen(list) : list;
	for (const char *at = first; name.len > 0 && (at = memmem(at, strlen(at), name.data, name.len)); at++) {
		const char *before = at, *behind = at + name.len;
		while (before > list && before[-1] == ' ')
			before--;
		while (*behind == ' ')
			behind++;
		if ((before == list || before[-1] == ',') && (*behind == '\0' || *behind == ','))
			return true;
	}
	return false;
}

bool symbol_list_has(const char *list, struct tally_str name)
{
	if (word_list_has(list, name) || list_contains(list, name))
		return true;
	struct tally_str plain = symbol_name_plain(name);
	return plain.len != name.len && (word_list_has(list, plain) || list_contains(list, plain));
}
