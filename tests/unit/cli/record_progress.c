/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_progress.h"

#include "abi/encode.h"
#include "unit_test.h"

static void expect(const struct record_progress_state *state, unsigned width, const char *expected)
{
	struct text t = {0};
	record_progress_text(&t, state, width);
	text_char(&t, '\0');
	assert_false(t.failed);
	assert_string_equal(t.data, expected);
	text_deinit(&t);
}

static void says_what_there_is(void **state)
{
	(void)state;
	struct record_progress_state s = {
		.seconds = 1.34, .samples = 48120, .bytes = 3420000, .lost = 0, .cpus = 2, .has_counts = true};
	expect(&s, 79, "recording: 1.3 s, 48,120 samples, 3.4 MB, 0 lost, 2 CPUs");
	s.seconds = 3601.2;
	s.samples = 1;
	s.lost = 12345;
	s.cpus = 1;
	expect(&s, 79, "recording: 3601 s, 1 sample, 3.4 MB, 12,345 lost, 1 CPU");
	expect(&s, 9, "recording");
	s.has_counts = false;
	expect(&s, 79, "recording: 3601 s, 3.4 MB, 1 CPU");
}

static void add_lost(struct writer *w, const struct record_layout *layout, uint64_t lost, bool is_samples)
{
	struct record_fields fields = {.type = RECORD_LOST, .lost = {.id = 7, .lost = lost}};
	if (is_samples)
		fields = (struct record_fields){.type = RECORD_LOST_SAMPLES, .lost_samples = {lost}};
	record_encode(w, &fields, 0, layout, &(struct sample_id){0});
}

/* A ring may wrap at any offset: a record in two halves counts once. */
static void counts_across_slices(void **state)
{
	(void)state;
	const struct record_layout layout = {0};
	const uint8_t sample[] = {RECORD_SAMPLE, 0, 0, 0, 0, 0, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8};
	struct writer w = {0};
	writer_bytes(&w, sample, sizeof(sample));
	add_lost(&w, &layout, 5, false);
	writer_bytes(&w, sample, sizeof(sample));
	add_lost(&w, &layout, 300, true);
	assert_false(w.failed);
	for (size_t cut = 0; cut <= w.len; cut++) {
		struct record_progress p = {.is_on = true};
		const struct tally_bytes slices[] = {{w.data, cut}, {w.data + cut, w.len - cut}};
		record_progress_count(&p, slices, 2);
		assert_int_equal(p.state.samples, 2);
		assert_int_equal(p.state.lost, 305);
	}
	writer_deinit(&w);
}

static void damaged_bytes_end_it(void **state)
{
	(void)state;
	const uint8_t bytes[] = {RECORD_SAMPLE, 0, 0, 0, 0, 0, 0, 0, RECORD_SAMPLE, 0, 0, 0, 0, 0, 8, 0};
	const uint8_t cut[] = {RECORD_LOST, 0, 0, 0, 0, 0, 24, 0, 1, 2, 3};
	struct record_progress p = {.is_on = true};
	record_progress_count(&p, &(struct tally_bytes){bytes, sizeof(bytes)}, 1);
	assert_int_equal(p.state.samples, 0);
	record_progress_count(&p, &(struct tally_bytes){cut, sizeof(cut)}, 1);
	assert_int_equal(p.state.lost, 0);
	record_progress_count(&p, NULL, 0);
	p.is_on = false;
	record_progress_count(&p, &(struct tally_bytes){bytes + 8, 8}, 1);
	assert_int_equal(p.state.samples, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_there_is),
		cmocka_unit_test(counts_across_slices),
		cmocka_unit_test(damaged_bytes_end_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
