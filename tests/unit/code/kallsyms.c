/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/kallsyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "unit_test.h"

static const char some_list[] = "0000000000000000 A fixed_percpu_data\n"
				"ffffffff81000000 T _stext\n"
				"ffffffff81000000 T _text\n"
				"ffffffff81000100 t helper\n"
				"ffffffff81000200 W weak_one\n"
				"ffffffff81000300 R rodata\n"
				"ffffffff81000400 D some_data\n"
				"ffffffff81000500 t $x\n"
				"ffffffffc0001000 t ext4_open\t[ext4]\n"
				"ffffffffc0001080 T ext4_close\t[ext4]\n"
				"ffffffffc0009000 t xfs_open\t[xfs]\n";

struct fixture {
	char *text;
	struct kallsyms kallsyms;
	struct symbol_table table;
	struct arena arena;
	bool is_hidden;
};

static void begin(struct fixture *f, const char *text, size_t len)
{
	*f = (struct fixture){0};
	f->text = malloc(len + 1);
	assert_non_null(f->text);
	memcpy(f->text, text, len);
	f->text[len] = '\0';
	arena_init(&f->arena);
	kallsyms_open(f->text, len, &f->kallsyms);
}

static void end(struct fixture *f)
{
	symbol_table_deinit(&f->table);
	arena_deinit(&f->arena);
	free(f->text);
}

static const char *name_at(const struct fixture *f, uint64_t address)
{
	const struct symbol *symbol = symbol_table_find(&f->table, address);
	return symbol ? symbol->name : "-";
}

static void reads_the_kernel(void **state)
{
	struct fixture f;
	begin(&f, some_list, strlen(some_list));
	assert_true(kallsyms_add_kernel(&f.kallsyms, &f.arena, &f.table, &f.is_hidden));
	assert_false(f.is_hidden);
	assert_int_equal(kallsyms_address(&f.table, "_text"), 0xffffffff81000000);
	assert_int_equal(kallsyms_address(&f.table, "none"), 0);
	assert_true(symbol_table_finish(&f.table, SYMBOLS_UNSIZED));
	assert_string_equal(name_at(&f, 0xffffffff81000000), "_text");
	assert_string_equal(name_at(&f, 0xffffffff810001ff), "helper");
	assert_string_equal(name_at(&f, 0xffffffff81000300), "weak_one"); /* Read-only data is not listed. */
	assert_string_equal(name_at(&f, 0xffffffff81000400), "some_data");
	assert_string_equal(name_at(&f, 0xffffffffc0001000), "-");
	const struct symbol *weak = symbol_table_find(&f.table, 0xffffffff81000200);
	assert_int_equal(weak->binding, 'w');
	assert_false(weak->is_object);
	assert_true(symbol_table_find(&f.table, 0xffffffff81000400)->is_object);
	end(&f);
}

static void reads_one_module(void **state)
{
	struct fixture f;
	begin(&f, some_list, strlen(some_list));
	assert_true(kallsyms_add_module(&f.kallsyms, STR("[ext4]"), &f.arena, &f.table));
	assert_int_equal(f.table.symbols.len, 2);
	assert_true(symbol_table_finish(&f.table, SYMBOLS_UNSIZED));
	assert_string_equal(name_at(&f, 0xffffffffc000107f), "ext4_open");
	assert_string_equal(name_at(&f, 0xffffffffc0001080), "ext4_close");
	end(&f);
	begin(&f, some_list, strlen(some_list));
	assert_true(kallsyms_add_module(&f.kallsyms, STR("[btrfs]"), &f.arena, &f.table));
	assert_true(kallsyms_add_module(&f.kallsyms, STR(""), &f.arena, &f.table));
	assert_int_equal(f.table.symbols.len, 0);
	end(&f);
}

static void knows_when_addresses_are_hidden(void **state)
{
	static const char hidden[] =
		"0000000000000000 T _text\n0000000000000000 t helper\n0000000000000000 t m\t[mod]\n";
	struct fixture f;
	begin(&f, hidden, strlen(hidden));
	assert_true(kallsyms_add_kernel(&f.kallsyms, &f.arena, &f.table, &f.is_hidden));
	assert_true(f.is_hidden);
	assert_int_equal(f.table.symbols.len, 0);
	assert_true(kallsyms_add_module(&f.kallsyms, STR("[mod]"), &f.arena, &f.table));
	assert_int_equal(f.table.symbols.len, 0);
	end(&f);
}

