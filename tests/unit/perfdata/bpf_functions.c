/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/bpf_functions.h"

#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "unit_test.h"

#define BTF_ID 7

/* A program with two functions as perf stores it: pointers are offsets in data. */
struct fixture {
	struct writer info, data, types, btf;
	struct perfdata_bpf_program program;
	struct perfdata_btf btf_section;
	struct perfdata_features features;
	bool swap;
};

static void put_type(struct fixture *x, uint32_t name, uint32_t kind, uint32_t members)
{
	writer_u32(&x->types, name);
	writer_u32(&x->types, kind << 24 | members);
	writer_u32(&x->types, 1);
}

/* Writes types of each kind, so that a type is found only if the sizes of all earlier ones are right; types 20 and 21
 * are functions. */
static void build_btf(struct fixture *x)
{
	static const char strings[] = "\0main_function_with_a_long_name\0tail";
	static const uint8_t tails[][2] = {{1, 4}, {2, 0}, {3, 12}, {4, 24}, {5, 24}, {6, 16}, {7, 0}, {8, 0}, {9, 0},
		{10, 0}, {11, 0}, {13, 16}, {14, 4}, {15, 24}, {16, 0}, {17, 4}, {18, 0}, {19, 24}, {12, 0}};
	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		uint32_t kind = tails[i][0];
		bool has_members = kind == 4 || kind == 5 || kind == 6 || kind == 13 || kind == 15 || kind == 19;
		put_type(x, 0, kind, has_members ? 2 : 0);
		writer_zeros(&x->types, tails[i][1]);
	}
	put_type(x, 1, 12, 0);
	put_type(x, 32, 12, 0);
	writer_u16(&x->btf, 0xeb9f);
	writer_u16(&x->btf, 1);
	writer_u32(&x->btf, 24);
	writer_u32(&x->btf, 0);
	writer_u32(&x->btf, (uint32_t)x->types.len);
	writer_u32(&x->btf, (uint32_t)x->types.len);
	writer_u32(&x->btf, sizeof(strings));
	writer_bytes(&x->btf, x->types.data, x->types.len);
	writer_bytes(&x->btf, strings, sizeof(strings));
}

static void patch(struct writer *w, size_t at, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		w->data[at + i] = (uint8_t)(value >> 8 * (w->swap ? bytes - 1 - i : i));
}

#define PATCH(field, value) \
	patch(&x->info, offsetof(struct bpf_prog_info, field), value, sizeof(((struct bpf_prog_info *)0)->field))

static void build(struct fixture *x, bool swap)
{
	*x = (struct fixture){.swap = swap};
	x->info.swap = x->data.swap = x->types.swap = x->btf.swap = swap;
	build_btf(x);
	writer_zeros(&x->info, sizeof(struct bpf_prog_info));
	PATCH(id, 5);
	PATCH(nr_jited_ksyms, 2);
	PATCH(jited_ksyms, 0);
	PATCH(jited_func_lens, 16);
	PATCH(btf_id, BTF_ID);
	PATCH(func_info_rec_size, 8);
	PATCH(func_info, 24);
	PATCH(nr_func_info, 2);
	PATCH(nr_prog_tags, 2);
	PATCH(prog_tags, 40);
	memcpy(x->info.data + offsetof(struct bpf_prog_info, tag), "PROGRAM", 8);
	memcpy(x->info.data + offsetof(struct bpf_prog_info, name), "main_function_w", 15);
	writer_u64(&x->data, UINT64_C(0xffffffffc0001000));
	writer_u64(&x->data, UINT64_C(0xffffffffc0002000));
	writer_u32(&x->data, 72);
	writer_u32(&x->data, 80);
	writer_u32(&x->data, 0);
	writer_u32(&x->data, 20);
	writer_u32(&x->data, 9);
	writer_u32(&x->data, 21);
	writer_bytes(&x->data, "FIRSTTAGOTHERTAG", 16);
	PATCH(nr_line_info, 2);
	PATCH(line_info, 56);
	PATCH(line_info_rec_size, 16);
	PATCH(nr_jited_line_info, 2);
	PATCH(jited_line_info, 88);
	PATCH(jited_line_info_rec_size, 8);
	for (uint32_t i = 0; i < 2; i++) {
		writer_u32(&x->data, i);
		writer_u32(&x->data, 32); /* Offset of "tail", used as the file name. */
		writer_u32(&x->data, 0);
		writer_u32(&x->data, (40 + i) << 10 | 7);
	}
	writer_u64(&x->data, UINT64_C(0xffffffffc0001000));
	writer_u64(&x->data, UINT64_C(0xffffffffc0001010));
	x->program = (struct perfdata_bpf_program){
		.arrays = 0x1f8, .info = writer_view(&x->info), .data = writer_view(&x->data)};
	x->btf_section = (struct perfdata_btf){BTF_ID, writer_view(&x->btf)};
	x->features.bpf_programs = &x->program;
	x->features.btfs = &x->btf_section;
	x->features.bpf_program_count = x->features.btf_count = 1;
}

