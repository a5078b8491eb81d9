/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

#include "base/hash.h"

/* Matches c against the set after '[' and moves *pos past its ']'. Returns false also for an unterminated set. */
static bool set_matches(struct tally_str pattern, size_t *pos, char c)
{
	size_t i = *pos;
	bool negated = i < pattern.len && (pattern.data[i] == '!' || pattern.data[i] == '^');
	if (negated)
		i++;
	bool found = false;
	for (size_t first = i; i < pattern.len && (i == first || pattern.data[i] != ']'); i++) {
		if (i + 2 < pattern.len && pattern.data[i + 1] == '-' && pattern.data[i + 2] != ']') {
			found = found || (pattern.data[i] <= c && c <= pattern.data[i + 2]);
			i += 2;
		} else {
			found = found || pattern.data[i] == c;
		}
	}
	if (i >= pattern.len)
		return false;
	*pos = i + 1;
	return found != negated;
}

bool str_glob(struct tally_str pattern, struct tally_str text)
{
	size_t p = 0;
	size_t t = 0;
	size_t star = SIZE_MAX; /* Position after the last '*'; star_text is the end of its match so far. */
	size_t star_text = 0;
	while (t < text.len) {
		size_t next = p + 1;
		bool matched = false;
		if (p < pattern.len) {
			char c = pattern.data[p];
			if (c == '*') {
				star = ++p;
				star_text = t;
				continue;
			}
			if (c == '\\' && p + 1 < pattern.len) {
				matched = pattern.data[p + 1] == text.data[t];
				next = p + 2;
			} else if (c == '[') {
				matched = set_matches(pattern, &next, text.data[t]);
			} else {
				matched = c == '?' || c == text.data[t];
			}
		}
		if (matched) {
			p = next;
			t++;
		} else if (star != SIZE_MAX) {
			p = star;
			t = ++star_text;
		} else {
			return false;
		}
	}
	while (p < pattern.len && pattern.data[p] == '*')
		p++;
	return p == pattern.len;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 10;
	return 99;
}

bool str_to_u64(struct tally_str text, int base, uint64_t *value)
{
	size_t i = 0;
	bool has_prefix = text.len > 2 && text.data[0] == '0' && (text.data[1] == 'x' || text.data[1] == 'X');
	if (has_prefix && (base == 0 || base == 16)) {
		base = 16;
		i = 2;
	} else if (base == 0) {
		base = text.len > 1 && text.data[0] == '0' ? 8 : 10;
	}
	if (i >= text.len)
		return false;
	uint64_t result = 0;
	for (; i < text.len; i++) {
		int digit = digit_value(text.data[i]);
		if (digit >= base || __builtin_mul_overflow(result, (uint64_t)base, &result) ||
			__builtin_add_overflow(result, (uint64_t)digit, &result))
			return false;
	}
	*value = result;
	return true;
}

static bool bytes_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct tally_str str_trim(struct tally_str text)
{
	while (text.len > 0 && bytes_is_blank(text.data[0])) {
		text.data++;
		text.len--;
	}
	while (text.len > 0 && bytes_is_blank(text.data[text.len - 1]))
		text.len--;
	return text;
}

bool str_next(struct tally_str *rest, char separator, struct tally_str *part)
{
	if (!rest->data)
		return false;
	const char *end = rest->len ? memchr(rest->data, separator, rest->len) : NULL;
	if (!end) {
		*part = *rest;
		*rest = (struct tally_str){NULL, 0};
		return true;
	}
	size_t len = (size_t)(end - rest->data);
	*part = (struct tally_str){rest->data, len};
	*rest = (struct tally_str){end + 1, rest->len - len - 1};
	return true;
}

bool str_next_item(struct tally_str *rest, struct tally_str *item)
{
	struct tally_str left = *rest;
	if (!left.data || str_trim(left).len == 0 || !str_next(&left, ',', item))
		return false;
	*item = str_trim(*item);
	*rest = left;
	return true;
}

/* Multiplies and folds 16 bytes per step: fast for short keys, and mixes all bits well enough for open addressing. */
static uint64_t bytes_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t bytes_load64(const unsigned char *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t bytes_load32(const unsigned char *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

uint64_t bytes_hash(const void *data, size_t len)
{
	const uint64_t k0 = HASH_FACTOR;
	const uint64_t k1 = UINT64_C(0xd6e8feb86659fd93);
	const unsigned char *p = data;
	uint64_t hash = len * k0;
	for (; len > 16; len -= 16, p += 16)
		hash = bytes_fold(bytes_load64(p) ^ hash ^ k0, bytes_load64(p + 8) ^ k1);
	/*
	 * The rest is read in two loads of fixed size, which may overlap, because the hash already includes the length.
	 */
	uint64_t a = 0;
	uint64_t b = 0;
	if (len >= 8) {
		a = bytes_load64(p);
		b = bytes_load64(p + len - 8);
	} else if (len >= 4) {
		a = bytes_load32(p);
		b = bytes_load32(p + len - 4);
	} else if (len > 0) {
		a = p[0];
		b = (uint64_t)p[len / 2] << 8 | p[len - 1];
	}
	return bytes_fold(bytes_fold(a ^ hash ^ k0, b ^ k1) ^ k1, k0);
}

size_t utf8_bytes(const uint8_t *s, size_t left)
{
	size_t count = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
	if (count == 0 || count > left)
		return 0;
	for (size_t i = 1; i < count; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	bool is_bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
		      (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90);
	return is_bad ? 0 : count;
}

size_t utf8_put(uint32_t character, uint8_t bytes[4])
{
	size_t count = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
	static const uint8_t heads[] = {0, 0xc0, 0xe0, 0xf0};
	for (size_t i = count - 1; i > 0; i--, character >>= 6)
		bytes[i] = (uint8_t)(0x80 | (character & 0x3f));
	bytes[0] = (uint8_t)(heads[count - 1] | character);
	return count;
}
