/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "failing_malloc.h"
#include "profile/flame_tree.h"
#include "profile/profile_builder.h"
#include "tally_config.h"
#include "unit_test.h"
#include "view/export/export_formats.h"
#include "view/html/report_page.h"
#include "view/timechart/timechart_html.h"
#include "view/timechart/timechart_svg.h"

#if HAVE_SQLITE
#include <sqlite3.h>

#include "base/array.h"
#include "view/export/export_sqlite.h"
#endif

#define SAMPLES 40

static struct profile *profile;
static struct intern mark_texts;
static struct spool marks;
static struct export_view view;
static int null_fd, full_fd;

static uint32_t add_frame(struct profile_builder *b, uint32_t binary, unsigned number, bool is_inlined)
{
	char name[32], line[32];
	snprintf(name, sizeof(name), "function%u", number);
	snprintf(line, sizeof(line), "file.c:%u", number);
	const struct profile_function function = {.name = profile_builder_string(b, str_from(name)),
		.binary = binary,
		.start = number * 0x100,
		.size = is_inlined ? 0 : 0x80,
		.is_inlined = is_inlined};
	struct profile_frame frame = {.function = profile_builder_function(b, &function),
		.binary = binary,
		.address = number * 0x100,
		.level = PROFILE_LEVEL_USER};
	frame.own_line.line = frame.innermost_line.line = profile_builder_string(b, str_from(line));
	frame.own_line.file = frame.innermost_line.file = profile_builder_string(b, STR("file.c"));
	return profile_builder_frame(b, &frame);
}

/* Makes two events, two threads, stacks with an inlined call, and samples without a stack. */
static void make_profile(void)
{
	struct profile_builder *b = profile_builder_create();
	uint32_t names[] = {profile_builder_string(b, STR("cycles")), profile_builder_string(b, STR("cpu-clock"))};
	for (size_t i = 0; i < 2; i++)
		profile_builder_event(
			b, &(struct profile_event){.name = names[i], .leader = (uint32_t)i, .member_count = 1});
	const struct profile_binary binary = {.name = profile_builder_string(b, STR("program")),
		.long_name = profile_builder_string(b, STR("/bin/program")),
		.build_id = profile_builder_string(b, STR("0123456789abcdef0123456789abcdef01234567"))};
	uint32_t id = profile_builder_binary(b, &binary), frames[4], threads[2];
	for (unsigned i = 0; i < 4; i++)
		frames[i] = add_frame(b, id, i + 1, i == 1);
	for (int32_t i = 0; i < 2; i++)
		threads[i] = profile_builder_thread(
			b, &(struct profile_thread){10, 10 + i, names[i], names[i], names[i], 0});
	for (uint32_t i = 0; i < SAMPLES; i++) {
		const uint32_t path[] = {frames[i % 3], frames[1], frames[2], frames[3]};
		const struct profile_sample sample = {.event = i % 2,
			.thread = threads[i / 2 % 2],
			.leaf = path[0],
			.stack = i % 5 ? profile_builder_stack(b, path, 1 + i % 4) : PROFILE_NONE,
			.cpu = (int32_t)i % 3,
			.count = 1,
			.period = 100 + i,
			.first_order = 1000 + i};
		id = profile_builder_sample(b, &sample);
		profile_builder_row(b, &(struct profile_row){1000 + i, 100 + i, id, 0});
	}
	assert_int_equal(profile_builder_finish(b, &profile, NULL), TALLY_OK);
}

static int set_up(void **state)
{
	uint32_t text;
	make_profile();
	intern_init(&mark_texts);
	assert_true(intern_add(&mark_texts, "worker", 6, &text));
	spool_init(&marks);
	for (uint32_t i = 0; i < EXPORT_MARKS; i++) {
		const struct export_mark mark = {.time = 1000 + i,
			.kind = (enum export_mark_kind)i,
			.pid = 10,
			.tid = 10,
			.number = 11,
			.text = text,
			.left_text = text};
		assert_true(spool_append(&marks, &mark, sizeof(mark)));
	}
	view = (struct export_view){.profile = profile,
		.event = PROFILE_NONE,
		.marks = &marks,
		.mark_texts = &mark_texts,
		.about = {.program = STR("tally"),
			.version = STR("1"),
			.title = STR("perf.data"),
			.quality = STR("all"),
			.has_wall_clock = true},
		.has_times = true,
		.first_time = 1000,
		.last_time = 1000 + SAMPLES};
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	full_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	return null_fd < 0 || full_fd < 0;
}

static int tear_down(void **state)
{
	close(null_fd);
	close(full_fd);
	intern_deinit(&mark_texts);
	spool_deinit(&marks);
	profile_destroy(profile);
	return 0;
}

static const struct {
	const char *name;
	void (*write)(struct byte_sink *sink, const struct export_view *view);
	bool is_packed;
} formats[] = {
	{"folded", export_folded, false},
	{"speedscope", export_speedscope, false},
	{"pprof", export_pprof, true},
	{"otlp", export_otlp, false},
	{"otlp-json", export_otlp_json, false},
	{"firefox", export_firefox, true},
	{"callgrind", export_callgrind, false},
	{"chrome", export_chrome, false},
	{"perfetto", export_perfetto, false},
	{"json", export_json, false},
	{"csv", export_csv, false},
	{"html", report_page_write, false},
};

/* Calls write(index) with each allocation and all later ones failing: it reports the error, and leaves nothing
 * allocated. */
