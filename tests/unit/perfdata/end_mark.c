/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/end_mark.h"

#include "abi/perf_constants.h"
#include "base/array.h"
#include "base/writer.h"
#include "perfdata/reader.h"
#include "unit_test.h"

static void put_round(struct writer *w)
{
	writer_u32(w, RECORD_FINISHED_ROUND);
	writer_u32(w, (uint32_t)8 << (w->swap ? 0 : 16));
}

/* Writes marks and rounds in the order of the letters. */
static void make_marked(struct writer *w, const char *letters)
{
	const uint64_t parts[] = {100, 0, 7};
	writer_clear(w);
	for (; *letters; letters++) {
		if (*letters == 'b')
			end_mark_put_begin(w);
		else if (*letters == 'e')
			end_mark_put_end(w, NULL, 0);
		else if (*letters == 'p')
			end_mark_put_end(w, parts, 3);
		else
			put_round(w);
	}
}

/* Returns the state after the last record of a stream was followed. */
static enum end_mark_state follow_all(struct tally_bytes bytes, bool swap)
{
	struct end_mark mark = {0};
	struct record record;
	for (size_t at = 0; record_at(bytes, swap, at, &record, NULL) == TALLY_OK; at += record.bytes.len)
		end_mark_follow(&mark, &record);
	return mark.state;
}

static void test_what_marks_say(void **state)
{
	static const struct {
		const char *letters;
		enum end_mark_state file, pipe;
	} cases[] = {
		{"", END_UNSAID, END_UNSAID},
		{"rrr", END_UNSAID, END_UNSAID},
		{"rre", END_UNSAID, END_UNSAID},
		{"brr", END_MISSING, END_MISSING},
		{"b", END_MISSING, END_MISSING},
		{"be", END_REACHED, END_REACHED},
		{"brre", END_REACHED, END_REACHED},
		{"bpr", END_REACHED, END_REACHED}, /* Rewritten, with a record after the mark. */
		{"rrbrr", END_UNSAID, END_MISSING}, /* A pipe begins with descriptions. */
		{"rrbre", END_UNSAID, END_REACHED},
	};
	for (int swap = 0; swap < 2; swap++) {
		for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
			struct writer w = {.swap = swap};
			make_marked(&w, cases[i].letters);
			assert_int_equal(end_mark_find(writer_view(&w), swap, false).state, cases[i].file);
			assert_int_equal(end_mark_find(writer_view(&w), swap, true).state, cases[i].pipe);
			assert_int_equal(follow_all(writer_view(&w), swap), cases[i].pipe);
			writer_deinit(&w);
		}
	}
}

static void test_files_of_a_directory(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct writer w = {.swap = swap};
		make_marked(&w, "brp");
		struct end_mark mark = end_mark_find(writer_view(&w), swap, false);
		assert_int_equal(mark.part_count, 3);
		assert_int_equal(end_mark_part_bytes(&mark, 0), 100);
		assert_int_equal(end_mark_part_bytes(&mark, 1), 0);
		assert_int_equal(end_mark_part_bytes(&mark, 2), 7);
		writer_deinit(&w);
	}
}

/* No truncation of a marked recording appears complete, and the size of a mark is never that of a feature table. */
static void test_every_cut(void **state)
{
	struct writer w = {0};
	make_marked(&w, "brrp");
	for (size_t len = 0; len < w.len; len++) {
		enum end_mark_state found = end_mark_find((struct tally_bytes){w.data, len}, false, false).state;
		assert_int_equal(found, len < 24 ? END_UNSAID : END_MISSING);
	}
	writer_deinit(&w);
	for (size_t parts = 0; parts < 8; parts++) {
		const uint64_t none[8] = {0};
		end_mark_put_end(&w, none, parts);
		assert_int_not_equal(w.len % 16, 0);
		writer_deinit(&w);
	}
}

/* The search begins at the last record, so earlier damage does not hide it. Data that resembles a mark is not one. */
static void test_damage_before_the_end(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct writer w = {.swap = swap};
		make_marked(&w, "brrp");
		memset(w.data + 24, 0, 8); /* A record of size 0. */
		struct end_mark mark = end_mark_find(writer_view(&w), swap, false);
		assert_int_equal(mark.state, END_REACHED);
		assert_int_equal(mark.part_count, 3);
		for (uint64_t lie = 0; lie < 100; lie += 4) {
			uint64_t len = swap ? __builtin_bswap64(lie) : lie;
			memcpy(w.data + w.len - 16, &len, sizeof(len));
			mark = end_mark_find(writer_view(&w), swap, false);
			assert_int_equal(mark.state, lie == 8 + 16 + 3 * 8 + 16 + 8 ? END_REACHED : END_MISSING);
		}
		writer_deinit(&w);
	}
}

/* A record has space for a limited number of files; with more, none is listed, and the end is still marked. */
static void test_many_files_of_a_directory(void **state)
{
	static uint64_t parts[END_MARK_PARTS + 1];
	for (size_t i = 0; i < END_MARK_PARTS + 1; i++)
		parts[i] = 1000 + i;
	for (size_t count = END_MARK_PARTS - 1; count <= END_MARK_PARTS + 1; count++) {
		struct writer w = {0};
		end_mark_put_begin(&w);
		end_mark_put_end(&w, parts, count);
		assert_int_equal(w.data[0], RECORD_FINISHED_ROUND);
		struct end_mark mark = end_mark_find(writer_view(&w), false, false);
		assert_int_equal(mark.state, END_REACHED);
		assert_int_equal(mark.part_count, count <= END_MARK_PARTS ? count : 0);
		for (size_t i = 0; i < mark.part_count; i++)
			assert_int_equal(end_mark_part_bytes(&mark, i), 1000 + i);
		writer_deinit(&w);
	}
}

/* With invalid counts and lengths, nothing is read past the end of the record. */
static void test_hostile_marks(void **state)
{
	struct writer w = {0};
	for (size_t at = 0; at < 80; at += 4) {
		make_marked(&w, "bp");
		if (at + 4 > w.len)
			break;
		memset(w.data + at, 0xff, 4);
		struct end_mark mark = end_mark_find(writer_view(&w), false, false);
		for (size_t i = 0; i < mark.part_count; i++)
			(void)end_mark_part_bytes(&mark, i);
		assert_true(mark.part_count <= 3);
	}
	writer_deinit(&w);
}

/* A stream without its end was aborted by its recorder, unless it is a prefix of one that is still being recorded. */
static void test_beginning_of_what_is_written(void **state)
{
	struct writer w = {0};
	struct perfdata_reader *r;
	writer_bytes(&w, "PERFILE2", 8);
	writer_u64(&w, 16);
	put_round(&w);
	end_mark_put_begin(&w);
	assert_int_equal(perfdata_reader_open_bytes(writer_view(&w), &r, NULL), TALLY_OK);
	assert_true(perfdata_reader_health(r)->is_unfinished);
	perfdata_reader_destroy(r);
	assert_int_equal(perfdata_reader_open_beginning(writer_view(&w), &r, NULL), TALLY_OK);
	assert_false(perfdata_reader_health(r)->is_unfinished);
	perfdata_reader_destroy(r);
	writer_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_marks_say),
		cmocka_unit_test(test_files_of_a_directory),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_damage_before_the_end),
		cmocka_unit_test(test_many_files_of_a_directory),
		cmocka_unit_test(test_hostile_marks),
		cmocka_unit_test(test_beginning_of_what_is_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
