/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/jitdump.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "jitdump_builder.h"
#include "unit_test.h"

static const char code_bytes[] = "\x90\x90\x90\x90\x90\x90\x90\xc3";

/* Writes two functions at one address, one after the other; the second has lines and unwinding information, and is
 * moved. */
static void make_two(struct writer *w, bool swap)
{
	static const struct jitdump_builder_line lines[] = {
		{0x1000, 7, "a.js"}, {0x1004, 8, "\xff"}, {0x1006, 3, "b.js"}};
	*w = (struct writer){.swap = swap};
	jitdump_builder_header(w, 42, 0);
	jitdump_builder_load(w, 100, &(struct jitdump_builder_code){0x1000, 1, "first", code_bytes, 8});
	jitdump_builder_lines(w, 150, 0x1000, lines, 3);
	jitdump_builder_unwinding(w, 150, "frame", 6, 2);
	jitdump_builder_load(w, 200, &(struct jitdump_builder_code){0x1000, 2, "second", code_bytes, 8});
	jitdump_builder_move(w, 300, 0x1000, 0x2000, 8, 2);
	jitdump_builder_close(w, 400);
}

static void check_two(const struct jitdump *dump)
{
	assert_int_equal(dump->pid, 42);
	assert_int_equal(dump->damaged, 0);
	assert_false(dump->is_cut);
	assert_false(dump->has_cpu_time);
	assert_int_equal(dump->elf_machine, 62);
	assert_int_equal(dump->codes.len, 2);
	assert_int_equal(dump->places.len, 3);
	const struct jitdump_code *first = &dump->codes.items[0];
	const struct jitdump_code *second = &dump->codes.items[1];
	assert_string_equal(first->name, "first");
	assert_int_equal(first->line_count, 0);
	assert_int_equal(first->eh_frame.len, 0);
	assert_memory_equal(dump->bytes.data + first->offset, code_bytes, 8);
	assert_string_equal(second->name, "second");
	assert_int_equal(second->eh_frame.len, 4);
	assert_memory_equal(second->eh_frame.data, "fram", 4);
	const struct jitdump_place *places = dump->places.items;
	assert_int_equal(places[0].time, 100);
	assert_int_equal(places[0].offset, first->offset);
	assert_int_equal(places[1].address, 0x1000);
	assert_int_equal(places[1].offset, second->offset);
	assert_int_equal(places[2].time, 300);
	assert_int_equal(places[2].address, 0x2000);
	assert_int_equal(places[2].size, 8);
	assert_int_equal(places[2].offset, second->offset);
	assert_ptr_equal(jitdump_find(dump, second->offset + 7), second);
	assert_null(jitdump_find(dump, second->offset + 8));
	assert_null(jitdump_find(dump, 0));
}

static void check_lines(const struct jitdump *dump)
{
	static const struct {
		unsigned at, line;
		const char *path;
	} wanted[] = {{0, 7, "a.js"}, {3, 7, "a.js"}, {4, 8, "a.js"}, {6, 3, "b.js"}, {7, 3, "b.js"}};
	struct source_place place;
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		assert_true(jitdump_line(dump, dump->codes.items[1].offset + wanted[i].at, &place));
		assert_int_equal(place.line, wanted[i].line);
		assert_string_equal(place.path, wanted[i].path);
		assert_string_equal(place.function, "second");
		assert_false(place.is_inlined);
	}
	assert_false(jitdump_line(dump, dump->codes.items[0].offset, &place));
}

static void reads_functions_in_both_byte_orders(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct writer w;
		struct jitdump dump;
		make_two(&w, swap);
		assert_false(w.failed);
		assert_int_equal(jitdump_parse(&dump, writer_view(&w), NULL), TALLY_OK);
		assert_int_equal(dump.swap, swap);
		check_two(&dump);
		check_lines(&dump);
		jitdump_deinit(&dump);
		writer_deinit(&w);
	}
}

static void refuses_what_is_no_dump(void **state)
{
	struct writer w;
	struct jitdump dump;
	make_two(&w, false);
	assert_int_equal(jitdump_parse(&dump, (struct tally_bytes){w.data, 39}, NULL), TALLY_INVALID);
	writer_patch_u32(&w, 4, 2);
	assert_int_equal(jitdump_parse(&dump, writer_view(&w), NULL), TALLY_INVALID);
	writer_patch_u32(&w, 4, 1);
	writer_patch_u32(&w, 8, 39);
	assert_int_equal(jitdump_parse(&dump, writer_view(&w), NULL), TALLY_INVALID);
	writer_patch_u32(&w, 8, 0xffffffff);
	assert_int_equal(jitdump_parse(&dump, writer_view(&w), NULL), TALLY_INVALID);
	writer_patch_u32(&w, 0, 1);
	assert_int_equal(jitdump_parse(&dump, writer_view(&w), NULL), TALLY_INVALID);
	writer_deinit(&w);
}

static void reads_the_clock(void **state)
{
	struct writer w = {0};
	struct jitdump dump;
	jitdump_builder_header(&w, 1, 1);
	assert_int_equal(jitdump_parse(&dump, writer_view(&w), NULL), TALLY_OK);
	assert_true(dump.has_cpu_time);
	jitdump_deinit(&dump);
	writer_deinit(&w);
}

