/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/go_table.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/writer.h"
#include "unit_test.h"

#define TEXT  0x401000u
#define COUNT 3

struct form {
	uint32_t magic;
	bool is_relative, has_words;
};

static const struct form forms[] = {
	{0xfffffffbu, false, false}, {0xfffffffau, false, true}, {0xfffffff0u, true, true}, {0xfffffff1u, true, true}};
static const char *const names[COUNT] = {"main.main", "runtime.mcall", "main.(*T).Get[...]"};
static const unsigned starts[COUNT + 1] = {0, 0x40, 0x60, 0x100};

static void put_word(struct writer *w, uint8_t word, uint64_t v)
{
	if (word == 8)
		writer_u64(w, v);
	else
		writer_u32(w, (uint32_t)v);
}

/* Writes the list of functions, their records, and the names, which come first if the header has their offset. */
static void build_table(struct writer *w, const struct form *form, uint8_t word, uint64_t text)
{
	uint32_t name_at[COUNT], described_at[COUNT];
	uint8_t place = form->is_relative ? 4 : word;
	uint64_t base = form->is_relative ? 0 : TEXT;
	writer_u32(w, form->magic);
	writer_u16(w, 0);
	writer_u8(w, 1);
	writer_u8(w, word);
	put_word(w, word, COUNT);
	size_t header_words = form->is_relative ? 7 : 6, names_begin = 8 + (1 + header_words) * word;
	struct writer text_of_names = {0};
	for (size_t i = 0; i < COUNT; i++) {
		name_at[i] = (uint32_t)text_of_names.len + 1;
		writer_u8(&text_of_names, 0);
		writer_bytes(&text_of_names, names[i], strlen(names[i]) + 1);
	}
	writer_align(&text_of_names, 8);
	size_t functions = form->has_words ? names_begin + text_of_names.len : 8u + word;
	if (form->has_words) {
		put_word(w, word, 1);
		if (form->is_relative)
			put_word(w, word, text);
		put_word(w, word, names_begin);
		for (int i = 0; i < 3; i++)
			put_word(w, word, names_begin);
		put_word(w, word, functions);
		assert_int_equal(w->len, names_begin);
		writer_bytes(w, text_of_names.data, text_of_names.len);
	}
	size_t list_bytes = (2u * COUNT + 1) * place, from = form->has_words ? 0 : functions;
	for (size_t i = 0; i < COUNT; i++)
		described_at[i] = (uint32_t)(from + list_bytes + i * (place + 4u));
	size_t names_end = functions + list_bytes + COUNT * (place + 4u);
	for (size_t i = 0; i < COUNT; i++) {
		put_word(w, place, base + starts[i]);
		put_word(w, place, described_at[i]);
	}
	put_word(w, place, base + starts[COUNT]);
	for (size_t i = 0; i < COUNT; i++) {
		put_word(w, place, base + starts[i]);
		writer_u32(w, name_at[i] + (form->has_words ? 0 : (uint32_t)names_end));
	}
	if (!form->has_words)
		writer_bytes(w, text_of_names.data, text_of_names.len);
	writer_deinit(&text_of_names);
	assert_false(w->failed);
}

static void check_functions(const struct go_function_list *list)
{
	assert_int_equal(list->functions.len, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(list->functions.items[i].vaddr, TEXT + starts[i]);
		assert_int_equal(list->functions.items[i].size, starts[i + 1] - starts[i]);
		assert_string_equal(list->functions.items[i].name, names[i]);
	}
}

/* text is the text address in the table; loaded is the one that the caller passes. */
static void check_form(const struct form *form, uint8_t word, bool swap, uint64_t text, uint64_t loaded)
{
	struct writer w = {.swap = swap};
	struct go_function_list list = {0};
	struct tally_error err;
	build_table(&w, form, word, text);
	assert_true(go_table_is(writer_view(&w), swap));
	assert_false(go_table_is(writer_view(&w), !swap));
	assert_int_equal(go_table_functions(writer_view(&w), swap, loaded, &list, &err), TALLY_OK);
	check_functions(&list);
	assert_int_equal(go_table_text_offset(writer_view(&w), swap), form->is_relative ? 8u + 2u * word : 0);
	vec_free(&list.functions);
	writer_deinit(&w);
}

static void test_go_forms(void **state)
{
	for (size_t f = 0; f < ARRAY_LEN(forms); f++)
		for (int swap = 0; swap < 2; swap++) {
			check_form(&forms[f], 8, swap, TEXT, 0x9999);
			check_form(&forms[f], 4, swap, TEXT, 0x9999);
			check_form(&forms[f], 8, swap, 0, TEXT);
		}
}

/* Tries each prefix, and sets each byte to a few values: the number of functions and the names stay
 * within the table. */
static void test_go_table_is_hostile(void **state)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
		struct writer w = {0};
		build_table(&w, &forms[f], 8, TEXT);
		for (size_t i = 0; i < w.len; i++)
			for (size_t v = 0; v <= sizeof(values); v++) {
				bool is_prefix = v == sizeof(values);
				size_t len = is_prefix ? i : w.len;
				uint8_t *copy = malloc(len ? len : 1);
				memcpy(copy, w.data, len);
				if (!is_prefix)
					copy[i] = values[v];
				struct go_function_list list = {0};
				struct tally_error err;
				enum tally_status status =
					go_table_functions((struct tally_bytes){copy, len}, false, TEXT, &list, &err);
				assert_true(status == TALLY_OK || status == TALLY_CORRUPT);
				assert_true(list.functions.len <= COUNT);
				for (size_t k = 0; k < list.functions.len; k++) {
					const uint8_t *name = (const uint8_t *)list.functions.items[k].name;
					assert_true(name >= copy && name < copy + len &&
						    memchr(name, '\0', (size_t)(copy + len - name)));
				}
				vec_free(&list.functions);
				free(copy);
			}
		writer_deinit(&w);
	}
}

static void test_go_count_beyond_the_table(void **state)
{
	struct writer w = {0};
	struct go_function_list list = {0};
	struct tally_error err;
	build_table(&w, &forms[3], 8, TEXT);
	writer_patch_u64(&w, 8, UINT64_MAX);
	assert_int_equal(go_table_functions(writer_view(&w), false, 0, &list, &err), TALLY_CORRUPT);
	assert_string_equal(err.text, "the table of Go functions is cut");
	writer_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_forms),
		cmocka_unit_test(test_go_table_is_hostile),
		cmocka_unit_test(test_go_count_beyond_the_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
