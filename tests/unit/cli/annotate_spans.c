/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the counts of instructions that are derived from straight-line runs of code between branches. */
#include "tasks/listing/annotate_spans.h"

#include "unit_test.h"

#define LINES 6

static void make_lines(struct annotate_line lines[LINES])
{
	for (size_t i = 0; i < LINES; i++)
		lines[i] = (struct annotate_line){
			.kind = i == 2 ? ANNOTATE_TEXT : ANNOTATE_CODE, .address = 0x1000 + 4 * (i > 2 ? i - 1 : i)};
}

static bool apply(const struct annotate_span *spans, size_t count, struct annotate_line lines[LINES])
{
	struct annotate_target target = {0};
	bool has_cycles = false;
	make_lines(lines);
	for (size_t i = 0; i < count; i++)
		assert_true(vec_push(&target.spans, spans[i]));
	assert_true(annotate_spans_apply(&target, 0x1000 - 0x40, lines, LINES, &has_cycles));
	vec_free(&target.spans);
	return has_cycles;
}

static void test_runs_are_counted_where_they_begin_and_end(void **state)
{
	/* Instructions at 0x40, 0x44, 0x48, 0x4c, 0x50: three runs through all of them, and one through the middle. */
	static const struct annotate_span spans[] = {
		{.start = 0x40, .end = 0x50, .count = 3, .predicted = 3, .cycles = 30, .timed = 3},
		{.start = 0x44, .end = 0x4c, .count = 1, .predicted = 0, .cycles = 2, .timed = 1},
	};
	struct annotate_line lines[LINES];
	assert_true(apply(spans, 2, lines));
	assert_true(lines[0].entered == 75 && lines[1].entered == 25);
	assert_true(lines[4].left == 25 && lines[4].predicted == 0 && lines[4].cycles == 2);
	assert_true(lines[5].left == 100 && lines[5].predicted == 100 && lines[5].cycles == 10);
	assert_true(lines[0].ipc == 0.5);
	assert_true(lines[3].ipc == (15.0 + 3) / (30 + 2));
	assert_true(lines[2].ipc == 0 && lines[0].left == 0);
}

static void test_least_and_most_cycles(void **state)
{
	static const struct annotate_span spans[] = {
		{.start = 0x40,
			.end = 0x50,
			.count = 9,
			.cycles = 30,
			.timed = 3,
			.least_cycles = 8,
			.most_cycles = 14},
		{.start = 0x44, .end = 0x50, .count = 1},
		{.start = 0x48, .end = 0x50, .count = 1, .cycles = 2, .timed = 1, .least_cycles = 2, .most_cycles = 2},
	};
	struct annotate_line lines[LINES];
	assert_true(apply(spans, 3, lines));
	assert_true(lines[5].cycles == 8 && lines[5].least_cycles == 2 && lines[5].most_cycles == 14);
	assert_true(lines[4].cycles == 0 && lines[4].most_cycles == 0);
}

static void test_runs_without_cycles(void **state)
{
	static const struct annotate_span spans[] = {{.start = 0x40, .end = 0x44, .count = 1, .predicted = 1}};
	struct annotate_line lines[LINES];
	assert_false(apply(spans, 1, lines));
	assert_true(lines[1].left == 100 && lines[1].ipc == 0 && lines[1].cycles == 0);
	assert_true(lines[3].left == 0);
}

static void test_runs_of_other_code_are_passed_over(void **state)
{
	static const struct annotate_span spans[] = {
		{.start = 0x41, .end = 0x44, .count = 1, .cycles = 1, .timed = 1},
		{.start = 0x44, .end = 0x99, .count = 1, .cycles = 1, .timed = 1},
		{.start = 0x48, .end = 0x44, .count = 1, .cycles = 1, .timed = 1},
		{.start = UINT64_MAX, .end = 0, .count = UINT64_MAX, .cycles = 1, .timed = 1},
	};
	struct annotate_line lines[LINES];
	assert_false(apply(spans, 4, lines));
	for (size_t i = 0; i < LINES; i++)
		assert_true(lines[i].entered == 0 && lines[i].left == 0 && lines[i].ipc == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_are_counted_where_they_begin_and_end),
		cmocka_unit_test(test_least_and_most_cycles),
		cmocka_unit_test(test_runs_without_cycles),
		cmocka_unit_test(test_runs_of_other_code_are_passed_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
