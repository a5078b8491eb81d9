/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/perf_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "unit_test.h"

static char *copy_of(const char *text, size_t len)
{
	char *copy = malloc(len + 1);
	assert_non_null(copy);
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

static const char *name_at(const struct symbol_table *table, uint64_t address)
{
	const struct symbol *symbol = symbol_table_find(table, address);
	return symbol ? symbol->name : "-";
}

static const char some_map[] = "1000 100 old tenant\n"
			       "1000 80 LazyCompile:~fib /srv/a b.js:1\n"
			       "0x2000 0x10 with_prefix\n"
			       " 3000\tFF\ttabs\n"
			       "4000 0 no_size\n"
			       "5000 10 next\n"
			       "6000 10 no newline";

static void reads_lines(void **state)
{
	char *text = copy_of(some_map, strlen(some_map));
	struct symbol_table table = {0};
	assert_true(perf_map_parse(text, strlen(some_map), &table));
	assert_string_equal(name_at(&table, 0x1000), "LazyCompile:~fib /srv/a b.js:1");
	assert_string_equal(name_at(&table, 0x107f), "LazyCompile:~fib /srv/a b.js:1");
	assert_string_equal(name_at(&table, 0x1080), "-");
	assert_string_equal(name_at(&table, 0x200f), "with_prefix");
	assert_string_equal(name_at(&table, 0x30fe), "tabs");
	assert_string_equal(name_at(&table, 0x4fff), "no_size");
	assert_string_equal(name_at(&table, 0x600f), "no newline");
	symbol_table_deinit(&table);
	free(text);
}

/* Runtimes reuse memory and append lines. */
static void the_last_line_of_an_address_counts(void **state)
{
	static const char map[] = "1200 10 small and gone\r\n"
				  "1100 800 large\r\n"
				  "1300 20 inside of large\n"
				  "18f0 100 over its end\n"
				  "2000 100 lower\n"
				  "1f80 100 upper\n"
				  "1f90 0 no size\n"
				  "ffffffffffffff00 1000 to the end";
	char *text = copy_of(map, strlen(map));
	struct symbol_table table = {0};
	assert_true(perf_map_parse(text, strlen(map), &table));
	assert_string_equal(name_at(&table, 0x1100), "large");
	assert_string_equal(name_at(&table, 0x1200), "large");
	assert_string_equal(name_at(&table, 0x12ff), "large");
	assert_string_equal(name_at(&table, 0x1300), "inside of large");
	assert_string_equal(name_at(&table, 0x131f), "inside of large");
	assert_string_equal(name_at(&table, 0x1320), "large");
	assert_string_equal(name_at(&table, 0x18ef), "large");
	assert_string_equal(name_at(&table, 0x18f0), "over its end");
	assert_string_equal(name_at(&table, 0x19ef), "over its end");
	assert_string_equal(name_at(&table, 0x19f0), "-");
	assert_string_equal(name_at(&table, 0x1f80), "upper");
	assert_string_equal(name_at(&table, 0x1f90), "no size");
	assert_string_equal(name_at(&table, 0x1fff), "no size");
	assert_string_equal(name_at(&table, 0x2000), "upper");
	assert_string_equal(name_at(&table, 0x207f), "upper");
	assert_string_equal(name_at(&table, 0x2080), "lower");
	assert_string_equal(name_at(&table, 0x20ff), "lower");
	assert_string_equal(name_at(&table, 0xffffffffffffff80), "to the end");
	symbol_table_deinit(&table);
	free(text);
}

/* Names of Python functions are split into name and file; names elsewhere, or without all parts, stay as they are. */
static void splits_names_of_python(void **state)
{
	static const char map[] = "20000000000000 14 py::Worker.run:/srv/a:b.py:12\n"
				  "20000000000014 2 py::broken\n"
				  "20000000000016 2 py::one:part\n"
				  "20000000000018 2 other:a:1\n"
				  "1000 10 py::own:/srv/a.py\n"
				  "2000 10 py::own:/srv/a.py:7\n";
	char *text = copy_of(map, strlen(map));
	struct symbol_table table = {0};
	assert_true(perf_map_parse(text, strlen(map), &table));
	perf_map_split_python(&table);
	const char *name = name_at(&table, PERF_MAP_PYTHON_START + 3);
	assert_string_equal(name, "Worker.run");
	assert_string_equal(name + strlen(name) + 1, "/srv/a:b.py");
	assert_string_equal(name + strlen(name) + 1 + strlen("/srv/a:b.py") + 1, "12");
	assert_string_equal(name_at(&table, PERF_MAP_PYTHON_START + 0x14), "py::broken");
	assert_string_equal(name_at(&table, PERF_MAP_PYTHON_START + 0x16), "py::one:part");
	assert_string_equal(name_at(&table, PERF_MAP_PYTHON_START + 0x18), "other:a:1");
	assert_string_equal(name_at(&table, 0x1000), "py::own:/srv/a.py");
	assert_string_equal(name_at(&table, 0x2000), "py::own:/srv/a.py:7");
	symbol_table_deinit(&table);
	free(text);
}

static void skips_what_is_no_line(void **state)
{
	static const char damaged[] = "\n \n1000\n1000 10\n1000 10 \nzz 10 x\n1000 zz x\n10000000000000000 1 x\n"
				      "fffffffffffffff0 ffff wraps\n";
	char *text = copy_of(damaged, strlen(damaged));
	struct symbol_table table = {0};
	assert_true(perf_map_parse(text, strlen(damaged), &table));
	assert_int_equal(table.symbols.len, 1);
	assert_string_equal(name_at(&table, 0xfffffffffffffff0), "wraps");
	symbol_table_deinit(&table);
	free(text);
}

static void survives_cuts_and_flips(void **state)
{
	size_t len = strlen(some_map);
	uint32_t random = 7;
	for (size_t i = 0; i < 4 * len; i++) {
		size_t used = MIN(i, len);
		char *text = copy_of(some_map, used);
		random = random * 1664525 + 1013904223;
		if (i >= len)
			text[i % len] = (char)(random >> 24);
		struct symbol_table table = {0};
		assert_true(perf_map_parse(text, used, &table));
		for (size_t k = 0; k < table.symbols.len; k++)
			assert_true(strlen(table.symbols.items[k].name) > 0);
		symbol_table_deinit(&table);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_lines),
		cmocka_unit_test(the_last_line_of_an_address_counts),
		cmocka_unit_test(splits_names_of_python),
		cmocka_unit_test(skips_what_is_no_line),
		cmocka_unit_test(survives_cuts_and_flips),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
