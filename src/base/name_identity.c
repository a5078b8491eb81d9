/* SPDX-License-Identifier: Apache-2.0 */
#include "base/name_identity.h"

#include <ctype.h>

#include "base/array.h"

#define RUST_HASH_DIGITS 16
#define BPF_TAG_DIGITS	 16
#define GIT_HASH_LEAST	 7
#define GIT_HASH_MOST	 40

static bool name_identity_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool name_identity_is_hex(char c)
{
	return name_identity_is_digit(c) || (c >= 'a' && c <= 'f');
}

static size_t digits_before(struct tally_str name, size_t end)
{
	size_t begin = end;
	while (begin > 0 && name_identity_is_digit(name.data[begin - 1]))
		begin--;
	return end - begin;
}

static bool str_cut_end(struct tally_str *name, struct tally_str suffix)
{
	if (name->len <= suffix.len || !str_ends_with(*name, suffix))
		return false;
	name->len -= suffix.len;
	return true;
}

/* gcc and clang append these to the symbol of a copy of a function, mostly with a number after it. */
static bool cut_clone_suffix(struct tally_str *name)
{
	static const struct tally_str copies[] = {{".constprop", 10}, {".isra", 5}, {".part", 5}, {".cold", 5},
		{".llvm", 5}, {".lto_priv", 9}, {".localalias", 11}, {".__uniq", 7}, {".specialized", 12},
		{".simdclone", 10}, {".ipa_ra", 7}, {".argprom", 8}, {".argelim", 8}, {".retelim", 8}, {".unlikely", 9},
		{".split", 6}, {".warm", 5}, {".extracted", 10}, {".content", 8}};
	struct tally_str cut = *name;
	size_t digits = digits_before(cut, cut.len);
	if (digits > 0 && digits < cut.len && cut.data[cut.len - digits - 1] == '.')
		cut.len -= digits + 1;
	for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
		if (!str_cut_end(&cut, copies[i]))
			continue;
		*name = cut;
		return true;
	}
	return false;
}

/*
 * Cuts the number of static functions that were renamed at link time and of nested ones: "copy.4711". Go's names
 * contain dots themselves.
 */
static bool cut_local_number(struct tally_str *name)
{
	size_t digits = digits_before(*name, name->len);
	if (digits == 0 || digits + 2 > name->len || name->data[name->len - digits - 1] != '.')
		return false;
	size_t len = name->len - digits - 1;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name->data[i]) && name->data[i] != '_' && name->data[i] != '$')
			return false;
	if (name_identity_is_digit(name->data[0]))
		return false;
	name->len = len;
	return true;
}

/* Demanglers write ".isra.0" as " [clone .isra.0]" or " (.isra.0)". */
static bool cut_clone_words(struct tally_str *name)
{
	static const struct tally_str begins[] = {{" [clone ", 8}, {" (.", 3}};
	if (name->len == 0 || (name->data[name->len - 1] != ']' && name->data[name->len - 1] != ')'))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(begins); i++) {
		size_t at = name->len;
		while (at > 0 && !str_starts_with((struct tally_str){name->data + at, name->len - at}, begins[i]))
			at--;
		if (at == 0)
			continue;
		size_t first = at + begins[i].len - (i == 1), last = name->len - 1;
		/* Includes the character before the suffix, because a suffix alone is not cut. */
		struct tally_str inner = {name->data + first - 1, last - first + 1};
		while (inner.len > 1 && cut_clone_suffix(&inner))
			;
		if (inner.len != 1)
			continue;
		name->len = at;
		return true;
	}
	return false;
}

/* Cuts the hash of "core::fmt::write::h0123456789abcdef". */
static bool cut_rust_hash(struct tally_str *name)
{
	if (name->len < RUST_HASH_DIGITS + 4)
		return false;
	size_t at = name->len - RUST_HASH_DIGITS - 3;
	if (memcmp(name->data + at, "::h", 3) != 0)
		return false;
	for (size_t i = at + 3; i < name->len; i++)
		if (!name_identity_is_hex(name->data[i]))
			return false;
	name->len = at;
	return true;
}

/* Returns the length of a number here that a runtime assigned: after "$$Lambda$", "$Proxy" and so on. */
static size_t runtime_number(struct tally_str name, size_t at)
{
	static const struct tally_str counted[] = {{"$$Lambda$", 9}, {"$Proxy", 6}, {"GeneratedMethodAccessor", 23},
		{"GeneratedConstructorAccessor", 28}, {"GeneratedSerializationConstructorAccessor", 41}};
	struct tally_str before = {name.data, at};
	size_t len = 0;
	for (size_t i = 0; i < ARRAY_LEN(counted) && len == 0; i++)
		if (str_ends_with(before, counted[i]))
			while (at + len < name.len && name_identity_is_digit(name.data[at + len]))
				len++;
	return len;
}