static void fail_each_allocation(enum tally_status (*write)(size_t index), size_t index)
{
	assert_int_equal(write(index), TALLY_OK); /* The first call makes the allocations that libraries retain. */
	bool has_failed = true;
	size_t n = 0;
	for (; has_failed; n++) {
		assert_true(n < 10000);
		failing_malloc_begin(n);
		enum tally_status status = write(index);
		has_failed = failing_malloc_end();
		assert_int_equal(failing_malloc_held(), 0);
		assert_int_equal(status, has_failed ? TALLY_NOMEM : TALLY_OK);
	}
	assert_true(n > 1);
}

static enum tally_status write_format(size_t index)
{
	struct byte_sink sink;
	byte_sink_init(&sink, null_fd, formats[index].is_packed);
	formats[index].write(&sink, &view);
	bool is_lost = byte_sink_is_lost(&sink);
	enum tally_status status = byte_sink_finish(&sink, "output", NULL);
	assert_true(!is_lost || status == TALLY_NOMEM);
	return status;
}

static void formats_without_memory(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		fail_each_allocation(write_format, i);
}

/* Enough for each table of labels to grow at a frame without symbol, which has a generated label. */
#define BINARIES 100

static struct profile *unnamed;

static void make_unnamed(void)
{
	struct profile_builder *b = profile_builder_create();
	uint32_t name = profile_builder_string(b, STR("cycles"));
	profile_builder_event(b, &(struct profile_event){.name = name, .member_count = 1});
	uint32_t thread = profile_builder_thread(b, &(struct profile_thread){10, 10, name, name, name, 0});
	for (unsigned i = 0; i < BINARIES; i++) {
		char text[32];
		snprintf(text, sizeof(text), "program%u", i);
		const struct profile_binary binary = {.name = profile_builder_string(b, str_from(text))};
		const struct profile_frame frame = {
			.function = PROFILE_NONE, .binary = profile_builder_binary(b, &binary), .address = i};
		const struct profile_sample sample = {.thread = thread,
			.leaf = profile_builder_frame(b, &frame),
			.stack = PROFILE_NONE,
			.count = 1,
			.period = 100};
		(void)profile_builder_sample(b, &sample);
	}
	assert_int_equal(profile_builder_finish(b, &unnamed, NULL), TALLY_OK);
}

static enum tally_status make_flame_tree(size_t index)
{
	const struct flame_options options = {.event = PROFILE_NONE};
	struct flame_tree tree;
	enum tally_status status = flame_tree_init(&tree, unnamed, &options, NULL);
	if (status == TALLY_OK)
		flame_tree_deinit(&tree);
	return status;
}

static void flame_trees_without_memory(void **state)
{
	make_unnamed();
	fail_each_allocation(make_flame_tree, 0);
	profile_destroy(unnamed);
}

static void formats_on_a_full_disk(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		struct byte_sink sink;
		struct tally_error err;
		byte_sink_init(&sink, full_fd, formats[i].is_packed);
		formats[i].write(&sink, &view);
		assert_int_equal(byte_sink_finish(&sink, "output", &err), TALLY_IO);
		assert_int_equal(err.errnum, ENOSPC);
	}
}

#if HAVE_SQLITE
static enum tally_status write_database(size_t index)
{
	sqlite3 *db = NULL;
	enum tally_status status = TALLY_NOMEM;
	if (sqlite3_open(":memory:", &db) == SQLITE_OK)
		status = export_sqlite_fill(db, &view, NULL);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	return status;
}

static void databases_without_memory(void **state)
{
	fail_each_allocation(write_database, 0);
}
#endif

static const uint32_t chart_rows[] = {0, 1};
static struct tracks tracks;
static const struct timechart_picture picture = {
	.tracks = &tracks, .rows = chart_rows, .row_count = 2, .title = STR("perf.data"), .program = STR("tally")};

static enum tally_status write_chart(size_t index)
{
	struct text out = {0};
	struct timechart_svg svg = {.width = 1000, .max_bytes = 1 << 20};
	bool is_done = index == 0 ? timechart_svg_write(&out, &picture, &svg) : timechart_html_write(&out, &picture);
	is_done = is_done && !out.failed;
	text_deinit(&out);
	return is_done ? TALLY_OK : TALLY_NOMEM;
}

static void timecharts_without_memory(void **state)
{
	tracks_init(&tracks, 1000);
	assert_int_equal(tracks_add(&tracks, TRACK_CPU, 0, 0), 0);
	assert_int_equal(tracks_add(&tracks, TRACK_TASK, 7, 7), 1);
	assert_true(tracks_name(&tracks, 1, 0, STR("worker")));
	for (uint64_t i = 0; i < 100; i++) {
		const struct track_span span = {.start_ns = 1000 * i + 1,
			.end_ns = 1000 * i + 900,
			.text = INTERN_NONE,
			.kind = i % 2 ? SPAN_RUNNING : SPAN_BLOCKED};
		assert_true(tracks_span(&tracks, i % 2 ? 0 : 1, &span));
	}
	assert_true(tracks_finish(&tracks));
	fail_each_allocation(write_chart, 0);
	fail_each_allocation(write_chart, 1);
	tracks_deinit(&tracks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_without_memory),
		cmocka_unit_test(flame_trees_without_memory),
		cmocka_unit_test(formats_on_a_full_disk),
#if HAVE_SQLITE
		cmocka_unit_test(databases_without_memory),
#endif
		cmocka_unit_test(timecharts_without_memory),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
