/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "code/probing/probe_kallsyms.h"
#include "code/probing/probe_nearest.h"
#include "tally_config.h"
#include "unit_test.h"

static const struct probe_symbol some[] = {
	{.address = 0x100, .size = 0x40, .name = "outer", .is_code = true, .is_function = true},
	{.address = 0x110, .size = 0x10, .name = "inner", .is_code = true, .is_function = true},
	{.address = 0x200, .size = 0x20, .name = "__alias", .is_code = true, .is_function = true, .is_global = true},
	{.address = 0x200, .size = 0x20, .name = "alias", .is_code = true, .is_function = true, .is_global = true},
	{.address = 0x200, .size = 0x20, .name = "alias", .is_code = true, .is_function = true, .is_global = true},
	{.address = 0x230, .name = "label", .is_code = true},
	{.address = 0x300, .size = 8, .name = "data"},
	{.address = 0x380, .size = 8, .name = "_ZN6shapes6Circle4areaEi", .is_code = true, .is_function = true},
	{.address = 0x390, .size = 8, .name = "_ZN1:3:::5widthEv", .is_code = true, .is_function = true},
	{.address = 0x400, .size = 0x10, .name = "outer", .is_code = true, .is_function = true},
};

static struct probe_symbols *symbols_of(const struct probe_symbol *items, size_t count)
{
	struct probe_symbols *symbols = calloc(1, sizeof(*symbols));
	assert_non_null(symbols);
	for (size_t i = count; i-- > 0;)
		assert_true(vec_push(&symbols->items, items[i]));
	assert_int_equal(probe_symbols_finish(symbols, NULL), TALLY_OK);
	return symbols;
}

static void expect_at(const struct probe_symbols *symbols, uint64_t address, const char *name)
{
	const struct probe_symbol *symbol = probe_symbols_at(symbols, address);
	if (name)
		assert_string_equal(symbol ? symbol->name : "", name);
	else
		assert_null(symbol);
}

static void addresses_have_names(void **state)
{
	struct probe_symbols *symbols = symbols_of(some, ARRAY_LEN(some));
	(void)state;
	expect_at(symbols, 0xff, NULL);
	expect_at(symbols, 0x100, "outer");
	expect_at(symbols, 0x110, "inner");
	expect_at(symbols, 0x11f, "inner");
	expect_at(symbols, 0x120, "outer");
	expect_at(symbols, 0x13f, "outer");
	expect_at(symbols, 0x140, NULL);
	expect_at(symbols, 0x21f, "alias");
	expect_at(symbols, 0x220, NULL);
	expect_at(symbols, 0x231, "label");
	expect_at(symbols, 0x300, NULL);
	expect_at(symbols, UINT64_MAX, NULL);
	probe_symbols_free(symbols);
}

static void names_have_addresses(void **state)
{
	struct probe_symbols *symbols = symbols_of(some, ARRAY_LEN(some));
	(void)state;
	assert_int_equal(symbols->items.len, ARRAY_LEN(some) - 1); /* A name in two tables is listed once. */
	size_t at = probe_symbols_find(symbols, STR("outer"));
	assert_int_equal(symbols->items.items[symbols->by_name.items[at]].address, 0x100);
	assert_int_equal(symbols->items.items[symbols->by_name.items[at + 1]].address, 0x400);
	assert_int_equal(probe_symbols_find(symbols, STR("out")), SIZE_MAX);
	assert_int_equal(probe_symbols_find(symbols, STR("outer\0x")), SIZE_MAX);
	assert_int_equal(probe_symbols_find(symbols, STR("zzz")), SIZE_MAX);
	probe_symbols_free(symbols);
}

static void the_nearest_name_is_found(void **state)
{
	if (!HAVE_DEMANGLE)
		skip_because("this build cannot demangle all names");
	struct probe_symbols *symbols = symbols_of(some, ARRAY_LEN(some));
	static const struct {
		const char *wrong, *nearest;
	} cases[] = {
		{"iner", "inner"},
		{"widht", "::::::::width"},
		{"dat", NULL},
		{"completely_different", NULL},
		{"aera", "shapes::Circle::area"},
		{"Circle::areas", "shapes::Circle::area"},
		{"shape::Circle::area", "shapes::Circle::area"},
		{"_ZN6shapes6Circle4areaEv", "_ZN6shapes6Circle4areaEi"},
		{"Polygon::sides", NULL},
	};
	struct arena arena;
	arena_init(&arena);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *nearest = probe_nearest_symbol(symbols, str_from(cases[i].wrong), &arena);
		assert_string_equal(nearest ? nearest : "", cases[i].nearest ? cases[i].nearest : "");
	}
	arena_deinit(&arena);
	probe_symbols_free(symbols);
}

static void an_empty_list_has_nothing(void **state)
{
	struct probe_symbols *symbols = symbols_of(NULL, 0);
	(void)state;
	expect_at(symbols, 0x100, NULL);
	assert_int_equal(probe_symbols_find(symbols, STR("x")), SIZE_MAX);
	assert_null(probe_nearest_symbol(symbols, STR("x"), NULL));
	probe_symbols_free(symbols);
}

static const char list[] = "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000100 t helper\n"
			   "damaged line\n"
			   "ffffffff81000200 D data\n"
			   "ffffffff81000300 T vfs_read\n"
			   "ffffffffc0000000 t start\t[nf_nat]\n"
			   "ffffffffc0000040 T nf_nat_setup\t[nf_nat]\n"
			   "ffffffffc0001000 t start\t[other]\n";

static void the_kernels_list_is_read(void **state)
{
	struct arena arena;
	struct probe_symbols *symbols;
	struct tally_error err;
	(void)state;
	arena_init(&arena);
	assert_int_equal(probe_kallsyms_parse(str_from(list), STR(""), &arena, &symbols, &err), TALLY_OK);
	assert_int_equal(symbols->items.len, 4);
	expect_at(symbols, 0xffffffff810001ff, "helper");
	assert_int_equal(symbols->items.items[2].size, 0x200); /* Up to the next code symbol. */
	probe_symbols_free(symbols);
	assert_int_equal(probe_kallsyms_parse(str_from(list), STR("nf_nat"), &arena, &symbols, &err), TALLY_OK);
	assert_int_equal(symbols->items.len, 2);
	assert_int_equal(symbols->items.items[0].size, 0x40);
	probe_symbols_free(symbols);
	assert_int_equal(probe_kallsyms_parse(str_from(list), STR("nf_na"), &arena, &symbols, &err), TALLY_NOT_FOUND);
	assert_string_equal(err.text, "the module nf_na is not loaded");
	const struct tally_str hidden = STR("0000000000000000 T _stext\n0000000000000000 T vfs_read\n");
	assert_int_equal(probe_kallsyms_parse(hidden, STR(""), &arena, &symbols, &err), TALLY_DENIED);
	arena_deinit(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(addresses_have_names),
		cmocka_unit_test(names_have_addresses), cmocka_unit_test(the_nearest_name_is_found),
		cmocka_unit_test(an_empty_list_has_nothing), cmocka_unit_test(the_kernels_list_is_read)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
