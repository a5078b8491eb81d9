/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/symbol_table.h"

#include <string.h>

#include "base/array.h"
#include "tally_config.h"
#include "unit_test.h"

static void add(struct symbol_table *table, uint64_t start, uint64_t size, const char *name, char binding)
{
	assert_true(symbol_table_add(table, start, size, name, binding));
}

static const char *name_at(const struct symbol_table *table, uint64_t address)
{
	const struct symbol *symbol = symbol_table_find(table, address);
	return symbol ? symbol->name : "-";
}

static void finds_by_range(void **state)
{
	struct symbol_table table = {0};
	add(&table, 0x300, 0x10, "third", 'g');
	add(&table, 0x100, 0x10, "first", 'g');
	add(&table, 0x200, 0, "second", 'g');
	assert_true(symbol_table_finish(&table, SYMBOLS_SIZED));
	assert_string_equal(name_at(&table, 0xff), "-");
	assert_string_equal(name_at(&table, 0x100), "first");
	assert_string_equal(name_at(&table, 0x10f), "first");
	assert_string_equal(name_at(&table, 0x110), "-");
	assert_string_equal(name_at(&table, 0x200), "second");
	assert_string_equal(name_at(&table, 0x2ff), "second");
	assert_string_equal(name_at(&table, 0x30f), "third");
	assert_string_equal(name_at(&table, 0x310), "-");
	symbol_table_deinit(&table);
}

static void looks_behind_nested_symbols(void **state)
{
	struct symbol_table table = {0};
	add(&table, 0x100, 0x100, "outer", 'g');
	add(&table, 0x120, 0x10, "inner", 'l');
	add(&table, 0x140, 0x10, "inner2", 'l');
	assert_true(symbol_table_finish(&table, SYMBOLS_SIZED));
	assert_string_equal(name_at(&table, 0x11f), "outer");
	assert_string_equal(name_at(&table, 0x125), "inner");
	assert_string_equal(name_at(&table, 0x130), "outer");
	assert_string_equal(name_at(&table, 0x1ff), "outer");
	assert_string_equal(name_at(&table, 0x200), "-");
	symbol_table_deinit(&table);
}

/* Hand-written code has labels inside its functions; in kernels, such labels name code. */
static void passes_over_labels_inside(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct symbol_table table = {0};
		add(&table, 0x100, 0x100, "outer", 'g');
		add(&table, 0x120, 0, "label", 'l');
		add(&table, 0x140, 0x10, "inner", 'l');
		add(&table, 0x160, 0, "last_label", 'l');
		add(&table, 0x200, 0, "behind", 'l');
		assert_true(symbol_table_finish(&table, i ? SYMBOLS_KERNEL : SYMBOLS_SIZED));
		assert_string_equal(name_at(&table, 0x11f), "outer");
		assert_string_equal(name_at(&table, 0x120), i ? "label" : "outer");
		assert_string_equal(name_at(&table, 0x13f), i ? "label" : "outer");
		assert_string_equal(name_at(&table, 0x145), "inner");
		assert_string_equal(name_at(&table, 0x150), "outer");
		assert_string_equal(name_at(&table, 0x1ff), i ? "last_label" : "outer");
		assert_string_equal(name_at(&table, 0x200), "behind");
		symbol_table_deinit(&table);
	}
}

/* Each address in a span has the same symbol and the same span. */
static void check_spans(const struct symbol_table *table, uint64_t from, uint64_t to)
{
	for (uint64_t address = from; address <= to; address++) {
		struct symbol_span span;
		symbol_table_find_span(table, address, &span);
		assert_ptr_equal(span.symbol, symbol_table_find(table, address));
		assert_in_range(address, span.first, span.last);
		assert_ptr_equal(span.symbol, symbol_table_find(table, span.first));
		assert_ptr_equal(span.symbol, symbol_table_find(table, span.last));
		for (uint64_t other = span.first; other <= span.last && span.last < to; other++)
			assert_ptr_equal(span.symbol, symbol_table_find(table, other));
	}
}

static void spans_have_one_answer(void **state)
{
	struct symbol_table table = {0};
	struct symbol_span span;
	add(&table, 0x100, 0x100, "outer", 'g');
	add(&table, 0x120, 0x10, "inner", 'l');
	add(&table, 0x128, 4, "innermost", 'l');
	add(&table, 0x1f0, 0x20, "across", 'l');
	add(&table, 0x300, 0x10, "last", 'g');
	assert_true(symbol_table_finish(&table, SYMBOLS_SIZED));
	check_spans(&table, 0xf0, 0x320);
	symbol_table_find_span(&table, 0x305, &span);
	assert_int_equal(span.first, 0x300);
	assert_int_equal(span.last, 0x30f);
	symbol_table_find_span(&table, 0x110, &span);
	assert_int_equal(span.last, 0x11f);
	symbol_table_deinit(&table);
}

static void unsized_symbols_end_at_the_next(void **state)
{
	struct symbol_table table = {0};
	add(&table, 0x1000, 0, "a", 'g');
	add(&table, 0x1800, 0, "b", 'g');
	assert_true(symbol_table_finish(&table, SYMBOLS_UNSIZED));
	assert_string_equal(name_at(&table, 0x17ff), "a");
	assert_string_equal(name_at(&table, 0x2fff), "b");
	assert_string_equal(name_at(&table, 0x3000), "-");
	symbol_table_deinit(&table);
}

