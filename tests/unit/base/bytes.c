/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "unit_test.h"

static void prefixes_and_suffixes(void **state)
{
	assert_true(str_starts_with(STR("sched:switch"), STR("sched:")));
	assert_true(str_starts_with(STR("x"), STR("")));
	assert_false(str_starts_with(STR("sch"), STR("sched")));
	assert_true(str_ends_with(STR("libc.so.6"), STR(".6")));
	assert_false(str_ends_with(STR("6"), STR(".6")));
	assert_true(str_equal(str_from(NULL), STR("")));
}

/* Matches every pattern of up to four of these characters with every text of up to four; fnmatch gives the expected
 * result. */
static void globs_match_as_fnmatch_does(void **state)
{
	static const char *const patterns[] = {"", "*", "?", "a", "b", "[ab]", "[!a]", "[a-b]", "**", "\\\\*"};
	static const char *const texts[] = {"", "a", "b", "*", "ab"};
	const size_t p = ARRAY_LEN(patterns);
	const size_t n = ARRAY_LEN(texts);
	for (size_t i = 0; i < p * p * p; i++) {
		char pattern[64];
		snprintf(pattern, sizeof(pattern), "%s%s%s", patterns[i % p], patterns[i / p % p], patterns[i / p / p]);
		for (size_t k = 0; k < n * n * n; k++) {
			char text[64];
			snprintf(text, sizeof(text), "%s%s%s", texts[k % n], texts[k / n % n], texts[k / n / n]);
			bool wanted = fnmatch(pattern, text, 0) == 0;
			if (str_glob(str_from(pattern), str_from(text)) != wanted)
				fail_msg("'%s' on '%s' should be %d", pattern, text, wanted);
		}
	}
}

static void hostile_globs_end(void **state)
{
	char text[4001];
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	assert_false(str_glob(STR("*a*a*a*a*a*a*a*a*a*b"), str_from(text)));
	assert_false(str_glob(STR("[abc"), STR("a")));
	assert_false(str_glob(STR("["), STR("a")));
	assert_true(str_glob(STR("a[]]b"), STR("a]b")));
}

static void check_number(const char *text, int base, bool valid, uint64_t wanted)
{
	uint64_t value = 77;
	assert_int_equal(str_to_u64(str_from(text), base, &value), valid);
	assert_int_equal(value, valid ? wanted : 77);
}

static void numbers(void **state)
{
	check_number("0", 0, true, 0);
	check_number("18446744073709551615", 10, true, UINT64_MAX);
	check_number("18446744073709551616", 10, false, 0);
	check_number("99999999999999999999999", 10, false, 0);
	check_number("0xfFfFfFfFfFfFfFfF", 0, true, UINT64_MAX);
	check_number("0x10000000000000000", 0, false, 0);
	check_number("017", 0, true, 15);
	check_number("08", 0, false, 0);
	check_number("0x1f", 16, true, 31);
	check_number("1f", 16, true, 31);
	check_number("0x", 0, false, 0);
	check_number("", 10, false, 0);
	check_number("-1", 10, false, 0);
	check_number(" 1", 10, false, 0);
	check_number("1 ", 10, false, 0);
	check_number("0x1f", 10, false, 0);
}

static void trimming_and_splitting(void **state)
{
	assert_true(str_equal(str_trim(STR(" \t a b\n")), STR("a b")));
	assert_int_equal(str_trim(STR("  ")).len, 0);
	struct tally_str rest = STR("a,,b,");
	struct tally_str part;
	static const char *const wanted[] = {"a", "", "b", ""};
	for (size_t i = 0; i < 4; i++) {
		assert_true(str_next(&rest, ',', &part));
		assert_true(str_equal(part, str_from(wanted[i])));
	}
	assert_false(str_next(&rest, ',', &part));
}

/* Items between commas are trimmed; a missing item in the middle counts as an empty one, the end of the
 * list does not. */
