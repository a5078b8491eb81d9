/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/run_parts.h"

#include "base/vec.h"
#include "unit_test.h"

#define RUN_BYTES   ((size_t)6 << 20)
#define LARGE_BYTES 60000
#define MAX_PARTS   36

static void put_header(uint8_t *at, uint32_t type, uint16_t size)
{
	memcpy(at, &type, sizeof(type));
	memset(at + 4, 0, 2);
	memcpy(at + 6, &size, sizeof(size));
}

/* Makes records that contain the headers of apparent records in their bodies, so that any guess inside is wrong. Some
 * are larger than the share of one part. */
static size_t make_run(uint8_t *bytes)
{
	size_t len = 0;
	for (unsigned i = 0; len + LARGE_BYTES <= RUN_BYTES; i++) {
		uint16_t size = i % 5 == 4 ? 40 : LARGE_BYTES;
		put_header(bytes + len, i % 3 ? RECORD_SAMPLE : RECORD_MMAP2, size);
		for (size_t at = 8; at < size; at += 8)
			put_header(bytes + len + at, RECORD_FINISHED_ROUND, 8);
		len += size;
	}
	return len;
}

struct found {
	const struct record_run *run;
	VEC(size_t) positions[MAX_PARTS];
};

static void note_records(void *context, size_t index, struct run_part *part)
{
	struct found *found = context;
	size_t position = part->begin;
	found->positions[index].len = 0;
	while (position < part->end && !part->is_cut) {
		struct record record;
		size_t start = position;
		part->is_cut = record_run_next(found->run, &position, &record, NULL) != TALLY_OK;
		if (!part->is_cut)
			assert_true(vec_push(&found->positions[index], start));
	}
	part->end = position;
}

/* Finds the positions and the number of all records, as with one worker. Returns true if the run is truncated. */
static bool walk(struct record_run *run, unsigned threads, size_t *positions, size_t *count, size_t *end)
{
	struct found found = {.run = run};
	struct run_parts parts;
	run->threads = threads;
	assert_true(run_parts_init(&parts, run, run->threads));
	assert_in_range(parts.count, 1, MAX_PARTS);
	run_parts_walk(&parts, note_records, &found);
	bool is_cut = false;
	*count = *end = 0;
	for (size_t i = 0; i < parts.count; i++) {
		assert_true(i == 0 || parts.items[i].begin == parts.items[i - 1].end);
		for (size_t k = 0; k < found.positions[i].len; k++)
			positions[(*count)++] = found.positions[i].items[k];
		*end = parts.items[i].end;
		is_cut = is_cut || parts.items[i].is_cut;
		vec_free(&found.positions[i]);
	}
	run_parts_deinit(&parts);
	return is_cut;
}

static void check_walks(struct record_run *run, bool is_cut, size_t last)
{
	static size_t alone[1000], together[1000];
	size_t count, end;
	assert_int_equal(walk(run, 1, alone, &count, &end), is_cut);
	assert_int_equal(end, last);
	assert_true(count > 50 && count < 1000);
	for (unsigned threads = 2; threads <= 6; threads++) {
		size_t more, more_end;
		assert_int_equal(walk(run, threads, together, &more, &more_end), is_cut);
		assert_int_equal(more, count);
		assert_int_equal(more_end, end);
		assert_memory_equal(together, alone, count * sizeof(*alone));
	}
}

static void test_guesses_do_not_matter(void **state)
{
	uint8_t *bytes = calloc(1, RUN_BYTES);
	assert_non_null(bytes);
	size_t len = make_run(bytes);
	struct record_run run = {.bytes = {bytes, len}};
	check_walks(&run, false, len);
	free(bytes);
}

static void test_nothing_counts_behind_a_cut(void **state)
{
	uint8_t *bytes = calloc(1, RUN_BYTES);
	assert_non_null(bytes);
	struct record_run run = {.bytes = {bytes, make_run(bytes)}};
	size_t position = 0;
	struct record record;
	while (position < RUN_BYTES / 2)
		assert_int_equal(record_run_next(&run, &position, &record, NULL), TALLY_OK);
	put_header(bytes + position, RECORD_SAMPLE, 4);
	check_walks(&run, true, position);
	free(bytes);
}

static void test_no_records(void **state)
{
	const struct record_run run = {.bytes = {NULL, 0}, .threads = 4};
	struct found found = {.run = &run};
	struct run_parts parts;
	assert_true(run_parts_init(&parts, &run, 1));
	assert_int_equal(parts.count, 1);
	run_parts_walk(&parts, note_records, &found);
	assert_int_equal(parts.items[0].end, 0);
	assert_false(parts.items[0].is_cut);
	run_parts_deinit(&parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guesses_do_not_matter),
		cmocka_unit_test(test_nothing_counts_behind_a_cut),
		cmocka_unit_test(test_no_records),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
