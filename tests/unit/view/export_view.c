/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/export_view.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "profile/profile_builder.h"
#include "unit_test.h"
#include "view/export/export_formats.h"

static void expect(struct text *t, const char *wanted)
{
	text_char(t, '\0');
	assert_string_equal(t->data, wanted);
	text_clear(t);
}

static void texts(void **state)
{
	struct text t = {0};
	export_json_string(&t, STR("\"\\\n\x7f<\xe2\x80\xa8\xe2\x80\xa9\xed\xa0\x80"));
	expect(&t, "\"\\u0022\\u005c\\u000a\\u007f<\\u2028\\u2029\\ufffd\\ufffd\\ufffd\"");
	export_decimal(&t, 1234567, 6);
	text_char(&t, ' ');
	export_decimal(&t, 5000, 3);
	text_char(&t, ' ');
	export_decimal(&t, 2000007, 6);
	expect(&t, "1.234567 5 2.000007");
	text_deinit(&t);
}

static void units(void **state)
{
	assert_string_equal(export_event_unit(STR("cpu-clock")), "nanoseconds");
	assert_string_equal(export_event_unit(STR("task-clock:u")), "nanoseconds");
	assert_string_equal(export_event_unit(STR("cpu-clocks")), "count");
	assert_string_equal(export_event_unit(STR("cycles")), "count");
}

struct made {
	struct profile *profile;
	uint32_t frames[3];
};

/* Makes two threads with one TID, one after the other by name, and another thread; one sample has a stack, one has
 * none. */
static struct made make(void)
{
	struct made made;
	struct profile_builder *b = profile_builder_create();
	uint32_t name = profile_builder_string(b, STR("cycles")), other = profile_builder_string(b, STR("other"));
	profile_builder_event(b, &(struct profile_event){.name = name});
	uint32_t threads[] = {profile_builder_thread(b, &(struct profile_thread){1, 1, name, other, other, 0}),
		profile_builder_thread(b, &(struct profile_thread){1, 1, other, other, other, 0}),
		profile_builder_thread(b, &(struct profile_thread){1, 2, other, other, other, 0})};
	for (uint32_t i = 0; i < 3; i++)
		made.frames[i] = profile_builder_frame(b,
			&(struct profile_frame){.function = PROFILE_NONE, .binary = PROFILE_NONE, .address = 16 * i});
	uint32_t stack = profile_builder_stack(b, (const uint32_t[]){made.frames[1], made.frames[0]}, 2);
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_sample sample = {.thread = threads[i],
			.leaf = made.frames[i == 2 ? 2 : 1],
			.stack = i == 2 ? PROFILE_NONE : stack,
			.cpu = (int32_t)i,
			.count = 1,
			.period = 10 + i,
			.first_order = 30 - i};
		uint32_t id = profile_builder_sample(b, &sample);
		profile_builder_row(b, &(struct profile_row){30 - i, 10 + i, id, 0});
	}
	assert_int_equal(profile_builder_finish(b, &made.profile, NULL), TALLY_OK);
	return made;
}

static void tables(void **state)
{
	struct made made = make();
	const struct export_view view = {.profile = made.profile, .event = PROFILE_NONE, .has_times = true};
	struct export_tables t;
	struct export_groups groups;
	struct export_sample s;
	size_t at = 0;
	assert_int_equal(export_tables_init(&t, &view, NULL), TALLY_OK);
	assert_int_equal(t.nodes.len, 3);
	assert_int_equal(t.frame_count, 3);
	assert_int_equal(t.track_count, 2);
	assert_int_equal(t.first_time, 28);
	assert_int_equal(t.last_time, 30);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(export_next_row(&t, &at, &s));
		assert_int_equal(s.time, 28 + i);
		assert_int_equal(s.period, 12 - i);
		assert_int_equal(s.cpu, 2 - i);
		assert_int_equal(t.frames[t.nodes.items[s.node].frame], made.frames[i == 0 ? 2 : 1]);
		uint32_t parent = t.nodes.items[s.node].parent;
		assert_true(i == 0 ? parent == PROFILE_NONE : t.frames[t.nodes.items[parent].frame] == made.frames[0]);
		assert_int_equal(t.tracks[s.track].tid, i == 0 ? 2 : 1);
	}
	assert_false(export_next_row(&t, &at, &s));
	assert_true(export_groups_init(&groups, &t));
	assert_int_equal(groups.count, 2);
	assert_int_equal(groups.begin[2], 3);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(groups.begin[i + 1] - groups.begin[i], t.tracks[i].row_count);
	export_groups_deinit(&groups);
	export_tables_deinit(&t);
	profile_destroy(made.profile);
}

static void what_is_not_chosen_is_not_in_the_tables(void **state)
{
	struct made made = make();
	struct profile_filter filter;
	assert_int_equal(profile_filter_init(&filter, made.profile, &(struct profile_filter_lists){.tids = "2"}, NULL),
		TALLY_OK);
	const struct export_view view = {.profile = made.profile, .filter = &filter, .event = PROFILE_NONE};
	struct export_tables t;
	assert_int_equal(export_tables_init(&t, &view, NULL), TALLY_OK);
	assert_int_equal(t.nodes.len, 1);
	assert_int_equal(t.frame_count, 1);
	assert_int_equal(t.track_count, 1);
	assert_int_equal(t.tracks[0].row_count, 1);
	export_tables_deinit(&t);
	profile_filter_deinit(&filter);
	profile_destroy(made.profile);
}

/* The debug information of the program determines file names: they must not control a terminal or end their field. */
static void a_file_is_a_field_of_csv(void **state)
{
	struct profile_builder *b = profile_builder_create();
	uint32_t name = profile_builder_string(b, STR("cycles"));
	struct profile_place place = {
		profile_builder_string(b, STR("a\033]0,b.c:12")), profile_builder_string(b, STR("a\033]0,b.c"))};
	profile_builder_event(b, &(struct profile_event){.name = name});
	uint32_t thread = profile_builder_thread(b, &(struct profile_thread){1, 1, name, name, name, 0});
	uint32_t leaf = profile_builder_frame(
		b, &(struct profile_frame){.function = PROFILE_NONE, .binary = PROFILE_NONE, .own_line = place});
	uint32_t id = profile_builder_sample(b, &(struct profile_sample){.thread = thread,
							.leaf = leaf,
							.stack = PROFILE_NONE,
							.count = 1,
							.period = 10,
							.first_order = 1});
	profile_builder_row(b, &(struct profile_row){1, 10, id, 0});
	struct profile *profile;
	assert_int_equal(profile_builder_finish(b, &profile, NULL), TALLY_OK);
	const struct export_view view = {.profile = profile, .event = PROFILE_NONE, .has_times = true};
	struct byte_sink sink;
	int fd = open("/dev/null", O_WRONLY);
	byte_sink_init(&sink, fd, false);
	export_csv(&sink, &view);
	text_char(&sink.text, '\0');
	assert_non_null(strstr(sink.text.data, ",\"a\\x1b]0,b.c\",12,"));
	assert_int_equal(byte_sink_finish(&sink, "/dev/null", NULL), TALLY_OK);
	close(fd);
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(units),
		cmocka_unit_test(tables),
		cmocka_unit_test(what_is_not_chosen_is_not_in_the_tables),
		cmocka_unit_test(a_file_is_a_field_of_csv),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
