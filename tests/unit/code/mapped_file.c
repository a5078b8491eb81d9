/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the file of a mapping is distinguished from other files at its path, with mappings of this process. */
#include "code/binaries/mapped_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "unit_test.h"

#define MAP_BYTES 4096

/* A mapping of this process, of a file at a path. */
struct fixture {
	char folder[32], path[64], other[64];
	void *at;
	struct stat st;
	struct mapped_file file;
};

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	strcpy(f->folder, "/tmp/tally-mapped-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	(void)snprintf(f->path, sizeof(f->path), "%s/file", f->folder);
	(void)snprintf(f->other, sizeof(f->other), "%s/other", f->folder);
	put(f->path, "mapped");
	int fd = open(f->path, O_RDONLY);
	f->at = mmap(NULL, MAP_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(f->at, MAP_FAILED);
	assert_int_equal(fstat(fd, &f->st), 0);
	close(fd);
	f->file = (struct mapped_file){.pid = getpid(),
		.start = (uintptr_t)f->at,
		.end = (uintptr_t)f->at + MAP_BYTES,
		.path = f->path,
		.major = major(f->st.st_dev),
		.minor = minor(f->st.st_dev),
		.inode = f->st.st_ino};
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	munmap(f->at, MAP_BYTES);
	(void)unlink(f->path);
	(void)unlink(f->other);
	(void)rmdir(f->folder);
	free(f);
	return 0;
}

static void assert_opened(const struct mapped_file *file, const char *text)
{
	char bytes[16] = "";
	int fd = mapped_file_open(file);
	if (!text) {
		assert_int_equal(fd, -1);
		return;
	}
	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), strlen(text));
	assert_memory_equal(bytes, text, strlen(text));
	close(fd);
}

static void test_the_file_at_its_path(void **state)
{
	struct fixture *f = *state;
	assert_opened(&f->file, "mapped");
	f->file.pid = -1;
	assert_opened(&f->file, "mapped");
	f->file.inode++;
	assert_opened(&f->file, NULL);
	f->file.inode = 0; /* The file has no inode that would identify it. */
	assert_opened(&f->file, NULL);
}

/* The inode of a removed file may be reused by the next one. */
static void test_the_generation_of_its_inode(void **state)
{
	struct fixture *f = *state;
	long generation = 0;
	int fd = open(f->path, O_RDONLY);
	bool is_told = ioctl(fd, FS_IOC_GETVERSION, &generation) == 0 && generation != 0;
	close(fd);
	if (!is_told) {
		print_message("this file system tells no generation\n");
		skip();
	}
	f->file.generation = (uint32_t)generation;
	assert_opened(&f->file, "mapped");
	f->file.generation ^= 1;
	assert_opened(&f->file, NULL);
}

/* Another file has replaced it: only /proc/PID/map_files leads to the mapped one, if access is permitted. */
static void test_another_file_at_its_path(void **state)
{
	struct fixture *f = *state;
	char link[64];
	struct stat st;
	put(f->other, "another");
	assert_int_equal(rename(f->other, f->path), 0);
	snprintf(link, sizeof(link), "/proc/self/map_files/%llx-%llx", (unsigned long long)f->file.start,
		(unsigned long long)f->file.end);
	assert_opened(&f->file, stat(link, &st) == 0 ? "mapped" : NULL);
	f->file.start = f->file.end = 0;
	assert_opened(&f->file, NULL);
}

static void test_only_regular_files(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	assert_int_equal(mkfifo(f->other, 0600), 0);
	assert_int_equal(stat(f->other, &st), 0);
	f->file.path = f->other;
	f->file.start = f->file.end = 0;
	f->file.inode = st.st_ino;
	assert_opened(&f->file, NULL);
	f->file.path = "relative";
	assert_opened(&f->file, NULL);
}

static void test_the_kernel_is_asked_of_the_same_file_only(void **state)
{
	struct fixture *f = *state;
	struct elf_build_id id = {.size = 7};
	if (!mapped_file_ask_id(&f->file, &id)) {
		print_message("this kernel has no PROCMAP_QUERY\n");
		skip();
	}
	assert_int_equal(id.size, 0); /* The file is not an ELF file. */
	f->file.inode++;
	assert_false(mapped_file_ask_id(&f->file, &id));
	f->file.inode = 0;
	f->file.pid = 0x3fffffff;
	assert_false(mapped_file_ask_id(&f->file, &id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_file_at_its_path, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_generation_of_its_inode, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_another_file_at_its_path, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_only_regular_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_kernel_is_asked_of_the_same_file_only, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
