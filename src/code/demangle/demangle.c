/* SPDX-License-Identifier: Apache-2.0 */
#include "code/demangle/demangle.h"

#include <stdbool.h>
#include <string.h>

#include "base/limits.h"
#include "code/demangle/demangle_plain.h"
#include "code/demangle/demangle_runtime.h"
#include "tally_config.h"

/* Demangles a name of OCaml or Java. Returns the name itself if it is neither, or memory runs out. */
static const char *demangle_of_runtime(struct arena *arena, const char *name)
{
	size_t len;
	if ((name[0] != 'c' && name[0] != 'L') || (len = strlen(name)) > LIMIT_MANGLED)
		return name;
	struct text text = {0};
	const char *copy =
		demangle_runtime(name, len, &text) && !text.failed ? arena_string(arena, text.data, text.len) : NULL;
	text_deinit(&text);
	return copy ? copy : name;
}

#if HAVE_DEMANGLE
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"

/* Maximum length of a demangled name that needs no growing buffer; libiberty handles longer ones. */
#define PLAIN_MOST 512

/* C++ and legacy Rust use _Z, Rust v0 uses _R, D uses _D. Some object formats add an underscore: __Z. */
static bool may_be_mangled(const char *name)
{
	return name[0] == '_' &&
	       (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D' || (name[1] == '_' && name[2] == 'Z'));
}

/* Legacy Rust names are C++ names that end in a hash of 16 digits: "17h...E". */
static bool may_be_rust(const char *name)
{
	return name[1] == 'R' || strstr(name, "17h");
}

struct collector {
	struct text text;
	int flags; /* DMGL_* flags of libiberty. */
	jmp_buf too_long;
};

/* A name of 300 bytes can expand to gigabytes, because each of its parts may repeat the part before twice. The
 * demangler has no limit, so we leave it by longjmp, which is safe because it holds nothing but its own stack
 * frames. */
static void demangle_collect(const char *part, size_t len, void *opaque)
{
	struct collector *c = opaque;
	if (len > LIMIT_DEMANGLED - c->text.len)
		longjmp(c->too_long, 1);
	text_bytes(&c->text, part, len);
}

static bool base_62_digit(char c, uint64_t *digit)
{
	if (c >= '0' && c <= '9')
		*digit = (uint64_t)(c - '0');
	else if (c >= 'a' && c <= 'z')
		*digit = (uint64_t)(c - 'a') + 10;
	else if (c >= 'A' && c <= 'Z')
		*digit = (uint64_t)(c - 'A') + 36;
	else
		return false;
	return true;
}

/* In Rust's v0 scheme, "FG..._" and "DG..._" bind as many lifetimes as the number in base 62 says. The demangler goes
 * through them one by one, without calling collect() in types that it skips. The same letters may be part of an
 * identifier; such a name is refused too, because a back reference could lead there. */
static bool binds_few_lifetimes(const char *name)
{
	uint64_t bound = 0;
	for (const char *at = name; (at = strchr(at, 'G')) != NULL; at++) {
		if (at == name || (at[-1] != 'F' && at[-1] != 'D'))
			continue;
		uint64_t number = 0, digit;
		const char *end = at + 1;
		for (; base_62_digit(*end, &digit); end++)
			number = number > LIMIT_LIFETIMES ? number : number * 62 + digit;
		if (*end == '_')
			bound += number;
		if (bound > LIMIT_LIFETIMES)
			return false;
	}
	return true;
}

static bool demangle_by_callback(const char *name, struct collector *c)
{
	if (name[1] == 'R' && !binds_few_lifetimes(name))
		return false;
	if (setjmp(c->too_long) != 0)
		return false;
	if (may_be_rust(name)) {
		int rust = name[1] == 'R' ? DMGL_RUST : DMGL_AUTO;
		if (rust_demangle_callback(name, rust | c->flags, demangle_collect, c))
			return true;
		text_clear(&c->text);
	}
	return name[1] != 'R' && cplus_demangle_v3_callback(name, DMGL_AUTO | c->flags, demangle_collect, c) != 0;
}

/* Decodes a back reference of D: "Qa" to "Qz" refer 0 to 25 bytes back; preceding upper-case letters are higher digits
 * in base 26. */
static bool back_reference(const char *name, size_t at, size_t *target)
{
	size_t back = 0;
	size_t i = at + 1;
	for (; name[i] >= 'A' && name[i] <= 'Z' && back <= at; i++)
		back = back * 26 + (size_t)(name[i] - 'A');
	if (name[i] < 'a' || name[i] > 'z' || back > at)
		return false;
	back = back * 26 + (size_t)(name[i] - 'a');
	*target = at - back;
	return back > 0 && back <= at;
}

/* Returns whether the demangled name is short enough: a back reference repeats at most the text between its target and
 * itself. */
static bool is_short_in_d(const char *name, size_t len)
{
	/* written[i] bounds the length of the output of the first i bytes. */
	uint32_t written[LIMIT_MANGLED + 1];
	size_t target;
	written[0] = 0;
	for (size_t i = 0; i < len; i++) {
		uint32_t here = 1;
		if (name[i] == 'Q' && back_reference(name, i, &target))
			here += written[i] - written[target];
		written[i + 1] = written[i] + here;
		if (written[i + 1] > LIMIT_DEMANGLED)
			return false;
	}
	return true;
}

/* Computes a bound of the length first: back references let short names of D expand to gigabytes, and D's demangler has
 * no callback that could stop it. */
static bool demangle_d(const char *name, struct text *text)
{
	char *readable = is_short_in_d(name, strlen(name)) ? cplus_demangle(name, DMGL_DLANG) : NULL;
	if (readable)
		text_str(text, readable);
	free(readable);
	return readable != NULL;
}

/* The caller must free c->text, even after a failure. */
static bool demangle_part(const char *name, size_t len, struct collector *c)
{
	/* libiberty recurses once per level of nesting, and has no limit for D, so the length of names is limited. */
	bool is_done = false;
	if (len <= LIMIT_MANGLED) {
		char *copy = name[len] ? strndup(name, len) : NULL;
		const char *part = name[len] ? copy : name;
		is_done = part && (part[1] == 'D' ? demangle_d(part, &c->text) : demangle_by_callback(part, c));
		free(copy);
	}
	text_char(&c->text, 0);
	return is_done && !c->text.failed;
}

/* Demangles most C++ names in a buffer of fixed size, which is faster. Returns NULL if demangle_plain cannot demangle
 * the name, the result is too long, or memory runs out. */
static const char *demangle_plainly(struct arena *arena, const char *name, size_t len)
{
	char readable[PLAIN_MOST];
	size_t bytes = demangle_plain(name, len, readable, sizeof(readable)), more = strlen(name + len);
	if (bytes == 0 || more > sizeof(readable) - bytes)
		return NULL;
	memcpy(readable + bytes, name + len, more);
	return arena_string(arena, readable, bytes + more);
}

const char *demangle(struct arena *arena, const char *name)
{
	if (!may_be_mangled(name))
		return demangle_of_runtime(arena, name);
	const char *suffix = strchr(name, '@'); /* The suffix of "target@plt" and "name@@VERSION" is retained. */
	size_t len = suffix ? (size_t)(suffix - name) : strlen(name);
	const char *copy = may_be_rust(name) ? NULL : demangle_plainly(arena, name, len);
	if (copy)
		return copy;
	struct collector c = {.flags = DMGL_PARAMS | DMGL_ANSI};
	if (demangle_part(name, len, &c)) {
		c.text.len--; /* demangle_part terminates the text with a zero byte. */
		text_str(&c.text, name + len);
		copy = c.text.failed ? NULL : arena_string(arena, c.text.data, c.text.len);
	}
	text_deinit(&c.text);
	return copy ? copy : name;
}

size_t demangle_length(const char *name, size_t *bars)
{
	struct collector c = {.text = {0}};
	const char *shown = may_be_mangled(name) && demangle_part(name, strlen(name), &c) ? c.text.data : name;
	size_t len = strlen(shown);
	*bars = strspn(shown, "_");
	text_deinit(&c.text);
	return len;
}

#else

const char *demangle(struct arena *arena, const char *name)
{
	return demangle_of_runtime(arena, name);
}

size_t demangle_length(const char *name, size_t *bars)
{
	*bars = strspn(name, "_");
	return strlen(name);
}

#endif
