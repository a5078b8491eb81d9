/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that an existing recording is renamed before a new one is written, and that other files are left alone.
 */
#include "perfdata/old_recording.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "unit_test.h"

static char dir[] = "/tmp/tally-old-XXXXXX";

static const char *at(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(at(name), "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void assert_text(const char *name, const char *expected)
{
	char *text;
	size_t len;
	assert_int_equal(file_read(at(name), 100, &text, &len, NULL), TALLY_OK);
	assert_string_equal(text, expected);
	free(text);
}

static void make_directory(const char *name, const char *data)
{
	char path[64];
	assert_int_equal(mkdir(at(name), 0700), 0);
	snprintf(path, sizeof(path), "%s/data", name);
	write_text(path, data);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	return rmdir(dir); /* Fails if any file was left behind. */
}

/* The files of a recording are removed, and the directory unless it has other files. */
static void test_directories_that_go(void **state)
{
	static const char *const kept[] = {"d/data.", "d/data.1x", "d/data.x", "d/dat", "d/database", "d/x.data"};
	make_directory("d", "header");
	write_text("d/data.0", "");
	write_text("d/data.17", "");
	old_recording_remove_directory(at("d"));
	assert_false(file_exists(at("d")));
	old_recording_remove_directory(at("d")); /* The directory does not exist. */
	make_directory("d", "header");
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		write_text(kept[i], "");
	old_recording_remove_directory(at("d"));
	assert_false(file_exists(at("d/data")));
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		assert_true(file_exists(at(kept[i])));
		assert_int_equal(unlink(at(kept[i])), 0);
	}
	assert_int_equal(rmdir(at("d")), 0);
}

static void test_what_is_no_recording(void **state)
{
	char path[PATH_MAX + 8];
	assert_int_equal(old_recording_keep(at("p"), NULL), TALLY_OK); /* The file does not exist. */
	assert_false(file_exists(at("p.old")));
	write_text("p", "");
	assert_int_equal(old_recording_keep(at("p"), NULL), TALLY_OK);
	assert_false(file_exists(at("p.old")));
	assert_int_equal(unlink(at("p")), 0);
	assert_int_equal(mkdir(at("p"), 0700), 0); /* Not a recording. */
	assert_int_equal(old_recording_keep(at("p"), NULL), TALLY_OK);
	assert_true(file_exists(at("p")));
	assert_false(file_exists(at("p.old")));
	assert_int_equal(rmdir(at("p")), 0);
	assert_int_equal(mkfifo(at("p"), 0600), 0);
	assert_int_equal(old_recording_keep(at("p"), NULL), TALLY_OK);
	assert_false(file_exists(at("p.old")));
	assert_int_equal(unlink(at("p")), 0);
	/* The path is so long that nothing can be appended. */
	write_text("p", "recording");
	memset(path, '/', sizeof(path));
	memcpy(path, dir, strlen(dir));
	snprintf(path + PATH_MAX - 2, 3, "p");
	assert_int_equal(old_recording_keep(path, NULL), TALLY_INVALID);
	assert_text("p", "recording");
	assert_int_equal(unlink(at("p")), 0);
}

/* Recordings in files and in directories replace each other. */
static void test_what_is_kept(void **state)
{
	write_text("p", "first");
	assert_int_equal(old_recording_keep(at("p"), NULL), TALLY_OK);
	assert_false(file_exists(at("p")));
	assert_text("p.old", "first");
	make_directory("p", "second");
	assert_int_equal(old_recording_keep(at("p"), NULL), TALLY_OK);
	assert_false(file_exists(at("p")));
	assert_text("p.old/data", "second");
	make_directory("p", "third");
	write_text("p.old/data.1", "");
	assert_int_equal(old_recording_keep(at("p"), NULL), TALLY_OK);
	assert_text("p.old/data", "third");
	assert_false(file_exists(at("p.old/data.1")));
	write_text("p", "fourth");
	assert_int_equal(old_recording_keep(at("p"), NULL), TALLY_OK);
	assert_text("p.old", "fourth");
	assert_int_equal(unlink(at("p.old")), 0);
}

/* If p.old is a directory that is not a recording, the new recording is refused. */
static void test_no_room_for_the_old_one(void **state)
{
	struct tally_error err;
	write_text("p", "recording");
	assert_int_equal(mkdir(at("p.old"), 0700), 0);
	assert_int_equal(old_recording_keep(at("p"), &err), TALLY_IO);
	assert_non_null(strstr(err.text, at("p.old")));
	assert_text("p", "recording");
	assert_int_equal(rmdir(at("p.old")), 0);
	assert_int_equal(unlink(at("p")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directories_that_go),
		cmocka_unit_test(test_what_is_no_recording),
		cmocka_unit_test(test_what_is_kept),
		cmocka_unit_test(test_no_room_for_the_old_one),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
