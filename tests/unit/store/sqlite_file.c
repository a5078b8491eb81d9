/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the kinds of files that a store may find, and plain SQL on its tables. */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/file.h"
#include "store/store.h"
#include "store_maker.h"

static void assert_refused(const char *url, bool may_write, enum tally_status status, const char *sentence)
{
	struct store *store = NULL;
	struct tally_error err = {0};
	assert_int_equal(store_open(url, may_write, &store, &err), status);
	assert_null(store);
	if (!strstr(err.text, sentence))
		fail_msg("'%s' has no '%s'", err.text, sentence);
}

static void run_sql(const char *path, const char *sql)
{
	sqlite3 *db;
	char *message = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void urls_that_name_no_store_are_refused(void **state)
{
	assert_refused("sqlite:", true, TALLY_INVALID, "takes a file");
	assert_refused("/var/lib/x.db", true, TALLY_INVALID, "is not the URL of a store");
	assert_refused("sqlite:/nonexistent/folder/x.db", true, TALLY_IO, "No such file");
	struct test_store t = test_store_folder();
	assert_refused(t.url, false, TALLY_IO, "No such file");
	char folder[80];
	snprintf(folder, sizeof(folder), "sqlite:%s", t.folder);
	assert_refused(folder, true, TALLY_IO, "unable to open");
	test_store_close(&t);
}

/* SQLite gives some names a special meaning. */
static void any_name_is_a_file(void **state)
{
	struct test_store t = test_store_folder();
	char old[256];
	struct tally_error err;
	assert_non_null(getcwd(old, sizeof(old)));
	assert_int_equal(chdir(t.folder), 0);
	assert_int_equal(store_open("sqlite::memory:", true, &t.store, &err), TALLY_OK);
	assert_int_equal(access(":memory:", F_OK), 0);
	store_close(t.store);
	t.store = NULL;
	assert_int_equal(unlink(":memory:"), 0);
	(void)unlink(":memory:-wal");
	(void)unlink(":memory:-shm");
	assert_int_equal(chdir(old), 0);
	test_store_close(&t);
}

static void a_file_of_something_else_is_refused_and_kept(void **state)
{
	struct test_store t = test_store_folder();
	FILE *file = fopen(t.path, "w");
	for (int i = 0; i < 1000; i++)
		fputs("this is no database\n", file);
	fclose(file);
	assert_refused(t.url, true, TALLY_CORRUPT, "not a database");
	struct stat stat_after;
	assert_int_equal(stat(t.path, &stat_after), 0);
	assert_int_equal(stat_after.st_size, 20000);
	assert_int_equal(unlink(t.path), 0);
	run_sql(t.path, "CREATE TABLE mine (x)");
	assert_refused(t.url, true, TALLY_CORRUPT, "not one of tally");
	assert_refused(t.url, false, TALLY_CORRUPT, "not one of tally");
	test_store_close(&t);
}

static void the_id_is_the_stores(void **state)
{
	struct test_store t = test_store_open(), other = test_store_open();
	uint8_t id[STORE_ID_BYTES];
	memcpy(id, store_id(t.store), sizeof(id));
	assert_memory_not_equal(id, store_id(other.store), sizeof(id));
	store_close(t.store);
	t.store = test_store_reopen(&t, true);
	assert_memory_equal(id, store_id(t.store), sizeof(id));
	test_store_close(&t);
	test_store_close(&other);
}

static void tables_of_a_newer_version_are_refused(void **state)
{
	struct test_store t = test_store_open();
	store_close(t.store);
	t.store = NULL;
	run_sql(t.path, "UPDATE store SET schema_version = 2");
	assert_refused(t.url, true, TALLY_UNSUPPORTED, "a newer tally made");
	assert_refused(t.url, false, TALLY_UNSUPPORTED, "a newer tally made");
	run_sql(t.path, "DELETE FROM store");
	assert_refused(t.url, true, TALLY_CORRUPT, "is damaged");
	test_store_close(&t);
}

static void an_empty_file_is_filled_but_not_by_readers(void **state)
{
	struct test_store t = test_store_folder();
	int fd = open(t.path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0 && close(fd) == 0);
	assert_refused(t.url, false, TALLY_NOT_FOUND, "is empty");
	t.store = test_store_reopen(&t, true);
	test_store_add(&t, &(struct batch_recipe){.number = 1, .samples = 5});
	test_store_close(&t);
}

/* Overwrites each page of the file in turn: the result is an error message, or the correct answer. */
static void damage_gives_a_sentence_or_the_answer(void **state)
{
	struct test_store t = test_store_open();
	for (unsigned i = 0; i < 4; i++)
		test_store_add(&t, &(struct batch_recipe){.number = i, .samples = 400, .seed = i, .labels = "host=a"});
	char *whole = test_store_text(t.store, true);
	store_close(t.store);
	t.store = NULL;
	int fd = open(t.path, O_RDWR);
	off_t size = lseek(fd, 0, SEEK_END);
	unsigned errors = 0, pages = 0;
	for (off_t page = 0; page < size; page += 4096, pages++) {
		uint8_t kept[4096], noise[4096];
		assert_int_equal(pread(fd, kept, sizeof(kept), page), sizeof(kept));
		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (uint8_t)(i * 7 + (size_t)page / 4096);
		assert_int_equal(pwrite(fd, noise, sizeof(noise), page), sizeof(noise));
		struct store *store = NULL;
		struct tally_error err = {0};
		struct fleet_batch *batch = NULL;
		enum tally_status status = store_open(t.url, page % 8192 == 0, &store, &err);
		const struct store_selection all = {.end_ns = UINT64_MAX, .by_thread = true};
		if (status == TALLY_OK)
			status = store_query(store, &all, &batch, &err);
		if (status == TALLY_OK) {
			struct batch_lines lines = {0};
			batch_lines_add(&lines, batch, true);
			char *text = batch_lines_text(&lines);
			assert_string_equal(text, whole);
			free(text);
			batch_lines_free(&lines);
		} else {
			assert_true(strlen(err.text) > 20);
			errors++;
		}
		fleet_batch_destroy(batch);
		store_close(store);
		assert_int_equal(pwrite(fd, kept, sizeof(kept), page), sizeof(kept));
	}
	assert_true(errors > pages / 4);
	assert_int_equal(close(fd), 0);
	t.store = test_store_reopen(&t, false);
	char *again = test_store_text(t.store, true);
	assert_string_equal(again, whole);
	free(again);
	free(whole);
	test_store_close(&t);
}

static void readers_do_not_write(void **state)
{
	struct test_store t = test_store_open();
	struct fleet_batch *batch = batch_make(&(struct batch_recipe){.number = 1, .samples = 5});
	struct store *reader = test_store_reopen(&t, false);
	struct store_receipt receipt;
	struct tally_error err;
	uint64_t removed;
	assert_int_equal(
		store_ingest(reader, (const struct fleet_batch *const[]){batch}, 1, &receipt, &err), TALLY_DENIED);
	assert_non_null(strstr(err.text, "readonly"));
	assert_int_equal(store_retain(reader, 1, 0, &removed, &err), TALLY_DENIED);
	/* Additions of the writer are visible at once. */
	test_store_ingest(t.store, batch);
	assert_int_equal(test_store_figures(reader).samples, 5);
	fleet_batch_destroy(batch);
	store_close(reader);
	test_store_close(&t);
}

/* The file contains profiles of programs of other users. */
static void only_the_owner_can_read_a_new_file(void **state)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	mode_t before = umask(0022);
	struct test_store t = test_store_open();
	test_store_add(&t, &(struct batch_recipe){.number = 1, .samples = 5});
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		char name[96];
		struct stat file;
		snprintf(name, sizeof(name), "%s%s", t.path, suffixes[i]);
		assert_int_equal(stat(name, &file), 0);
		assert_int_equal(file.st_mode & 0777, 0600);
	}
	assert_string_equal(store_file(t.store), t.path);
	/* The owner determines the mode of an existing file. */
	assert_int_equal(chmod(t.path, 0644), 0);
	store_close(t.store);
	t.store = test_store_reopen(&t, true);
	struct stat kept;
	assert_int_equal(stat(t.path, &kept), 0);
	assert_int_equal(kept.st_mode & 0777, 0644);
	umask(before);
	test_store_close(&t);
}

