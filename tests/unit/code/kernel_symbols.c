/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/kernel_symbols.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "unit_test.h"

struct fixture {
	struct text text;
	struct kallsyms kallsyms;
	struct symbol_table table; /* The complete list. */
	struct arena arena;
	struct kernel_symbols *symbols; /* NULL if the order of the list does not permit searching. */
};

static void open_list(struct fixture *f)
{
	bool is_hidden;
	arena_init(&f->arena);
	kallsyms_open(f->text.data, f->text.len, &f->kallsyms);
	assert_true(kallsyms_add_kernel(&f->kallsyms, &f->arena, &f->table, &is_hidden));
	assert_true(symbol_table_finish(&f->table, SYMBOLS_UNSIZED));
	if (kernel_symbols_open(&f->kallsyms, &f->symbols) != TALLY_OK)
		f->symbols = NULL;
}

static void begin(struct fixture *f, const char *text)
{
	*f = (struct fixture){0};
	text_str(&f->text, text);
	open_list(f);
}

static void end(struct fixture *f)
{
	kernel_symbols_close(f->symbols);
	symbol_table_deinit(&f->table);
	arena_deinit(&f->arena);
	text_deinit(&f->text);
}

static void same_at(struct fixture *f, uint64_t address)
{
	const struct symbol *expected = symbol_table_find(&f->table, address);
	const struct symbol *found = kernel_symbols_find(f->symbols, address);
	assert_int_equal(found != NULL, expected != NULL);
	if (!expected)
		return;
	assert_string_equal(found->name, expected->name);
	assert_int_equal(found->start, expected->start);
	assert_int_equal(found->end, expected->end);
	assert_int_equal(found->binding, expected->binding);
}

/* A list with aliases, ignored types and gaps of any length, so that parts end at each of them. */
static void finds_what_the_whole_list_has(void **state)
{
	(void)state;
	static const char types[] = "tTWwDdbBrA";
	uint32_t random = 1;
	for (unsigned lines = 0; lines < 700; lines += 23) {
		struct fixture f = {0};
		uint64_t address = 0xffffffff81000000;
		for (unsigned i = 0; i < lines; i++) {
			random = random * 1664525 + 1013904223;
			address += random >> 30 ? (random >> 8 & 0xfff) : 0;
			text_printf(&f.text, "%016llx %c %sname_%u\n", (unsigned long long)address,
				types[random >> 4 & 7], random >> 12 & 7 ? "" : "$", i);
		}
		text_str(&f.text, "ffffffffc0001000 t open\t[ext4]\n");
		open_list(&f);
		assert_non_null(f.symbols);
		assert_int_equal(kernel_symbols_marks(f.symbols)->count, f.table.symbols.len);
		for (uint64_t at = 0xffffffff81000000 - 8; at < address + 0x3000; at += 7)
			same_at(&f, at);
		for (size_t i = 0; i < f.table.symbols.len; i++)
			same_at(&f, f.table.symbols.items[i].start);
		same_at(&f, 0);
		same_at(&f, UINT64_MAX);
		end(&f);
	}
}

static void moves_every_address(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, "ffffffff81000000 T _stext\nffffffff81000000 T _text\nffffffff81000100 t helper\n");
	assert_int_equal(kernel_symbols_marks(f.symbols)->text, 0xffffffff81000000);
	assert_int_equal(kernel_symbols_marks(f.symbols)->stext, 0xffffffff81000000);
	kernel_symbols_move(f.symbols, 0x2000000);
	const struct symbol *helper = kernel_symbols_find(f.symbols, 0xffffffff83000104);
	assert_string_equal(helper->name, "helper");
	assert_int_equal(helper->start, 0xffffffff83000100);
	assert_int_equal(helper->end, 0xffffffff83002000);
	assert_null(kernel_symbols_find(f.symbols, 0xffffffff82ffffff));
	end(&f);
}

static void knows_when_addresses_are_hidden(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, "0000000000000000 T _text\n0000000000000000 t helper\n");
	assert_true(kernel_symbols_marks(f.symbols)->is_hidden);
	end(&f);
	begin(&f, "");
	assert_false(kernel_symbols_marks(f.symbols)->is_hidden);
	assert_int_equal(kernel_symbols_marks(f.symbols)->count, 0);
	assert_null(kernel_symbols_find(f.symbols, 0));
	end(&f);
}

static void leaves_lists_in_no_order(void **state)
{
	(void)state;
	static const char *const lists[] = {
		"ffffffff81000100 T b\nffffffff81000000 T a\n",
		"ffffffff81000000 T a\n1000 T short\n",
		"ffffffff81000000 T a\n\n",
		"ffffffff8100000g T a\n",
		"ffffffff81000000 T a\nffffffffc0000000 t m\t[m]\nffffffffc0000100 t again\n",
		"81000000 T a\n81000100 T b\n",
		"ffffffff81000000 T a\t \n",
	};
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		struct fixture f;
		begin(&f, lists[i]);
		assert_null(f.symbols);
		end(&f);
	}
}

struct shared_search {
	struct fixture list;
	atomic_size_t wrong;
};

static void find_each_symbol(void *context, size_t index, unsigned worker)
{
	struct shared_search *s = context;
	for (size_t i = 0; i < s->list.table.symbols.len; i++) {
		const struct symbol *expected = &s->list.table.symbols.items[i];
		const struct symbol *found = kernel_symbols_find(s->list.symbols, expected->start);
		if (!found || strcmp(found->name, expected->name) != 0)
			atomic_fetch_add(&s->wrong, 1);
	}
}

/* Several threads read the same parts at about the same time, and parts share the memory of their names. */
static void threads_read_the_same_parts(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		struct shared_search s = {0};
		for (unsigned i = 0; i < 2000; i++)
			text_printf(&s.list.text, "ffffffff81%06x t name_%u\n", i * 16, i);
		open_list(&s.list);
		assert_non_null(s.list.symbols);
		thread_pool_for(4, 4, find_each_symbol, &s);
		assert_int_equal(s.wrong, 0);
		end(&s.list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_the_whole_list_has),
		cmocka_unit_test(moves_every_address),
		cmocka_unit_test(knows_when_addresses_are_hidden),
		cmocka_unit_test(leaves_lists_in_no_order),
		cmocka_unit_test(threads_read_the_same_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
