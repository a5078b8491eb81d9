/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/build_id_cache.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/writer.h"
#include "unit_test.h"

struct fixture {
	char root[64]; /* Temporary directory of the sources and the cache. */
	char source[128];
	struct build_id_cache cache;
	struct elf_build_id id;
};

static void put_bytes(const char *path, struct tally_bytes bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.data, bytes.len), (ssize_t)bytes.len);
	close(fd);
}

/* Writes an ELF file of this machine that has only a note. */
static void put_elf(const char *path, const struct elf_build_id *id)
{
	struct writer w = {0};
	writer_bytes(&w, "\177ELF\2\1\1\0\0\0\0\0\0\0\0", 16);
	writer_u16(&w, 2);
	writer_u16(&w, 62);
	writer_u32(&w, 1);
	writer_u64(&w, 0);
	writer_u64(&w, 64); /* Offset of the program headers. */
	writer_u64(&w, 0);
	writer_u32(&w, 0);
	writer_u16(&w, 64);
	writer_u16(&w, 56);
	writer_u16(&w, 1);
	writer_zeros(&w, 6);
	writer_u32(&w, 4); /* PT_NOTE */
	writer_u32(&w, 4);
	writer_u64(&w, 120);
	writer_zeros(&w, 16);
	writer_u64(&w, 16 + id->size);
	writer_u64(&w, 16 + id->size);
	writer_u64(&w, 4);
	writer_u32(&w, 4);
	writer_u32(&w, id->size);
	writer_u32(&w, 3);
	writer_bytes(&w, "GNU", 4);
	writer_bytes(&w, id->bytes, id->size);
	put_bytes(path, writer_view(&w));
	writer_deinit(&w);
}