static void destroy(struct fixture *x)
{
	writer_deinit(&x->info);
	writer_deinit(&x->data);
	writer_deinit(&x->types);
	writer_deinit(&x->btf);
}

static struct bpf_function function_at(struct fixture *x, size_t index)
{
	struct bpf_functions *functions;
	struct bpf_function function;
	assert_int_equal(bpf_functions_create(&x->features, x->swap, &functions, NULL), TALLY_OK);
	assert_true(bpf_function_at(functions, &x->program, index, &function));
	assert_int_equal(bpf_program_id(functions, &x->program), 5);
	bpf_functions_destroy(functions);
	return function;
}

static void test_functions_are_named_by_their_types(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct fixture x;
		build(&x, swap != 0);
		struct bpf_function function = function_at(&x, 0);
		assert_int_equal(function.address, UINT64_C(0xffffffffc0001000));
		assert_int_equal(function.size, 72);
		assert_memory_equal(function.tag, "FIRSTTAG", 8);
		assert_true(str_equal(function.name, STR("main_function_with_a_long_name")));
		function = function_at(&x, 1);
		assert_int_equal(function.address, UINT64_C(0xffffffffc0002000));
		assert_int_equal(function.size, 80);
		assert_memory_equal(function.tag, "OTHERTAG", 8);
		assert_true(str_equal(function.name, STR("tail")));
		destroy(&x);
	}
}

static void test_lines(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct fixture x;
		struct bpf_functions *functions;
		struct bpf_line line;
		build(&x, swap != 0);
		assert_int_equal(bpf_functions_create(&x.features, x.swap, &functions, NULL), TALLY_OK);
		assert_int_equal(bpf_line_count(functions, &x.program), 2);
		assert_true(bpf_line_at(functions, &x.program, 1, &line));
		assert_int_equal(line.address, UINT64_C(0xffffffffc0001010));
		assert_int_equal(line.number, 41);
		assert_true(str_equal(line.path, STR("tail")));
		assert_false(bpf_line_at(functions, &x.program, 2, &line));
		x.program.arrays = 0x138; /* The line arrays are missing. */
		assert_false(bpf_line_at(functions, &x.program, 0, &line));
		bpf_functions_destroy(functions);
		destroy(&x);
	}
}

/* Without type information, a single function is named after the program, and several have no names. */
static void test_functions_without_types(void **state)
{
	struct fixture fixture, *x = &fixture;
	build(x, false);
	x->features.btf_count = 0;
	assert_true(str_equal(function_at(x, 0).name, STR("F")));
	PATCH(nr_jited_ksyms, 1);
	assert_true(str_equal(function_at(x, 0).name, STR("main_function_w")));
	PATCH(nr_prog_tags, 0);
	assert_memory_equal(function_at(x, 0).tag, "PROGRAM", 8);
	destroy(x);
}

/* If the arrays are shorter than the list of functions, the remaining functions have no name, and the tag of the
 * program. */
static void test_arrays_that_are_shorter(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct fixture fixture, *x = &fixture;
		struct bpf_functions *functions;
		struct bpf_line line;
		build(x, swap != 0);
		PATCH(nr_func_info, 1);
		PATCH(nr_prog_tags, 1);
		assert_true(str_equal(function_at(x, 0).name, STR("main_function_with_a_long_name")));
		assert_true(str_equal(function_at(x, 1).name, STR("F")));
		assert_memory_equal(function_at(x, 0).tag, "FIRSTTAG", 8);
		assert_memory_equal(function_at(x, 1).tag, "PROGRAM", 8);
		PATCH(nr_jited_line_info, 1);
		assert_int_equal(bpf_functions_create(&x->features, x->swap, &functions, NULL), TALLY_OK);
		assert_int_equal(bpf_line_count(functions, &x->program), 1);
		assert_true(bpf_line_at(functions, &x->program, 0, &line));
		assert_int_equal(line.address, UINT64_C(0xffffffffc0001000));
		assert_int_equal(line.number, 40);
		assert_false(bpf_line_at(functions, &x->program, 1, &line));
		PATCH(nr_jited_line_info, 2);
		PATCH(nr_line_info, 0);
		assert_int_equal(bpf_line_count(functions, &x->program), 0);
		PATCH(nr_line_info, 100000);
		PATCH(nr_jited_line_info, 100000);
		assert_int_equal(bpf_line_count(functions, &x->program), x->data.len / 8);
		PATCH(nr_jited_ksyms, 100000);
		assert_int_equal(bpf_function_count(functions, &x->program), x->data.len / 8);
		bpf_functions_destroy(functions);
		bpf_functions_destroy(NULL);
		destroy(x);
	}
}

