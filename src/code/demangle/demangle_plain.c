/* SPDX-License-Identifier: Apache-2.0 */
#include "code/demangle/demangle_plain.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"

#define SUBSTITUTIONS 37 /* Substitutions are "S_", "S0_" to "S9_" and "SA_" to "SZ_". */
#define NESTED_MOST   16 /* Maximum number of pointers, references and qualifiers of one type. */

struct plain_span { /* A range of bytes in the output. */
	uint16_t start, len;
};

struct plain_name {
	const char *at, *end;
	char *out;
	size_t len, room;
	bool failed;
	struct plain_span earlier[SUBSTITUTIONS]; /* Ranges that "S_", "S0_" and so on repeat; output is never moved. */
	unsigned earlier_count;
	struct plain_span last; /* The last identifier, which names constructors and destructors. */
};

static void plain_put(struct plain_name *n, const char *text, size_t len)
{
	if (len > n->room - n->len) {
		n->failed = true;
		return;
	}
	memcpy(n->out + n->len, text, len);
	n->len += len;
}

static char plain_next(const struct plain_name *n)
{
	return n->at < n->end ? *n->at : '\0';
}

static bool plain_skip(struct plain_name *n, char c)
{
	bool is_there = plain_next(n) == c;
	n->at += is_there;
	return is_there;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Makes the output from start on available to substitutions. */
static void plain_keep(struct plain_name *n, size_t start)
{
	if (n->earlier_count == SUBSTITUTIONS) {
		n->failed = true;
		return;
	}
	n->earlier[n->earlier_count++] = (struct plain_span){(uint16_t)start, (uint16_t)(n->len - start)};
}

/* Parses "3foo". Names that the compiler generates ("_GLOBAL__N_1") are printed differently, so they fail. */
static void plain_identifier(struct plain_name *n)
{
	size_t len = 0;
	bool is_number = plain_next(n) >= '1' && plain_next(n) <= '9';
	while (is_digit(plain_next(n)) && len < n->room)
		len = len * 10 + (size_t)(*n->at++ - '0');
	if (!is_number || len > (size_t)(n->end - n->at) || (len >= 8 && memcmp(n->at, "_GLOBAL_", 8) == 0)) {
		n->failed = true;
		return;
	}
	n->last = (struct plain_span){(uint16_t)n->len, (uint16_t)len};
	plain_put(n, n->at, len);
	n->at += len;
}

/* Parses what follows "S": "_", or "0_" to "Z_". */
static void plain_repeat(struct plain_name *n)
{
	unsigned number = 0;
	char c = plain_next(n);
	if (c != '_') {
		bool is_number = is_digit(c) || (c >= 'A' && c <= 'Z');
		number = 1 + (unsigned)(is_digit(c) ? c - '0' : c - 'A' + 10);
		n->failed |= !is_number;
		n->at += is_number;
	}
	if (n->failed || !plain_skip(n, '_') || number >= n->earlier_count) {
		n->failed = true;
		return;
	}
	struct plain_span span = n->earlier[number];
	/* The name of a constructor would have to be extracted from the repeated text, which is not supported. */
	n->last = (struct plain_span){0};
	plain_put(n, n->out + span.start, span.len);
}

/* Parses "C1", "D2" and the like, which repeat the name of the class. */
static void plain_structor(struct plain_name *n)
{
	bool is_destructor = *n->at++ == 'D';
	char kind = plain_next(n);
	if (n->last.len == 0 || kind < (is_destructor ? '0' : '1') || kind > (is_destructor ? '2' : '3')) {
		n->failed = true;
		return;
	}
	n->at++;
	plain_put(n, "::~", is_destructor ? 3 : 2);
	if (!n->failed)
		plain_put(n, n->out + n->last.start, n->last.len);
}

/* Parses what follows "N", up to its "E". A type can be substituted as a whole, a function only by its scopes. */
static void plain_nested(struct plain_name *n, bool is_type)
{
	size_t start = n->len;
	bool is_structor = false;
	n->failed |= plain_next(n) == 'E';
	for (unsigned part = 0; !n->failed && !plain_skip(n, 'E'); part++) {
		bool is_kept = true, is_first = part == 0;
		char c = plain_next(n);
		n->failed |= is_structor;
		if ((c == 'C' || c == 'D') && !is_first && !is_type) {
			plain_structor(n);
			is_structor = true;
		} else if (is_first && plain_skip(n, 'S')) {
			is_kept = false;
			if (plain_skip(n, 't'))
				plain_put(n, "std", 3);
			else
				plain_repeat(n);
		} else {
			if (!is_first)
				plain_put(n, "::", 2);
			plain_identifier(n);
		}
		bool is_whole = plain_next(n) == 'E';
		n->failed |= is_whole && (is_first || !is_kept);
		if (!n->failed && is_kept && (is_type || !is_whole))
			plain_keep(n, start);
	}
}

static const char *plain_builtin(char c)
{
	static const char *const names['z' - 'a' + 1] = {
		['a' - 'a'] = "signed char",
		['b' - 'a'] = "bool",
		['c' - 'a'] = "char",
		['d' - 'a'] = "double",
		['e' - 'a'] = "long double",
		['f' - 'a'] = "float",
		['g' - 'a'] = "__float128",
		['h' - 'a'] = "unsigned char",
		['i' - 'a'] = "int",
		['j' - 'a'] = "unsigned int",
		['l' - 'a'] = "long",
		['m' - 'a'] = "unsigned long",
		['n' - 'a'] = "__int128",
		['o' - 'a'] = "unsigned __int128",
		['s' - 'a'] = "short",
		['t' - 'a'] = "unsigned short",
		['v' - 'a'] = "void",
		['w' - 'a'] = "wchar_t",
		['x' - 'a'] = "long long",
		['y' - 'a'] = "unsigned long long",
		['z' - 'a'] = "...",
	};
	return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

/* Parses a class or a substitution. */
static void plain_class(struct plain_name *n)
{
	size_t start = n->len;
	if (plain_skip(n, 'N')) {
		plain_nested(n, true);
		return;
	}
	if (plain_skip(n, 'S') && plain_next(n) != 't') {
		plain_repeat(n);
		return;
	}
	if (plain_skip(n, 't'))
		plain_put(n, "std::", 5);
	plain_identifier(n);
	if (!n->failed)
		plain_keep(n, start);
}

/* Pointers, references and const precede their type in the mangled name, but follow it in the output. */
static void plain_type(struct plain_name *n)
{
	size_t start = n->len;
	const char *first = n->at;
	while (strchr("PROK", plain_next(n)) && plain_next(n))
		n->at++;
	const char *base = n->at, *builtin = plain_builtin(plain_next(n));
	if (base - first > NESTED_MOST) {
		n->failed = true;
	} else if (builtin) {
		n->failed |= base > first && *base == 'z';
		plain_put(n, builtin, strlen(builtin));
		n->at++;
	} else {
		plain_class(n);
	}
	for (const char *of = base; of-- > first && !n->failed;) {
		char last = n->out[n->len - 1];
		/* Collapsing references and repeated const is not supported. */
		n->failed = (*of != 'P' && last == '&') ||
			    (*of == 'K' && n->len - start > 6 && !memcmp(n->out + n->len - 6, " const", 6));
		plain_put(n,
			*of == 'P'   ? "*"
			: *of == 'R' ? "&"
			: *of == 'O' ? "&&"
				     : " const",
			*of == 'K' ? 6 : 1 + (*of == 'O'));
		if (!n->failed)
			plain_keep(n, start);
	}
}

static void plain_parameters(struct plain_name *n)
{
	plain_put(n, "(", 1);
	if (n->end - n->at == 1 && *n->at == 'v')
		n->at++;
	for (unsigned i = 0; n->at < n->end && !n->failed; i++) {
		n->failed = *n->at == 'v';
		if (i > 0)
			plain_put(n, ", ", 2);
		plain_type(n);
	}
	plain_put(n, ")", 1);
}

size_t demangle_plain(const char *name, size_t len, char *out, size_t room)
{
	struct plain_name n = {.at = name, .end = name + len, .out = out, .room = MIN(room, UINT16_MAX)};
	bool is_const = false;
	if (!plain_skip(&n, '_') || !plain_skip(&n, 'Z'))
		return 0;
	if (plain_skip(&n, 'N')) {
		is_const = plain_skip(&n, 'K');
		plain_nested(&n, false);
	} else {
		(void)plain_skip(&n, 'L');
		plain_identifier(&n);
	}
	if (!n.failed && n.at < n.end)
		plain_parameters(&n);
	if (is_const)
		plain_put(&n, " const", 6);
	return n.failed ? 0 : n.len;
}
