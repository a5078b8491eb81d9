/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/tracks.h"

#include "base/array.h"
#include "unit_test.h"

static void add(struct tracks *t, uint32_t track, enum span_kind kind, uint64_t start_ns, uint64_t end_ns)
{
	const struct track_span span = {
		.start_ns = start_ns, .end_ns = end_ns, .detail = 1, .text = INTERN_NONE, .kind = (uint8_t)kind};
	assert_true(tracks_span(t, track, &span));
}

static void spans_are_summed_and_put_in_order(void **state)
{
	(void)state;
	struct tracks t;
	tracks_init(&t, 100);
	uint32_t track = tracks_add(&t, TRACK_TASK, 7, 7);
	add(&t, track, SPAN_RUNNING, 50, 80);
	add(&t, track, SPAN_WAITING, 20, 50);
	add(&t, track, SPAN_RUNNING, 90, 90);
	assert_true(tracks_finish(&t));
	const struct track *of = &t.tracks.items[track];
	assert_int_equal(of->sums[SPAN_RUNNING].ns, 30);
	assert_int_equal(of->sums[SPAN_RUNNING].count, 2); /* One span was too short to be drawn. */
	assert_int_equal(of->sums[SPAN_WAITING].ns, 30);
	assert_int_equal(of->spans.len, 2);
	assert_int_equal(of->spans.items[0].kind, SPAN_WAITING);
	assert_int_equal(of->first_ns, 20);
	assert_int_equal(of->last_ns, 90);
	assert_int_equal(t.start_ns, 20);
	assert_int_equal(t.end_ns, 90);
	tracks_deinit(&t);
}

static void names_change_only_when_they_differ(void **state)
{
	(void)state;
	struct tracks t;
	tracks_init(&t, 100);
	uint32_t track = tracks_add(&t, TRACK_TASK, 7, 7), text;
	assert_int_equal(tracks_last_name(&t, &t.tracks.items[track]).len, 0);
	assert_true(tracks_name(&t, track, 1, STR("sh")) && tracks_name(&t, track, 2, STR("sh")));
	assert_true(tracks_name(&t, track, 3, STR("ls")));
	assert_int_equal(t.tracks.items[track].names.len, 2);
	assert_true(str_equal(tracks_last_name(&t, &t.tracks.items[track]), STR("ls")));
	assert_true(tracks_text(&t, STR(""), &text));
	assert_int_equal(text, INTERN_NONE);
	assert_true(tracks_text(&t, STR("main\nwork"), &text));
	assert_true(str_equal(intern_get(&t.strings, text), STR("main\nwork")));
	tracks_deinit(&t);
}

static void short_spans_of_an_interval_are_merged_by_kind(void **state)
{
	(void)state;
	struct tracks t;
	tracks_init(&t, 100);
	uint32_t track = tracks_add(&t, TRACK_TASK, 7, 7);
	add(&t, track, SPAN_RUNNING, 1000, 1010);
	add(&t, track, SPAN_WAITING, 1010, 1020);
	add(&t, track, SPAN_RUNNING, 1030, 1050);
	add(&t, track, SPAN_RUNNING, 1080, 1300); /* Longer than the interval. */
	add(&t, track, SPAN_RUNNING, 1310, 1320);
	struct track_spans merged = {0};
	assert_true(track_merge(&t.tracks.items[track].spans, 100, &merged));
	assert_int_equal(merged.len, 4);
	assert_int_equal(merged.items[0].end_ns, 1050);
	assert_int_equal(merged.items[0].held_ns, 30);
	assert_int_equal(merged.items[0].count, 2);
	assert_int_equal(merged.items[0].detail, 1);
	assert_int_equal(merged.items[1].kind, SPAN_WAITING);
	assert_int_equal(merged.items[2].held_ns, 220);
	assert_true(track_merge(&t.tracks.items[track].spans, 0, &merged));
	assert_int_equal(merged.len, 5);
	vec_free(&merged);
	tracks_deinit(&t);
}

static void memory_is_bounded_and_sums_are_exact(void **state)
{
	(void)state;
	struct tracks t;
	tracks_init(&t, 1000);
	uint32_t track = tracks_add(&t, TRACK_TASK, 7, 7), other = tracks_add(&t, TRACK_TASK, 8, 8);
	for (uint64_t i = 0; i < 50000; i++) {
		add(&t, track, SPAN_RUNNING, i * 1000, i * 1000 + 300);
		assert_true(tracks_arrow(&t, &(struct track_arrow){i * 1000, other, track, INTERN_NONE}));
		assert_true(tracks_level(&t, track, i * 1000, i));
		assert_true(t.items <= 1000);
	}
	assert_true(tracks_finish(&t));
	assert_int_equal(t.tracks.items[track].sums[SPAN_RUNNING].ns, 50000 * 300);
	/* The last arrows are as coarse as the first ones. */
	for (size_t i = 1; i < t.arrows.len; i++)
		assert_true(t.arrows.items[i].time_ns - t.arrows.items[i - 1].time_ns >= t.resolution_ns / 2);
	uint64_t held_ns = 0, count = 0;
	for (size_t i = 0; i < t.tracks.items[track].spans.len; i++) {
		held_ns += t.tracks.items[track].spans.items[i].held_ns;
		count += t.tracks.items[track].spans.items[i].count;
	}
	assert_int_equal(held_ns, 50000 * 300);
	assert_int_equal(count, 50000);
	assert_true(t.resolution_ns >= 1024 && t.resolution_ns <= 1 << 20);
	assert_int_equal(t.arrows.len + t.arrows_dropped, 50000);
	assert_int_equal(t.tracks.items[track].levels.items[t.tracks.items[track].levels.len - 1].value, 49999);
	tracks_deinit(&t);
}