/* Cases in which perf 6.1 and 7.3 agree, from libc, libstdc++, Rust programs and the kernel. */
static void chooses_among_aliases(void **state)
{
	static const struct {
		const char *lost, *kept;
		uint64_t lost_size, kept_size;
		char lost_binding, kept_binding;
	} cases[] = {
		{"_IO_do_write", "x", 0, 38, 'g', 'l'}, /* A symbol with a size is preferred. */
		{"__write", "__libc_write", 157, 157, 'w', 'l'}, /* Weak symbols are not preferred. */
		{"__libc_write", "read", 157, 157, 'l', 'g'}, /* Global symbols are preferred. */
		{"__longer_name", "_name", 8, 8, 'g', 'g'}, /* Names with fewer underscores are preferred. */
		{"__libc_write", "__GI___libc_write", 157, 157, 'l', 'l'}, /* The longer name is preferred. */
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		for (int order = 0; order < 2; order++) {
			struct symbol_table table = {0};
			if (order == 1)
				add(&table, 0x100, cases[i].kept_size, cases[i].kept, cases[i].kept_binding);
			add(&table, 0x100, cases[i].lost_size, cases[i].lost, cases[i].lost_binding);
			if (order == 0)
				add(&table, 0x100, cases[i].kept_size, cases[i].kept, cases[i].kept_binding);
			/* This symbol covers the rest only if the other has no size. */
			add(&table, 0x100, 0, "zzz", order ? 'w' : 'g');
			assert_true(symbol_table_finish(&table, SYMBOLS_SIZED));
			assert_int_equal(table.symbols.len, 1);
			assert_string_equal(name_at(&table, 0x100), cases[i].kept);
			symbol_table_deinit(&table);
		}
	}
}

static void labels_of_one_address_leave_the_last(void **state)
{
	struct symbol_table table = {0};
	add(&table, 0x100, 0, "__data_start", 'g');
	add(&table, 0x100, 0, "data_start", 'w');
	add(&table, 0x200, 0, "end", 'g');
	assert_true(symbol_table_finish(&table, SYMBOLS_SIZED));
	assert_string_equal(name_at(&table, 0x1ff), "data_start");
	symbol_table_deinit(&table);
}

static void aliases_are_compared_as_read(void **state)
{
	if (!HAVE_DEMANGLE)
		skip_because("this build has no libiberty");
	struct symbol_table table = {0};
	/* <u64 as core::fmt::LowerHex>::fmt and <usize as ...>: the mangled names have the same length, the demangled
	 * ones do not. */
	add(&table, 0x100, 8, "_RNvXs1y_NtNtCs1_4core3fmt3numyNtB8_8LowerHex3fmt", 'g');
	add(&table, 0x100, 8, "_RNvXs1j_NtNtCs1_4core3fmt3numjNtB8_8LowerHex3fmt", 'g');
	add(&table, 0x200, 8, "_ZN1aC1Ev", 'g');
	add(&table, 0x200, 8, "_ZN1aC2Ev", 'g');
	assert_true(symbol_table_finish(&table, SYMBOLS_SIZED));
	assert_string_equal(name_at(&table, 0x100), "_RNvXs1j_NtNtCs1_4core3fmt3numjNtB8_8LowerHex3fmt");
	assert_string_equal(name_at(&table, 0x200), "_ZN1aC1Ev");
	symbol_table_deinit(&table);
}

static void moves_before_finish(void **state)
{
	struct symbol_table table = {0};
	add(&table, 0x1000, 0x10, "a", 'g');
	symbol_table_move(&table, UINT64_MAX - 0xfff + 0x20);
	assert_true(symbol_table_finish(&table, SYMBOLS_SIZED));
	assert_string_equal(name_at(&table, 0x2f), "a");
	symbol_table_deinit(&table);
}

static void bounds_of_the_address_space(void **state)
{
	struct symbol_table table = {0};
	add(&table, UINT64_MAX - 1, 100, "wraps", 'g');
	add(&table, 0x10, UINT64_MAX, "huge", 'g');
	assert_true(symbol_table_finish(&table, SYMBOLS_SIZED));
	assert_string_equal(name_at(&table, UINT64_MAX - 1), "wraps");
	assert_string_equal(name_at(&table, 0x10), "huge");
	assert_string_equal(name_at(&table, 0), "-");
	symbol_table_deinit(&table);
	struct symbol_table empty = {0};
	assert_true(symbol_table_finish(&empty, SYMBOLS_SIZED));
	assert_string_equal(name_at(&empty, 0), "-");
	symbol_table_deinit(&empty);
}

static void sorts_many(void **state)
{
	struct symbol_table table = {0};
	uint32_t random = 1;
	for (int i = 0; i < 5000; i++) {
		random = random * 1664525 + 1013904223;
		add(&table, random >> 8, 1, "x", 'g');
	}
	assert_true(symbol_table_finish(&table, SYMBOLS_SIZED));
	for (size_t i = 1; i < table.symbols.len; i++)
		assert_true(table.symbols.items[i - 1].start < table.symbols.items[i].start);
	random = 1;
	for (int i = 0; i < 5000; i++) {
		random = random * 1664525 + 1013904223;
		assert_int_equal(symbol_table_find(&table, random >> 8)->start, random >> 8);
	}
	symbol_table_deinit(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_by_range),
		cmocka_unit_test(looks_behind_nested_symbols),
		cmocka_unit_test(passes_over_labels_inside),
		cmocka_unit_test(spans_have_one_answer),
		cmocka_unit_test(unsized_symbols_end_at_the_next),
		cmocka_unit_test(chooses_among_aliases),
		cmocka_unit_test(labels_of_one_address_leave_the_last),
		cmocka_unit_test(aliases_are_compared_as_read),
		cmocka_unit_test(moves_before_finish),
		cmocka_unit_test(bounds_of_the_address_space),
		cmocka_unit_test(sorts_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
