/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/address_names.h"

#include <elf.h>

#include "elf_builder.h"
#include "unit_test.h"

static void add(struct address_names *names, uint64_t address, const char *name, uint8_t rank)
{
	struct address_name item = {.address = address, .name = name, .rank = rank};
	assert_true(vec_push(&names->items, item));
}

static void test_best_name_of_an_address_stays(void **state)
{
	struct address_names names = {0};
	add(&names, 0x20, "object", 4);
	add(&names, 0x20, "weak_b", 1);
	add(&names, 0x20, "weak_a", 1);
	add(&names, 0x10, "local", 2);
	add(&names, 0x10, "global", 0);
	assert_true(address_names_finish(&names));
	assert_int_equal(names.items.len, 2);
	assert_null(address_names_find(&names, 0xf));
	assert_string_equal(address_names_find(&names, 0x10)->name, "global");
	assert_string_equal(address_names_find(&names, 0x1f)->name, "global");
	assert_string_equal(address_names_find(&names, 0x20)->name, "weak_a");
	assert_string_equal(address_names_find(&names, UINT64_MAX)->name, "weak_a");
	address_names_deinit(&names);
}

static void test_functions_of_other_tables(void **state)
{
	struct address_names names = {0};
	add(&names, 0x10, "_cgo_export", 0);
	add(&names, 0x30, "label", 8);
	assert_true(address_names_add_function(&names, 0x10, 0x10, "main.exported"));
	assert_true(address_names_add_function(&names, 0x20, 0x10, "main.main"));
	assert_true(address_names_add_function(&names, 0x30, 0x10, "main.churn"));
	assert_true(address_names_finish(&names));
	assert_string_equal(address_names_find(&names, 0x1f)->name, "_cgo_export");
	assert_string_equal(address_names_find(&names, 0x2f)->name, "main.main");
	assert_string_equal(address_names_find(&names, 0x30)->name, "main.churn");
	address_names_deinit(&names);
}

struct image_names {
	struct writer bytes;
	struct elf_image *image;
	struct address_names names;
};

static void begin(struct image_names *of, const struct elf_builder_symbol *symbols, size_t count)
{
	const struct elf_builder what = {.is_64 = true, .symbols = symbols, .symbol_count = count};
	*of = (struct image_names){.image = NULL};
	elf_builder_make(&what, &of->bytes);
	assert_int_equal(elf_image_open_bytes(writer_view(&of->bytes), &of->image, NULL), TALLY_OK);
	arena_init(&of->names.arena);
	assert_true(address_names_add(&of->names, of->image, 0));
	assert_true(address_names_finish(&of->names));
}

static void end(struct image_names *of)
{
	address_names_deinit(&of->names);
	elf_image_close(of->image);
	writer_deinit(&of->bytes);
}

/* A local function is the resolver of two IFUNCs: its address is named after the function. */
static void test_code_is_the_resolvers(void **state)
{
	static const struct elf_builder_symbol symbols[] = {
		{"memcmp", 0x401000, 0x20, STT_GNU_IFUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
		{"memcmp_resolver", 0x401000, 0x20, STT_FUNC, STB_LOCAL, STV_DEFAULT, ELF_BUILDER_TEXT},
		{"bcmp", 0x401000, 0x20, STT_GNU_IFUNC, STB_WEAK, STV_DEFAULT, ELF_BUILDER_TEXT},
		{"only", 0x401040, 0x20, STT_GNU_IFUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
	};
	struct image_names of;
	begin(&of, symbols, 4);
	assert_string_equal(address_names_find(&of.names, 0x401000)->name, "memcmp_resolver");
	assert_string_equal(address_names_find(&of.names, 0x401040)->name, "only");
	end(&of);
}

/* "_end" is a label at the end of the data. */
static void test_names_of_one_place(void **state)
{
	static const struct elf_builder_symbol symbols[] = {
		{"aa_label", 0x401000, 0, STT_NOTYPE, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
		{"small", 0x401000, 8, STT_OBJECT, STB_LOCAL, STV_DEFAULT, ELF_BUILDER_TEXT},
		{"spacious", 0x401000, 16, STT_OBJECT, STB_LOCAL, STV_DEFAULT, ELF_BUILDER_TEXT},
		{"x_local", 0x401010, 16, STT_OBJECT, STB_LOCAL, STV_DEFAULT, ELF_BUILDER_TEXT},
		{"y_global", 0x401010, 8, STT_OBJECT, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
		{"_end", 0x401020, 0, STT_NOTYPE, STB_GLOBAL, STV_HIDDEN, ELF_BUILDER_TEXT},
	};
	struct image_names of;
	begin(&of, symbols, 6);
	assert_string_equal(address_names_find(&of.names, 0x401000)->name, "spacious");
	assert_string_equal(address_names_find(&of.names, 0x401010)->name, "y_global");
	assert_string_equal(address_names_find(&of.names, 0x401020)->name, "_end");
	end(&of);
}

static void test_no_names(void **state)
{
	struct address_names names = {0};
	assert_true(address_names_finish(&names));
	assert_null(address_names_find(&names, 0));
	address_names_deinit(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_best_name_of_an_address_stays),
		cmocka_unit_test(test_functions_of_other_tables),
		cmocka_unit_test(test_code_is_the_resolvers),
		cmocka_unit_test(test_names_of_one_place),
		cmocka_unit_test(test_no_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
