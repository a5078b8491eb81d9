/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which data is removed from a store, and which stays. */
#include <sqlite3.h>
#include <sys/stat.h>

#include "store/store.h"
#include "store_maker.h"

#define HOUR UINT64_C(3600000000000)

static int64_t sql_number(const struct test_store *t, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *row;
	assert_int_equal(sqlite3_open_v2(t->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(row), SQLITE_ROW);
	int64_t number = sqlite3_column_int64(row, 0);
	assert_int_equal(sqlite3_finalize(row), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	return number;
}

static uint64_t retain(struct test_store *t, uint64_t oldest_ns, uint64_t max_bytes)
{
	uint64_t removed = UINT64_MAX, sum = 0;
	struct tally_error err = {0};
	while (removed > 0) {
		if (store_retain(t->store, oldest_ns, max_bytes, &removed, &err) != TALLY_OK)
			fail_msg("%s", err.text);
		sum += removed;
	}
	return sum;
}

static void add_hours(struct test_store *t, unsigned first, unsigned end, const char *names)
{
	for (unsigned i = first; i < end; i++) {
		char profile[400], labels[64], sets[64];
		snprintf(labels, sizeof(labels), "host=h%u", i / 4);
		snprintf(sets, sizeof(sets), "%s%u:service=s%u", names, i, i);
		snprintf(profile, sizeof(profile),
			"event cycles\n%s%u %u/%u 0 0 5 main@x;%s%u@lib%s%u#f.c:%u\nboth 9/9 0 0 1 main@x;leaf@x\n",
			names, i, i + 1, i + 1, names, i, names, i, i + 1);
		test_store_add(t,
			&(struct batch_recipe){
				.number = i, .begin_ns = i * HOUR, .labels = labels, .sets = sets, .profile = profile});
	}
}

/* Rows that only old windows used are removed, and rows that others use are retained. */
static void old_windows_and_what_they_used_go(void **state)
{
	struct test_store t = test_store_open();
	static const char *const tables[] = {"label_sets", "names", "binaries", "locations", "frame_rows", "stacks",
		"threads", "batches", "series", "parts", "sample_rows"};
	add_hours(&t, 0, 40, "old");
	add_hours(&t, 40, 50, "new");
	assert_int_equal(sql_number(&t, "SELECT count(*) FROM stacks"), 51);
	assert_int_equal(retain(&t, 0, 0), 0);
	assert_int_equal(test_store_figures(t.store).batches, 50);
	/* One hour more, because data may be marked as used an hour too early. */
	assert_int_equal(retain(&t, 42 * HOUR, 0), 42);
	struct store_figures figures = test_store_figures(t.store);
	assert_int_equal(figures.batches, 8);
	assert_int_equal(figures.samples, 16);
	assert_int_equal(figures.first_ns, 42 * HOUR);
	assert_int_equal(figures.stacks, sql_number(&t, "SELECT count(*) FROM stacks"));
	assert_int_equal(figures.locations, sql_number(&t, "SELECT count(*) FROM locations"));
	assert_int_equal(sql_number(&t, "SELECT count(*) FROM names WHERE text LIKE 'old%'"), 0);
	assert_int_equal(sql_number(&t, "SELECT count(*) FROM names WHERE text LIKE 'new%'"), 9);
	assert_int_equal(sql_number(&t, "SELECT count(*) FROM binaries WHERE name LIKE 'libold%'"), 0);
	assert_int_equal(sql_number(&t, "SELECT count(*) FROM binaries"), 10);
	assert_int_equal(sql_number(&t, "SELECT count(*) FROM threads WHERE comm LIKE 'old%'"), 0);
	assert_int_equal(sql_number(&t, "SELECT count(*) FROM label_sets WHERE value = 's39' OR value = 'h9'"), 0);
	assert_int_equal(sql_number(&t, "SELECT count(*) FROM sample_rows"), 16);
	struct batch_lines lines = {0};
	char *text = test_store_text(t.store, true);
	assert_null(strstr(text, "old"));
	assert_non_null(strstr(text, "service=s49"));
	free(text);
	batch_lines_free(&lines);
	assert_int_equal(retain(&t, UINT64_MAX, 0), 8);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		char sql[64];
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", tables[i]);
		assert_int_equal(sql_number(&t, sql), 0);
	}
	figures = test_store_figures(t.store);
	assert_true(figures.batches == 0 && figures.samples == 0 && figures.stacks == 0 && figures.locations == 0);
	/* The store can still be used. */
	add_hours(&t, 1, 3, "again");
	assert_int_equal(test_store_figures(t.store).samples, 4);
	test_store_close(&t);
}

/* A stack that all windows share is updated at most once an hour, and stays as long as any of them. */
static void what_is_used_now_and_then_stays(void **state)
{
	struct test_store t = test_store_open();
	for (unsigned i = 0; i < 30; i++) {
		test_store_add(&t, &(struct batch_recipe){.number = i,
					   .begin_ns = i * HOUR / 4,
					   .labels = "host=a",
					   .profile = "event cycles\nx 9/9 0 0 1 main@x;leaf@x\n"});
		(void)retain(&t, i < 5 ? 0 : (i - 5) * HOUR / 4, 0);
		char *text = test_store_text(t.store, true);
		assert_non_null(strstr(text, "leaf"));
		assert_non_null(strstr(text, "host=a"));
		free(text);
	}
	/* Late batches of earlier times are added, too. */
	test_store_add(&t, &(struct batch_recipe){.number = 100,
				   .begin_ns = 0,
				   .labels = "host=late",
				   .profile = "event cycles\nx 9/9 0 0 1 main@x;late@y\n"});
	(void)retain(&t, 0, 0);
	char *text = test_store_text(t.store, true);
	assert_non_null(strstr(text, "host=late"));
	assert_non_null(strstr(text, "late[2000"));
	free(text);
	test_store_close(&t);
}

static uint64_t file_bytes(const struct test_store *t)
{
	struct stat now;
	assert_int_equal(stat(t->path, &now), 0);
	return (uint64_t)now.st_size;
}

static void the_file_shrinks_to_its_limit(void **state)
{
	struct test_store t = test_store_open();
	for (unsigned i = 0; i < 60; i++)
		test_store_add(
			&t, &(struct batch_recipe){
				    .number = i, .begin_ns = i * HOUR, .labels = "host=a", .seed = i, .samples = 1000});
	uint64_t whole = test_store_figures(t.store).bytes, most = whole / 2;
	uint64_t removed = retain(&t, 0, most);
	struct store_figures figures = test_store_figures(t.store);
	assert_true(removed > 15 && removed < 45);
	assert_int_equal(figures.batches, 60 - removed);
	assert_int_equal(figures.first_ns, removed * HOUR); /* The oldest ones were removed. */
	assert_true(figures.bytes <= most && figures.bytes > most / 2);
	assert_int_equal(file_bytes(&t), figures.bytes);
	/* Nothing more is removed. */
	assert_int_equal(retain(&t, 0, most), 0);
	/* Removal by age shrinks the file, too. */
	assert_int_equal(retain(&t, 59 * HOUR, 0), 59 - removed);
	assert_true(file_bytes(&t) < whole / 4);
	/* With a limit that is too small for anything, everything is removed, without an endless loop. */
	assert_int_equal(retain(&t, 0, 1), 1);
	assert_int_equal(test_store_figures(t.store).batches, 0);
	test_store_close(&t);
}

static void a_removed_batch_may_come_again(void **state)
{
	struct test_store t = test_store_open();
	const struct batch_recipe recipe = {.number = 1, .begin_ns = HOUR, .samples = 20};
	struct batch_recipe without = {.number = 2, .begin_ns = 9 * HOUR, .samples = 20, .leaves_out = true};
	test_store_add(&t, &recipe);
	assert_int_equal(retain(&t, 2 * HOUR, 0), 1);
	/* Its symbols were removed as well: an agent that omits them is told to send them. */
	assert_true(test_store_add(&t, &without).lacks_symbols);
	assert_int_equal(test_store_add(&t, &recipe).samples, 20);
	assert_int_equal(test_store_add(&t, &without).samples, 20);
	test_store_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_windows_and_what_they_used_go),
		cmocka_unit_test(what_is_used_now_and_then_stays),
		cmocka_unit_test(the_file_shrinks_to_its_limit),
		cmocka_unit_test(a_removed_batch_may_come_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
