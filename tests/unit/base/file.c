/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "unit_test.h"

static char folder[] = "/tmp/tally-file-XXXXXX";
static char path[200];

static int make_folder(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[100];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const void *data, size_t len)
{
	int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, data, len, NULL), TALLY_OK);
	close(fd);
}

static void maps_files(void **state)
{
	put("five", "12345", 5);
	struct file_map map;
	struct tally_error err;
	assert_int_equal(file_map_open(in_folder("five"), &map, &err), TALLY_OK);
	assert_true(bytes_equal(map.bytes, (struct tally_bytes){(const uint8_t *)"12345", 5}));
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(map.inode, st.st_ino);
	file_map_close(&map);
	assert_null(map.bytes.data);

	put("empty", "", 0);
	assert_int_equal(file_map_open(in_folder("empty"), &map, &err), TALLY_OK);
	assert_int_equal(map.bytes.len, 0);
	file_map_close(&map);
}

static void a_kept_file_is_read_into_room(void **state)
{
	struct file_map map;
	uint8_t room[3];
	put("five", "12345", 5);
	assert_int_equal(file_map_open(in_folder("five"), &map, NULL), TALLY_OK);
	struct tally_bytes part = {map.bytes.data + 1, sizeof(room)};
	assert_ptr_equal(file_map_view(&map, part, room).data, part.data);
	file_map_close(&map);

	assert_int_equal(file_map_open_kept(in_folder("five"), &map, NULL), TALLY_OK);
	part.data = map.bytes.data + 1;
	assert_ptr_equal(file_map_view(&map, part, room).data, room);
	assert_memory_equal(room, "234", sizeof(room));
	const uint8_t other[sizeof(room)] = "abc"; /* Views of other memory are returned unchanged. */
	part.data = other;
	assert_ptr_equal(file_map_view(&map, part, room).data, other);
	assert_int_equal(truncate(in_folder("five"), 2), 0);
	part.data = map.bytes.data + 1;
	assert_memory_equal(file_map_view(&map, part, room).data, "2\0\0", sizeof(room));
	file_map_close(&map);
}

static void what_is_no_file_is_refused(void **state)
{
	struct file_map map = {.inode = 7};
	struct tally_error err;
	assert_int_equal(file_map_open(folder, &map, &err), TALLY_INVALID);
	assert_int_equal(file_map_open("/dev/zero", &map, &err), TALLY_INVALID);
	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	assert_int_equal(file_map_open(path, &map, &err), TALLY_INVALID);
	assert_int_equal(file_map_open(in_folder("missing"), &map, &err), TALLY_NOT_FOUND);
	assert_non_null(strstr(err.text, "missing: No such file"));
	assert_int_equal(map.inode, 7);
}

static void reads_up_to_the_limit(void **state)
{
	size_t size = 300000;
	char *data = malloc(size);
	for (size_t i = 0; i < size; i++)
		data[i] = (char)('a' + i % 26);
	put("big", data, size);
	struct tally_error err;
	char *back = NULL;
	size_t len = 0;
	assert_int_equal(file_read(in_folder("big"), size - 1, &back, &len, &err), TALLY_LIMIT);
	assert_null(back);
	assert_int_equal(file_read(in_folder("big"), size, &back, &len, &err), TALLY_OK);
	assert_int_equal(len, size);
	assert_memory_equal(back, data, size);
	assert_int_equal(back[len], 0);
	free(back);
	free(data);
	back = NULL;
	assert_int_equal(file_read("/proc/self/status", LIMIT_SMALL_FILE, &back, &len, &err), TALLY_OK);
	assert_int_equal(memcmp(back, "Name:", 5), 0);
	free(back);
	assert_int_equal(file_read(folder, 100, &back, &len, &err), TALLY_IO);
	assert_int_equal(file_read(in_folder("none"), 100, &back, &len, &err), TALLY_NOT_FOUND);
}

static void writes_at_a_place(void **state)
{
	put("at", "abcdef", 6);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(file_write_all_at(fd, "XY", 2, 5, NULL), TALLY_OK);
	close(fd);
	char *back;
	size_t len;
	assert_int_equal(file_read(path, 100, &back, &len, NULL), TALLY_OK);
	assert_string_equal(back, "abcdeXY");
	free(back);
	struct tally_error err;
	assert_int_equal(file_write_all(-1, "x", 1, &err), TALLY_IO);
	assert_string_equal(err.text, "write: Bad file descriptor");
}

static void a_file_is_asked_by_ioctl(void **state)
{
	int ends[2], waiting = 0;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "abc", 3), 3);
	assert_int_equal(file_ioctl(ends[0], FIONREAD, &waiting), 0);
	assert_int_equal(waiting, 3);
	close(ends[0]);
	close(ends[1]);
	errno = 0;
	assert_int_equal(file_ioctl(-1, FIONREAD, &waiting), -1);
	assert_int_equal(errno, EBADF);
}

static void parents_are_made(void **state)
{
	struct tally_error err;
	assert_int_equal(file_make_parents(in_folder("a/b/c/file"), &err), TALLY_OK);
	assert_int_equal(file_make_parents(path, &err), TALLY_OK);
	assert_true(file_exists(in_folder("a/b/c")));
	assert_false(file_exists(in_folder("a/b/c/file")));
	put("plain", "x", 1);
	assert_int_not_equal(file_make_parents(in_folder("plain/x/y"), &err), TALLY_OK);
	assert_non_null(strstr(err.text, "plain"));
}

static mode_t mode_of(const char *name)
{
	struct stat st;
	assert_int_equal(stat(in_folder(name), &st), 0);
	return st.st_mode & 07777;
}

static void private_files_are_their_owners(void **state)
{
	struct tally_error err;
	mode_t before = umask(0022);
	assert_int_equal(file_make_private_parents(in_folder("secret/deep/file"), &err), TALLY_OK);
	file_make_private(in_folder("secret/deep/file"));
	assert_int_equal(mode_of("secret"), 0700);
	assert_int_equal(mode_of("secret/deep"), 0700);
	assert_int_equal(mode_of("secret/deep/file"), 0600);
	file_make_private(in_folder("nosuch/file")); /* The error is left to the next open of the file. */
	put("open", "x", 1);
	assert_int_equal(chmod(in_folder("open"), 0644), 0);
	file_make_private(in_folder("open")); /* The file stays as it is. */
	assert_int_equal(mode_of("open"), 0644);
	/* Other users must be able to reach the file, too. */
	assert_int_equal(chmod(folder, 0755), 0);
	assert_true(file_is_exposed(in_folder("open")));
	assert_int_equal(chmod(folder, 0700), 0);
	assert_false(file_is_exposed(in_folder("open")));
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(chmod(in_folder("open"), 0640), 0);
	assert_false(file_is_exposed(in_folder("open")));
	assert_false(file_is_exposed(in_folder("nosuch")));
	umask(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_files),
		cmocka_unit_test(private_files_are_their_owners),
		cmocka_unit_test(a_kept_file_is_read_into_room),
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(reads_up_to_the_limit),
		cmocka_unit_test(writes_at_a_place),
		cmocka_unit_test(a_file_is_asked_by_ioctl),
		cmocka_unit_test(parents_are_made),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