static void skips_what_is_no_line(void **state)
{
	static const char damaged[] =
		"\n\n \nzzz\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
		"ffffffff81000000T x\nffffffff81000000 Tx y\n1 T short_address\n"
		"ffffffff810000001 T too_long\nffffffff82000000 t \t[mod]\nffffffff83000000 T last";
	struct fixture f;
	begin(&f, damaged, strlen(damaged));
	assert_true(kallsyms_add_kernel(&f.kallsyms, &f.arena, &f.table, &f.is_hidden));
	assert_int_equal(f.table.symbols.len, 2);
	assert_int_equal(kallsyms_address(&f.table, "short_address"), 1);
	assert_int_equal(kallsyms_address(&f.table, "last"), 0xffffffff83000000);
	end(&f);
}

/* Tries every character at every position of an address: a hex digit changes the value, any other character ends the
 * address. */
static void reads_digits_only(void **state)
{
	(void)state;
	for (size_t place = 0; place < 16; place++) {
		for (unsigned c = 1; c < 256; c++) {
			char text[] = "1123456789abcdef T name\n";
			struct kallsyms_place found;
			struct kallsyms kallsyms;
			text[place] = (char)c;
			const char *digit = strchr("0123456789abcdef", (int)c);
			uint64_t expected = digit ? strtoull(text, NULL, 16) : 0;
			if (c == '\n')
				continue;
			kallsyms_open(text, strlen(text), &kallsyms);
			bool is_found = kallsyms_find(&kallsyms, STR("name"), &found);
			assert_int_equal(is_found, digit != NULL);
			if (is_found)
				assert_int_equal(found.start, expected);
		}
	}
}

static void survives_cuts_and_flips(void **state)
{
	size_t len = strlen(some_list);
	char copy[sizeof(some_list)];
	uint32_t random = 7;
	for (size_t i = 0; i < 4 * len; i++) {
		memcpy(copy, some_list, sizeof(copy));
		random = random * 1664525 + 1013904223;
		if (i >= len)
			copy[i % len] = (char)(random >> 24);
		struct fixture f;
		begin(&f, copy, MIN(i, len));
		assert_true(kallsyms_add_kernel(&f.kallsyms, &f.arena, &f.table, &f.is_hidden));
		assert_true(kallsyms_add_module(&f.kallsyms, STR("[ext4]"), &f.arena, &f.table));
		assert_true(symbol_table_finish(&f.table, SYMBOLS_UNSIZED));
		for (size_t k = 0; k < f.table.symbols.len; k++)
			assert_true(strlen(f.table.symbols.items[k].name) > 0);
		end(&f);
	}
}

static void finds_by_name(void **state)
{
	(void)state;
	struct fixture f;
	struct kallsyms_place place;
	static const char more[] = "ffffffff81000100 t helper\n"
				   "ffffffff81000080 t helper\n"
				   "ffffffff81000300 R rodata\n"
				   "ffffffff81000180 T next\n"
				   "0000000000000000 T hidden\n"
				   "ffffffffc0001000 t ext4_open\t[ext4]\n"
				   "ffffffffc0000800 t xfs_open\t[xfs]\n"
				   "ffffffffc0001080 T ext4_close\t[ext4]\n"
				   "ffffffffc0000400 t next\t[xfs]\n"
				   "short\n";
	begin(&f, more, strlen(more));
	assert_true(kallsyms_find(&f.kallsyms, STR("helper"), &place));
	assert_true(place.start == 0xffffffff81000080 && place.end == 0xffffffff81000100);
	assert_int_equal(place.module.len, 0);
	assert_true(kallsyms_find(&f.kallsyms, STR("ext4_open"), &place));
	assert_true(place.start == 0xffffffffc0001000 && place.end == 0xffffffffc0001080);
	assert_true(str_equal(place.module, STR("[ext4]")));
	assert_true(kallsyms_find(&f.kallsyms, STR("ext4_close"), &place));
	assert_true(place.end == 0xffffffffc0002000); /* The last function of its module. */
	assert_true(kallsyms_find(&f.kallsyms, STR("next"), &place));
	/* The symbol of the kernel, although the module is at a lower address. */
	assert_true(place.start == 0xffffffff81000180);
	assert_false(kallsyms_find(&f.kallsyms, STR("rodata"), &place));
	assert_false(kallsyms_find(&f.kallsyms, STR("hidden"), &place));
	assert_false(kallsyms_find(&f.kallsyms, STR(""), &place));
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_kernel),
		cmocka_unit_test(finds_by_name),
		cmocka_unit_test(reads_one_module),
		cmocka_unit_test(knows_when_addresses_are_hidden),
		cmocka_unit_test(skips_what_is_no_line),
		cmocka_unit_test(reads_digits_only),
		cmocka_unit_test(survives_cuts_and_flips),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