static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char dir[128];
	if (!f)
		return -1;
	snprintf(f->root, sizeof(f->root), "/tmp/tally-cache-XXXXXX");
	if (!mkdtemp(f->root)) {
		free(f);
		return -1;
	}
	f->id = (struct elf_build_id){.size = 20, .bytes = {0xab, 0xcd, 1, 2, 3}};
	snprintf(f->source, sizeof(f->source), "%s/source", f->root);
	put_elf(f->source, &f->id);
	snprintf(dir, sizeof(dir), "%s/made/cache", f->root);
	*state = f;
	return build_id_cache_init(&f->cache, dir, NULL) == TALLY_OK ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static int end(void **state)
{
	struct fixture *f = *state;
	int code = nftw(f->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return code;
}

static bool is_there(const struct fixture *f, const char *below)
{
	char path[PATH_MAX + 256];
	struct stat st;
	snprintf(path, sizeof(path), "%s/%s", f->cache.dir, below);
	return stat(path, &st) == 0;
}

#define HEX "abcd010203000000000000000000000000000000"

static void adds_lists_and_removes(void **state)
{
	struct fixture *f = *state;
	struct build_id_cache_list list;
	assert_false(build_id_cache_has(&f->cache, &f->id));
	assert_int_equal(build_id_cache_read(&f->cache, &list, NULL), TALLY_OK);
	assert_int_equal(list.entries.len, 0);
	build_id_cache_list_deinit(&list);
	for (int turn = 0; turn < 2; turn++) /* The second round replaces the entry. */
		assert_int_equal(build_id_cache_add(&f->cache, STR("/usr/bin/x y"), &f->id, f->source, NULL), TALLY_OK);
	assert_true(is_there(f, "usr/bin/x y/" HEX "/elf"));
	assert_true(is_there(f, ".build-id/ab/cd010203000000000000000000000000000000/elf"));
	assert_false(is_there(f, ".build-id/ab/.tmp"));
	assert_true(build_id_cache_has(&f->cache, &f->id));
	assert_int_equal(build_id_cache_read(&f->cache, &list, NULL), TALLY_OK);
	assert_int_equal(list.entries.len, 1);
	assert_true(str_equal(list.entries.items[0].name, STR("/usr/bin/x y")));
	assert_memory_equal(list.entries.items[0].id.bytes, f->id.bytes, 20);
	build_id_cache_list_deinit(&list);
	assert_int_equal(build_id_cache_remove(&f->cache, &f->id, NULL), TALLY_OK);
	assert_false(is_there(f, "usr/bin/x y/" HEX));
	assert_false(build_id_cache_has(&f->cache, &f->id));
	assert_int_equal(build_id_cache_remove(&f->cache, &f->id, NULL), TALLY_NOT_FOUND);
}

/* A build ID is not trusted: the owner of an entry is checked, and files that other users can change are not opened. */
static void what_others_can_change_is_not_opened(void **state)
{
	struct fixture *f = *state;
	struct tally_error err;
	char elf[4096 + 128];
	int fd = -1;
	assert_int_equal(build_id_cache_add(&f->cache, STR("/usr/bin/x"), &f->id, f->source, NULL), TALLY_OK);
	assert_true(build_id_cache_is_of(&f->cache, &f->id, STR("/usr/bin/x")));
	assert_false(build_id_cache_is_of(&f->cache, &f->id, STR("/usr/bin/y")));
	(void)snprintf(elf, sizeof(elf), "%s/usr/bin/x/" HEX "/elf", f->cache.dir);
	assert_int_equal(build_id_cache_open(&f->cache, &f->id, "elf", &fd, &err), TALLY_OK);
	assert_true(build_id_cache_is_trusted(fd));
	close(fd);
	assert_int_equal(chmod(elf, 0777), 0);
	assert_int_equal(build_id_cache_open(&f->cache, &f->id, "elf", &fd, &err), TALLY_INVALID);
	assert_non_null(strstr(err.text, "can be changed by other users"));
	assert_int_equal(chmod(elf, 0755), 0);
	/* Root of a user namespace may have no other users. */
	if (geteuid() == 0 && chown(elf, 12345, 12345) == 0)
		assert_int_equal(build_id_cache_open(&f->cache, &f->id, "elf", &fd, &err), TALLY_INVALID);
}

static void names_do_not_lead_out(void **state)
{
	struct fixture *f = *state;
	static const char *const bad[] = {"", "/", "x", "../x", "/..", "/../x", "/a/../../x", "/a/..", "/a//b", "/./a",
		"/a/", "[a/b]", "[../x]", "/.build-id/ab", "[", "a]"};
	static const char *const good[] = {"/a", "/usr/bin/..x", "/a/...", "[vdso]", "[kernel.kallsyms]", "/a b"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_false(build_id_cache_name_is_safe(str_from(bad[i])));
		assert_int_equal(
			build_id_cache_add(&f->cache, str_from(bad[i]), &f->id, f->source, NULL), TALLY_INVALID);
	}
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_true(build_id_cache_name_is_safe(str_from(good[i])));
	assert_false(build_id_cache_name_is_safe((struct tally_str){"/a\0b", 4}));
	assert_false(is_there(f, "."));
}

static void only_files_of_that_id_are_added(void **state)
{
	struct fixture *f = *state;
	struct elf_build_id other = f->id, none = {.size = 0};
	char path[256];
	struct tally_error err;
	other.bytes[0] = 1;
	assert_int_equal(build_id_cache_add(&f->cache, STR("/x"), &other, f->source, &err), TALLY_INVALID);
	assert_int_equal(build_id_cache_add(&f->cache, STR("/x"), &none, f->source, &err), TALLY_INVALID);
	snprintf(path, sizeof(path), "%s/link", f->root);
	assert_int_equal(symlink(f->source, path), 0);
	assert_int_not_equal(build_id_cache_add(&f->cache, STR("/x"), &f->id, path, &err), TALLY_OK);
	snprintf(path, sizeof(path), "%s/fifo", f->root);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(build_id_cache_add(&f->cache, STR("/x"), &f->id, path, &err), TALLY_INVALID);
	assert_int_equal(build_id_cache_add(&f->cache, STR("/x"), &f->id, f->root, &err), TALLY_INVALID);
	assert_int_equal(build_id_cache_add(&f->cache, STR("/x"), &f->id, "/nonexistent", &err), TALLY_NOT_FOUND);
	assert_false(is_there(f, "."));
}

static void links_inside_are_not_followed(void **state)
{
	struct fixture *f = *state;
	char outside[256], path[PATH_MAX + 64];
	assert_int_equal(build_id_cache_add(&f->cache, STR("/a/x"), &f->id, f->source, NULL), TALLY_OK);
	snprintf(outside, sizeof(outside), "%s/outside", f->root);
	assert_int_equal(mkdir(outside, 0700), 0);
	snprintf(path, sizeof(path), "%s/b", f->cache.dir);
	assert_int_equal(symlink(outside, path), 0);
	assert_int_not_equal(build_id_cache_add(&f->cache, STR("/b/x"), &f->id, f->source, NULL), TALLY_OK);
	assert_int_equal(rmdir(outside), 0); /* The directory is still empty. */
	/* A link in the index that points outside is not an entry, and its target is not removed. */
	snprintf(path, sizeof(path), "%s/.build-id/ab/cd010203000000000000000000000000000000", f->cache.dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("../../../../etc/" HEX, path), 0);
	assert_false(build_id_cache_has(&f->cache, &f->id));
	assert_int_equal(build_id_cache_remove(&f->cache, &f->id, NULL), TALLY_NOT_FOUND);
}

static void trimming_takes_the_oldest_first(void **state)
{
	struct fixture *f = *state;
	struct build_id_cache_list list;
	char path[PATH_MAX + 256];
	size_t removed;
	for (uint8_t i = 1; i <= 3; i++) {
		char name[8];
		f->id.bytes[0] = i;
		snprintf(name, sizeof(name), "/f%u", i);
		(void)unlink(f->source); /* Only the cache holds the file. */
		put_elf(f->source, &f->id);
		assert_int_equal(build_id_cache_add(&f->cache, str_from(name), &f->id, f->source, NULL), TALLY_OK);
		snprintf(path, sizeof(path), "%s%s/0%ucd010203000000000000000000000000000000", f->cache.dir, name, i);
		struct timespec times[2] = {{.tv_sec = 1000 - i}, {.tv_sec = 1000 - i}};
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	(void)unlink(f->source);
	assert_int_equal(build_id_cache_read(&f->cache, &list, NULL), TALLY_OK);
	assert_int_equal(list.entries.len, 3);
	uint64_t each = list.entries.items[0].bytes;
	assert_true(each > 0);
	build_id_cache_list_deinit(&list);
	assert_int_equal(build_id_cache_trim(&f->cache, 3 * each, &removed, NULL), TALLY_OK);
	assert_int_equal(removed, 0);
	assert_int_equal(build_id_cache_trim(&f->cache, each, &removed, NULL), TALLY_OK);
	assert_int_equal(removed, 2);
	assert_int_equal(build_id_cache_read(&f->cache, &list, NULL), TALLY_OK);
	assert_int_equal(list.entries.len, 1);
	assert_int_equal(list.entries.items[0].id.bytes[0], 1); /* The newest entry. */
	build_id_cache_list_deinit(&list);
}

static void relative_folders_are_read_only(void **state)
{
	struct fixture *f = *state;
	struct build_id_cache_list list;
	assert_int_equal(build_id_cache_init(&f->cache, "no/such", NULL), TALLY_OK);
	assert_int_equal(build_id_cache_add(&f->cache, STR("/x"), &f->id, f->source, NULL), TALLY_INVALID);
	assert_int_equal(build_id_cache_read(&f->cache, &list, NULL), TALLY_OK);
	assert_int_equal(list.entries.len, 0);
	build_id_cache_list_deinit(&list);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(adds_lists_and_removes),
		TEST(names_do_not_lead_out),
		TEST(what_others_can_change_is_not_opened),
		TEST(only_files_of_that_id_are_added),
		TEST(links_inside_are_not_followed),
		TEST(trimming_takes_the_oldest_first),
		TEST(relative_folders_are_read_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