static void items_have_no_blanks(void **state)
{
	static const struct {
		const char *list;
		const char *items[4];
	} cases[] = {{"a,b", {"a", "b"}}, {" a , b ,", {"a", "b"}}, {"a, ", {"a"}}, {"", {NULL}}, {"  ", {NULL}},
		{",a", {"", "a"}}, {"a,,b", {"a", "", "b"}}, {",", {""}}, {"a b,c", {"a b", "c"}}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct tally_str rest = str_from(cases[i].list), item;
		size_t n = 0;
		while (str_next_item(&rest, &item)) {
			assert_non_null(cases[i].items[n]);
			assert_true(str_equal(item, str_from(cases[i].items[n])));
			n++;
		}
		assert_null(cases[i].items[n]);
	}
}

/* Keys that differ in one bit, and zeros of different lengths, differ in the bits that select a slot of
 * a hash table. */
static void hash_spreads(void **state)
{
	unsigned buckets[4096] = {0};
	unsigned char key[40] = {0};
	for (size_t len = 1; len <= 40; len++) {
		uint64_t zeros = bytes_hash(key, len);
		assert_int_not_equal(zeros, bytes_hash(key, len - 1));
		for (size_t bit = 0; bit < len * 8; bit++) {
			key[bit / 8] ^= (unsigned char)(1u << bit % 8);
			uint64_t hash = bytes_hash(key, len);
			key[bit / 8] ^= (unsigned char)(1u << bit % 8);
			assert_int_not_equal(hash, zeros);
			buckets[hash % 4096]++;
		}
	}
	/* 6,560 keys are 1.6 per bucket on average; with a Poisson distribution, 12 would occur in one
	 * of 10^5 tables. */
	for (size_t i = 0; i < 4096; i++)
		assert_true(buckets[i] < 14);
}

static void hash_of_numbers_spreads(void **state)
{
	unsigned buckets[1024] = {0};
	for (uint64_t i = 0; i < 16384; i++) {
		uint64_t address = UINT64_C(0xffffffff81000000) + i * 16;
		buckets[bytes_hash(&address, sizeof(address)) % 1024]++;
	}
	for (size_t i = 0; i < 1024; i++)
		assert_in_range(buckets[i], 1, 48);
}

static void test_part(void **state)
{
	const struct tally_bytes all = {(const uint8_t *)"abcdef", 6}, none = {NULL, 0};
	assert_true(bytes_equal(bytes_part(all, 1, 3), (struct tally_bytes){(const uint8_t *)"bcd", 3}));
	assert_true(bytes_equal(bytes_part(all, 4, SIZE_MAX), (struct tally_bytes){(const uint8_t *)"ef", 2}));
	assert_int_equal(bytes_part(all, 6, 1).len, 0);
	assert_int_equal(bytes_part(all, SIZE_MAX, 1).len, 0);
	assert_null(bytes_part(none, 0, 1).data);
	assert_int_equal(bytes_part(none, 5, 1).len, 0);
}

static void characters_are_written_as_utf8(void **state)
{
	static const struct {
		uint32_t character;
		const char *bytes;
	} cases[] = {{'a', "a"}, {0x7f, "\x7f"}, {0x80, "\xc2\x80"}, {0x7ff, "\xdf\xbf"}, {0x800, "\xe0\xa0\x80"},
		{0xffff, "\xef\xbf\xbf"}, {0x10000, "\xf0\x90\x80\x80"}, {0x10ffff, "\xf4\x8f\xbf\xbf"}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint8_t bytes[4];
		size_t len = utf8_put(cases[i].character, bytes);
		assert_int_equal(len, strlen(cases[i].bytes));
		assert_memory_equal(bytes, cases[i].bytes, len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_are_written_as_utf8),
		cmocka_unit_test(items_have_no_blanks),
		cmocka_unit_test(test_part),
		cmocka_unit_test(prefixes_and_suffixes),
		cmocka_unit_test(globs_match_as_fnmatch_does),
		cmocka_unit_test(hostile_globs_end),
		cmocka_unit_test(numbers),
		cmocka_unit_test(trimming_and_splitting),
		cmocka_unit_test(hash_spreads),
		cmocka_unit_test(hash_of_numbers_spreads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