/* Type IDs of another program, type IDs that do not exist, and files without names. */
static void test_types_that_are_not_there(void **state)
{
	struct fixture fixture, *x = &fixture;
	struct bpf_functions *functions;
	struct bpf_line line;
	build(x, false);
	PATCH(btf_id, BTF_ID + 1);
	assert_true(str_equal(function_at(x, 0).name, STR("F")));
	assert_int_equal(bpf_functions_create(&x->features, false, &functions, NULL), TALLY_OK);
	assert_true(bpf_line_at(functions, &x->program, 0, &line));
	assert_int_equal(line.path.len, 0);
	assert_int_equal(line.number, 40);
	bpf_functions_destroy(functions);
	PATCH(btf_id, BTF_ID);
	static const struct {
		uint32_t type;
		const char *name;
	} types[] = {{20, "main_function_with_a_long_name"}, {21, "tail"}, {22, "F"}, {0, "F"}, {19, "F"}, {1, "F"}};
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		patch(&x->data, 28, types[i].type, 4);
		assert_true(str_equal(function_at(x, 0).name, str_from(types[i].name)));
	}
	/* An array beyond the end of the data gives no names, not even by the first type. */
	patch(&x->btf, 24, 1, 4);
	patch(&x->data, 28, 1, 4);
	assert_true(str_equal(function_at(x, 0).name, STR("main_function_with_a_long_name")));
	PATCH(func_info, x->data.len);
	assert_true(str_equal(function_at(x, 0).name, STR("F")));
	PATCH(func_info, x->data.len - 4);
	assert_true(str_equal(function_at(x, 0).name, STR("F")));
	/* A string offset beyond the last string. */
	patch(&x->data, 56 + 4, 37, 4);
	assert_int_equal(bpf_functions_create(&x->features, false, &functions, NULL), TALLY_OK);
	assert_true(bpf_line_at(functions, &x->program, 0, &line));
	assert_int_equal(line.path.len, 0);
	bpf_functions_destroy(functions);
	x->btf.data[0] ^= 1; /* The magic is wrong. */
	assert_true(str_equal(function_at(x, 1).name, STR("F")));
	destroy(x);
}

static void walk(const struct perfdata_features *features)
{
	struct bpf_functions *functions;
	struct bpf_function function;
	assert_int_equal(bpf_functions_create(features, false, &functions, NULL), TALLY_OK);
	for (size_t i = 0; bpf_function_at(functions, features->bpf_programs, i, &function); i++)
		assert_true(function.name.len > 0);
	struct bpf_line line;
	for (size_t i = 0; bpf_line_at(functions, features->bpf_programs, i, &line); i++)
		assert_true(i < features->bpf_programs->data.len);
	bpf_functions_destroy(functions);
}

static void test_every_byte_changed_and_every_cut(void **state)
{
	struct fixture x;
	build(&x, false);
	struct writer *parts[] = {&x.info, &x.data, &x.btf};
	for (size_t p = 0; p < 3; p++) {
		for (size_t i = 0; i < parts[p]->len; i++) {
			uint8_t old = parts[p]->data[i];
			parts[p]->data[i] = 0xff;
			walk(&x.features);
			parts[p]->data[i] = old;
		}
	}
	struct tally_bytes *views[] = {&x.program.info, &x.program.data, &x.btf_section.data};
	for (size_t v = 0; v < 3; v++) {
		size_t whole = views[v]->len;
		for (views[v]->len = 0; views[v]->len < whole; views[v]->len++)
			walk(&x.features);
	}
	destroy(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_are_named_by_their_types),
		cmocka_unit_test(test_functions_without_types),
		cmocka_unit_test(test_arrays_that_are_shorter),
		cmocka_unit_test(test_types_that_are_not_there),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_every_byte_changed_and_every_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