/* Returns the length of "/0x00007f12a8" after the name of a hidden class, or of a Rust hash: "[0123456789abcdef]". */
static size_t runtime_hash(struct tally_str name, size_t at)
{
	struct tally_str rest = {name.data + at, name.len - at};
	size_t len = 0;
	if (str_starts_with(rest, STR("/0x")))
		for (len = 3; len < rest.len && name_identity_is_hex(rest.data[len]); len++)
			;
	if (len > 3)
		return len;
	if (at == 0 || !str_starts_with(rest, STR("[")))
		return 0;
	for (len = 1; len < rest.len && name_identity_is_hex(rest.data[len]); len++)
		;
	bool is_hash = len > RUST_HASH_DIGITS - 4 && len <= RUST_HASH_DIGITS + 1;
	return is_hash && len < rest.len && rest.data[len] == ']' ? len + 1 : 0;
}

/*
 * In "bpf_prog_6deef7357e7b4530_name", the tag is a hash of the program's instructions. Returns its length with the
 * '_'.
 */
static size_t bpf_tag(struct tally_str name)
{
	struct tally_str prefix = STR("bpf_prog_");
	if (!str_starts_with(name, prefix) || name.len < prefix.len + BPF_TAG_DIGITS + 2)
		return 0;
	for (size_t i = 0; i < BPF_TAG_DIGITS; i++)
		if (!name_identity_is_hex(name.data[prefix.len + i]))
			return 0;
	return name.data[prefix.len + BPF_TAG_DIGITS] == '_' ? BPF_TAG_DIGITS + 1 : 0;
}

struct tally_str name_identity_function(struct tally_str name, struct text *room)
{
	struct tally_str rest = name;
	while (cut_clone_suffix(&rest) || cut_local_number(&rest) || cut_clone_words(&rest) || cut_rust_hash(&rest))
		;
	text_clear(room);
	size_t tag = bpf_tag(rest), tag_at = strlen("bpf_prog_");
	for (size_t at = 0; at < rest.len;) {
		size_t skipped = tag && at == tag_at ? tag : runtime_number(rest, at) + runtime_hash(rest, at);
		if (skipped == 0)
			text_char(room, rest.data[at]);
		at += skipped ? skipped : 1;
	}
	return room->len && !room->failed ? text_view(room) : name;
}

bool name_identity_is_generated(struct tally_str object)
{
	static const char *const starts[] = {"[JIT]", "jitted-", "[anon", "//anon", "perf-", "/memfd:", "jit-"};
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (str_starts_with(object, str_from(starts[i])))
			return true;
	return false;
}

/* True if name consists of prefix, digits and suffix; groups of digits may be separated by '-'. */
static bool is_numbered(struct tally_str name, struct tally_str prefix, struct tally_str suffix)
{
	if (!str_starts_with(name, prefix) || !str_ends_with(name, suffix) || name.len <= prefix.len + suffix.len)
		return false;
	for (size_t i = prefix.len; i < name.len - suffix.len; i++)
		if (!name_identity_is_digit(name.data[i]) && (name.data[i] != '-' || i == prefix.len))
			return false;
	return true;
}

struct tally_str name_identity_shared(struct tally_str name, struct text *room)
{
	static const struct {
		struct tally_str prefix, suffix, same;
	} forms[] = {{{"[JIT] tid ", 10}, {"", 0}, {"[JIT]", 5}}, {{"jitted-", 7}, {".so", 3}, {"[JIT]", 5}},
		{{"perf-", 5}, {".map", 4}, {"[JIT]", 5}}, {{"jit-", 4}, {".dump", 5}, {"[JIT]", 5}},
		{{"[guest.kernel.kallsyms.", 23}, {"]", 1}, {"[guest.kernel.kallsyms]", 23}}};
	text_clear(room);
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (!is_numbered(name, forms[i].prefix, forms[i].suffix))
			continue;
		text_bytes(room, forms[i].same.data, forms[i].same.len);
		return room->failed ? name : text_view(room);
	}
	text_bytes(room, name.data, name.len);
	return room->failed ? name : text_view(room);
}

/* Returns where the final digits begin, or groups of them separated by '.' or '_'; end if there are none. */
static size_t version_number(struct tally_str name, size_t end)
{
	size_t at = end;
	for (;;) {
		size_t digits = digits_before(name, at);
		if (digits == 0)
			return at == end ? end : at + 1;
		at -= digits;
		if (at == 0 || (name.data[at - 1] != '.' && name.data[at - 1] != '_'))
			return at;
		if (digits_before(name, at - 1) == 0)
			return at;
		at--;
	}
}