/* Adds adjacent spans of four kinds on three tracks, with arrows and levels, of some microseconds each. */
static void fill(struct tracks *t, size_t count)
{
	uint64_t now_ns[3] = {5000, 6000, 7000};
	uint32_t tracks[3], seed = 7;
	for (int32_t i = 0; i < 3; i++)
		tracks[i] = tracks_add(t, i ? TRACK_TASK : TRACK_CPU, i, i);
	for (size_t i = 0; i < count; i++) {
		seed = seed * 1664525u + 1013904223u;
		uint32_t track = seed >> 8 & 1 ? seed >> 9 & 1 : 2, choice = seed >> 28;
		uint64_t len_ns = 1 + (seed >> 12) % (choice == 0 ? 60000 : 3000), begin_ns = now_ns[track];
		const struct track_span span = {.start_ns = begin_ns,
			.end_ns = begin_ns + len_ns,
			.detail = choice & 1,
			.text = choice & 2,
			.kind = (uint8_t)(seed >> 26 & 3),
			.error = (seed >> 18 & 1023) == 5,
			.is_cut = (seed >> 18 & 1023) == 6};
		now_ns[track] += len_ns + (choice & 4 ? 700 : 0);
		assert_true(tracks_span(t, tracks[track], &span));
		assert_true(tracks_arrow(t, &(struct track_arrow){begin_ns, TRACK_NONE, tracks[track], choice}));
		assert_true(track != 0 || tracks_level(t, tracks[0], begin_ns, choice));
	}
	assert_true(tracks_finish(t));
}

static void expect_same(const struct tracks *a, const struct tracks *b)
{
	assert_int_equal(a->arrows.len, b->arrows.len);
	assert_int_equal(a->arrows_dropped, b->arrows_dropped);
	assert_memory_equal(a->arrows.items, b->arrows.items, a->arrows.len * sizeof(*a->arrows.items));
	for (size_t i = 0; i < 3; i++) {
		const struct track *left = &a->tracks.items[i], *right = &b->tracks.items[i];
		assert_int_equal(left->spans.len, right->spans.len);
		assert_memory_equal(
			left->spans.items, right->spans.items, left->spans.len * sizeof(*left->spans.items));
		assert_int_equal(left->levels.len, right->levels.len);
	}
}

/* Merging while items are added, or step by step at the end, gives the same result, no coarser than necessary. */
static void it_does_not_matter_when_they_were_merged(void **state)
{
	(void)state;
	static const size_t most[] = {8000, 2000, 900};
	uint64_t last_ns = 0;
	for (size_t i = 0; i < ARRAY_LEN(most); i++) {
		struct tracks bounded, whole;
		tracks_init(&bounded, most[i]);
		tracks_init(&whole, SIZE_MAX);
		fill(&bounded, 20000);
		fill(&whole, 20000);
		assert_true(bounded.resolution_ns > last_ns);
		last_ns = bounded.resolution_ns;
		while (whole.resolution_ns < bounded.resolution_ns)
			assert_true(tracks_coarsen(&whole));
		expect_same(&bounded, &whole);
		assert_int_equal(bounded.max_items, most[i]);
		tracks_deinit(&bounded);
		tracks_deinit(&whole);
	}
}

/* Without further items, the first resolution is the finest one that leaves half of the space. */
static void the_first_resolution_is_as_fine_as_fits(void **state)
{
	(void)state;
	struct tracks bounded, whole;
	tracks_init(&whole, SIZE_MAX);
	fill(&whole, 2000);
	size_t count = whole.items;
	tracks_init(&bounded, count - 1); /* The last item exceeds the limit by one. */
	fill(&bounded, 2000);
	while (whole.items > (count - 1) / 2)
		assert_true(tracks_coarsen(&whole));
	assert_int_equal(bounded.resolution_ns, whole.resolution_ns);
	expect_same(&bounded, &whole);
	tracks_deinit(&bounded);
	tracks_deinit(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_are_summed_and_put_in_order),
		cmocka_unit_test(names_change_only_when_they_differ),
		cmocka_unit_test(short_spans_of_an_interval_are_merged_by_kind),
		cmocka_unit_test(memory_is_bounded_and_sums_are_exact),
		cmocka_unit_test(it_does_not_matter_when_they_were_merged),
		cmocka_unit_test(the_first_resolution_is_as_fine_as_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