static void skips_damaged_records(void **state)
{
	struct writer w = {0};
	struct jitdump dump;
	static const struct jitdump_builder_line lines[] = {{0x1000, 7, "a.js"}};
	jitdump_builder_header(&w, 1, 0);
	size_t big = w.len;
	jitdump_builder_load(&w, 1, &(struct jitdump_builder_code){0x1000, 1, "too big", code_bytes, 8});
	writer_patch_u64(&w, big + JITDUMP_BUILDER_SIZE_AT, 1000);
	size_t wraps = w.len;
	jitdump_builder_load(&w, 1, &(struct jitdump_builder_code){UINT64_MAX - 3, 2, "wraps", code_bytes, 8});
	assert_true(wraps > big);
	jitdump_builder_load(&w, 1, &(struct jitdump_builder_code){0x1000, 3, "empty", code_bytes, 0});
	jitdump_builder_move(&w, 2, 0x1000, 0x2000, 8, 77);
	size_t many = w.len;
	jitdump_builder_lines(&w, 2, 0x3000, lines, 1);
	writer_patch_u64(&w, many + JITDUMP_BUILDER_LINES_AT, UINT64_MAX / 17);
	jitdump_builder_load(&w, 3, &(struct jitdump_builder_code){0x3000, 4, "good", code_bytes, 8});
	jitdump_builder_move(&w, 4, 0x3000, 0x4000, 9, 4);
	assert_int_equal(jitdump_parse(&dump, writer_view(&w), NULL), TALLY_OK);
	assert_int_equal(dump.damaged, 6);
	assert_int_equal(dump.codes.len, 1);
	assert_int_equal(dump.places.len, 1);
	assert_string_equal(dump.codes.items[0].name, "good");
	assert_int_equal(dump.codes.items[0].line_count, 0);
	jitdump_deinit(&dump);
	writer_deinit(&w);
}

/* Lines outside the function are ignored; V8 counts their addresses from the end of an ELF header. */
static void lines_lie_in_their_function(void **state)
{
	static const struct {
		uint32_t padding;
		uint64_t address;
		bool is_good;
	} cases[] = {{0, 0x1000, true}, {0, 0x1008, true}, {0, 0x1009, false}, {0, 0xfff, false},
		{0xdeadbeef, 0x1040, true}, {0xdeadbeef, 0x103f, false}, {0xdeadbeef, 0x1049, false}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct jitdump_builder_line line = {cases[i].address, 5, "a.js"};
		struct writer w = {0};
		struct jitdump dump;
		struct source_place place;
		jitdump_builder_header(&w, 1, 0);
		writer_patch_u32(&w, 16, cases[i].padding);
		jitdump_builder_lines(&w, 2, 0x1000, &line, 1);
		jitdump_builder_load(&w, 3, &(struct jitdump_builder_code){0x1000, 4, "f", code_bytes, 8});
		assert_int_equal(jitdump_parse(&dump, writer_view(&w), NULL), TALLY_OK);
		assert_int_equal(dump.codes.items[0].line_count, cases[i].is_good);
		uint64_t last = dump.codes.items[0].offset + 7;
		bool is_inside = cases[i].is_good && cases[i].address != 0x1008;
		assert_int_equal(jitdump_line(&dump, last, &place), is_inside);
		jitdump_deinit(&dump);
		writer_deinit(&w);
	}
}

static void parse_copy(const uint8_t *data, size_t len)
{
	struct jitdump dump;
	uint8_t *copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, data, len);
	if (jitdump_parse(&dump, (struct tally_bytes){copy, len}, NULL) == TALLY_OK) {
		for (size_t i = 0; i < dump.codes.len; i++) {
			struct source_place place;
			assert_true(dump.codes.items[i].offset + dump.codes.items[i].size <= len);
			(void)jitdump_line(&dump, dump.codes.items[i].offset, &place);
		}
		jitdump_deinit(&dump);
	}
	free(copy);
}

static void survives_cuts_and_flips(void **state)
{
	struct writer w;
	uint32_t random = 5;
	make_two(&w, false);
	for (size_t len = 0; len < w.len; len++)
		parse_copy(w.data, len);
	for (size_t i = 0; i < 4000; i++) {
		random = random * 1664525 + 1013904223;
		size_t at = (random >> 8) % w.len;
		uint8_t was = w.data[at];
		w.data[at] = (uint8_t)(random >> 24);
		parse_copy(w.data, w.len);
		w.data[at] = was;
	}
	writer_deinit(&w);
}

static void a_dump_that_grows_is_read_to_its_last_whole_record(void **state)
{
	struct writer w;
	struct jitdump dump;
	make_two(&w, false);
	assert_int_equal(jitdump_parse(&dump, (struct tally_bytes){w.data, w.len - 17}, NULL), TALLY_OK);
	assert_true(dump.is_cut);
	assert_int_equal(dump.damaged, 0);
	assert_int_equal(dump.codes.len, 2);
	assert_int_equal(dump.places.len, 2);
	jitdump_deinit(&dump);
	writer_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_functions_in_both_byte_orders),
		cmocka_unit_test(refuses_what_is_no_dump),
		cmocka_unit_test(reads_the_clock),
		cmocka_unit_test(skips_damaged_records),
		cmocka_unit_test(lines_lie_in_their_function),
		cmocka_unit_test(survives_cuts_and_flips),
		cmocka_unit_test(a_dump_that_grows_is_read_to_its_last_whole_record),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