static bool is_version_mark(char c)
{
	return c == '-' || c == '_' || c == '.' || c == '+' || c == '~' || c == '@';
}

/* Returns where a word such as "rc1" or "beta2" begins that ends the name; end if there is none. */
static size_t version_word(struct tally_str name, size_t end)
{
	static const char *const words[] = {"rc", "alpha", "beta", "pre", "dev", "post", "git", "snapshot", "SNAPSHOT"};
	size_t at = end - digits_before(name, end);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_ends_with((struct tally_str){name.data, at}, str_from(words[i])))
			return at - strlen(words[i]);
	return end;
}

/*
 * Returns where a hash such as "-g0123abc" begins that ends the name; end if there is none. A hash has at least one
 * digit.
 */
static size_t version_hash(struct tally_str name, size_t end)
{
	size_t at = end, digits = 0;
	while (at > 0 && name_identity_is_hex(name.data[at - 1]))
		digits += name_identity_is_digit(name.data[--at]);
	size_t len = end - at;
	if (len < GIT_HASH_LEAST || len > GIT_HASH_MOST || digits == 0)
		return end;
	return at > 0 && name.data[at - 1] == 'g' ? at - 1 : at;
}

/* Removes one part of a version from the end of the stem: "-1.1", "_v2", "3.12", "-rc1", "-0123abcd". */
static bool cut_version(struct tally_str *stem)
{
	size_t end = stem->len, begin = version_word(*stem, end);
	if (begin == end)
		begin = version_hash(*stem, end);
	bool is_number = begin == end;
	if (is_number)
		begin = version_number(*stem, end);
	if (begin == end || begin == 0)
		return false;
	bool has_dot = memchr(stem->data + begin, '.', end - begin) != NULL;
	if (is_number && begin > 1 && (stem->data[begin - 1] == 'v' || stem->data[begin - 1] == 'V') &&
		is_version_mark(stem->data[begin - 2]))
		begin--;
	size_t mark = begin - 1;
	if (!is_version_mark(stem->data[mark])) {
		/* "python3.12" is cut, but a number alone may be part of the name: "sha256". */
		if (!is_number || !has_dot)
			return false;
		stem->len = begin;
		return true;
	}
	if (mark == 0 || str_ends_with((struct tally_str){stem->data, mark}, STR("x86")))
		return false;
	stem->len = mark;
	return true;
}

/* Returns where a file's extension begins (".node", or ".so" with a version after it); the length if there is none. */
static size_t file_kind(struct tally_str name)
{
	static const char *const kinds[] = {".so", ".node", ".exe", ".dll", ".jar", ".ko", ".bin", ".pyd", ".out"};
	const char *so = memmem(name.data, name.len, ".so.", 4);
	if (so && so > name.data)
		return (size_t)(so - name.data);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_ends_with(name, str_from(kinds[i])) && name.len > strlen(kinds[i]))
			return name.len - strlen(kinds[i]);
	return name.len;
}

/* Modules for an interpreter contain its version: "_json.cpython-311-x86_64-linux-gnu". */
static void append_without_interpreter(struct text *room, struct tally_str stem)
{
	static const char mark[] = ".cpython-";
	const char *at = memmem(stem.data, stem.len, mark, sizeof(mark) - 1);
	size_t kept = at ? (size_t)(at - stem.data) + sizeof(mark) - 2 : stem.len, next = kept + (at != NULL);
	text_bytes(room, stem.data, kept);
	while (next < stem.len && name_identity_is_digit(stem.data[next]))
		next++;
	if (next < stem.len)
		text_bytes(room, stem.data + next, stem.len - next);
}

struct tally_str name_identity_file(struct tally_str name, struct text *room)
{
	struct tally_str shared = name_identity_shared(name, room);
	if (room->failed || !str_equal(shared, name))
		return shared;
	struct tally_str rest = name;
	(void)str_cut_end(&rest, STR(" (deleted)"));
	if (rest.len > 0 && (rest.data[0] == '[' || rest.data[0] == '/'))
		return shared;
	size_t kind = file_kind(rest), end = kind;
	struct tally_str stem = {rest.data, kind};
	while (end < rest.len && (end == kind || rest.data[end] != '.'))
		end++;
	while (cut_version(&stem))
		;
	text_clear(room);
	append_without_interpreter(room, stem);
	text_bytes(room, rest.data + kind, end - kind);
	return room->len && !room->failed ? text_view(room) : name;
}
