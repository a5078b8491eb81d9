/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cfi_builder.h"
#include "code/binary_store.h"
#include "code/symbols/kernel_symbols.h"
#include "code/symbols/perf_map.h"
#include "code/unwind/unwinder.h"
#include "elf_builder.h"
#include "failing_malloc.h"
#include "object/frame_numbers.h"
#include "unit_test.h"

#define TEXT ELF_BUILDER_TEXT_VADDR

static char program_path[] = "/tmp/tally-nomem-XXXXXX";

/* Leaves nothing allocated, whether an allocation failed or not. */
typedef void (*job)(void);

static void use_kallsyms(void)
{
	char text[] = "ffffffff81000000 T _text\nffffffff81000100 t helper\nffffffffc0001000 t open\t[ext4]\n";
	struct kallsyms kallsyms;
	struct symbol_table table = {0};
	struct arena arena;
	bool is_hidden;
	arena_init(&arena);
	kallsyms_open(text, sizeof(text) - 1, &kallsyms);
	if (kallsyms_add_kernel(&kallsyms, &arena, &table, &is_hidden) &&
		kallsyms_add_module(&kallsyms, STR("[ext4]"), &arena, &table))
		(void)!symbol_table_finish(&table, SYMBOLS_UNSIZED);
	symbol_table_deinit(&table);
	arena_deinit(&arena);
	struct kernel_symbols *symbols = NULL;
	if (kernel_symbols_open(&kallsyms, &symbols) == TALLY_OK)
		(void)!kernel_symbols_find(symbols, 0xffffffff81000000);
	kernel_symbols_close(symbols);
}

static void use_perf_map(void)
{
	char text[] = "2000 10 b\n1000 10 a\n";
	struct symbol_table table = {0};
	(void)!perf_map_parse(text, sizeof(text) - 1, &table);
	symbol_table_deinit(&table);
}

static void use_unwinder(void)
{
	static const uint8_t expression[] = {DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8, DW_CFA_offset | 16, 1};
	static const struct unwind_stub stub = {.low = 0x3000, .high = 0x3010, .cfa_offset = 8};
	struct cfi_builder b;
	struct unwind_table *table;
	struct unwinder *unwinder;
	cfi_builder_init(&b, 8, false);
	cfi_builder_cie(&b, 16, -8, false, expression, sizeof(expression));
	if (!b.w.failed)
		cfi_builder_fde(&b, 0x1000, 0x10, NULL, 0);
	struct cfi_section section = cfi_builder_section(&b);
	struct unwind_table_source source = {
		.arch = &arch_x86_64, .sections = &section, .section_count = 1, .stubs = &stub, .stub_count = 1};
	if (!b.w.failed && unwind_table_create(&source, &table, NULL) == TALLY_OK) {
		assert_non_null(unwind_table_find(table, 0x1000));
		assert_non_null(unwind_table_find(table, 0x3000));
		unwind_table_destroy(table);
	}
	if (unwinder_create(&arch_x86_64, &unwinder, NULL) == TALLY_OK)
		unwinder_destroy(unwinder);
	writer_deinit(&b.w);
}

static void use_store(void)
{
	static const enum binary_kind kinds[] = {BINARY_USER, BINARY_VDSO, BINARY_KERNEL, BINARY_PERF_MAP};
	struct binary_store *store;
	struct binary_store_options options = {
		.system_root = "/nonexistent", .build_id_dir = "/nonexistent", .threads = 1};
	struct arena arena;
	if (binary_store_create(&options, &store, NULL) != TALLY_OK)
		return;
	arena_init(&arena);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct binary_key key = {.kind = kinds[i], .path = str_from(program_path), .pid = -1};
		uint32_t id;
		if (binary_store_add(store, &key, &id, NULL) != TALLY_OK)
			continue;
		struct tally_elf_va va;
		const struct unwind_table *table = binary_store_unwind(store, id);
		(void)!binary_store_unwind_va(store, id, FILE_OFF(ELF_BUILDER_TEXT_OFFSET), &va);
		if (table)
			(void)unwind_table_find(table, ELF_BUILDER_PLT_VADDR);
		binary_store_load(store, &id, 1);
		const struct symbol *symbol = binary_store_find(store, id, ELF_BUILDER_TEXT_OFFSET + 0x10);
		assert_true(!symbol || strlen(binary_store_display_name(store, symbol, &arena)) > 0);
	}
	arena_deinit(&arena);
	binary_store_destroy(store);
}

static void fail_each_allocation(job run)
{
	bool has_failed = true;
	size_t n = 0;
	run(); /* The first run makes the allocations that libraries retain. */
	for (; has_failed; n++) {
		assert_true(n < 10000);
		failing_malloc_begin(n);
		run();
		has_failed = failing_malloc_end();
		assert_int_equal(failing_malloc_held(), 0);
	}
	assert_true(n > 1);
}

static void kallsyms_without_memory(void **state)
{
	fail_each_allocation(use_kallsyms);
}

static void perf_map_without_memory(void **state)
{
	fail_each_allocation(use_perf_map);
}

static void unwinder_without_memory(void **state)
{
	fail_each_allocation(use_unwinder);
}

static void store_without_memory(void **state)
{
	static const struct elf_builder_symbol symbols[] = {
		{"_ZN2ns3runEm", TEXT + 0x10, 0x20, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
		{"_ZN2ns4walkEm", TEXT + 0x10, 0x20, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
	};
	static const struct elf_builder_symbol dynamic[] = {
		{"malloc", 0, 0, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_UNDEFINED}};
	static const struct elf_builder_jump jumps[] = {{0, 1, 0}, {1, 0, TEXT + 0x10}};
	struct elf_builder what = {
		.is_64 = true,
		.symbols = symbols,
		.symbol_count = 2,
		.dynamic = dynamic,
		.dynamic_count = 1,
		.jumps = jumps,
		.jump_count = 2,
	};
	struct writer bytes = {0};
	elf_builder_make(&what, &bytes);
	int fd = mkstemp(program_path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.data, bytes.len), bytes.len);
	assert_int_equal(close(fd), 0);
	writer_deinit(&bytes);
	fail_each_allocation(use_store);
	assert_int_equal(unlink(program_path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kallsyms_without_memory),
		cmocka_unit_test(perf_map_without_memory),
		cmocka_unit_test(unwinder_without_memory),
		cmocka_unit_test(store_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