/* The file may come from an untrusted source. */
static void triggers_of_the_file_do_nothing(void **state)
{
	struct test_store t = test_store_open();
	store_close(t.store);
	run_sql(t.path, "CREATE TRIGGER evil AFTER INSERT ON batches BEGIN DELETE FROM batches; END");
	t.store = test_store_reopen(&t, true);
	test_store_add(&t, &(struct batch_recipe){.number = 1, .samples = 5});
	store_close(t.store);
	t.store = NULL;
	run_sql(t.path, "CREATE TABLE one (x CHECK (x = 1)); INSERT INTO one SELECT count(*) FROM batches");
	test_store_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls_that_name_no_store_are_refused),
		cmocka_unit_test(any_name_is_a_file),
		cmocka_unit_test(a_file_of_something_else_is_refused_and_kept),
		cmocka_unit_test(the_id_is_the_stores),
		cmocka_unit_test(tables_of_a_newer_version_are_refused),
		cmocka_unit_test(an_empty_file_is_filled_but_not_by_readers),
		cmocka_unit_test(damage_gives_a_sentence_or_the_answer),
		cmocka_unit_test(readers_do_not_write),
		cmocka_unit_test(only_the_owner_can_read_a_new_file),
		cmocka_unit_test(triggers_of_the_file_do_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
