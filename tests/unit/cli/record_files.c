/* SPDX-License-Identifier: Apache-2.0 */
/* Tests files that are held open during a recording, with mappings of this process. */
#include "tasks/recording/record_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "abi/encode.h"
#include "unit_test.h"

struct fixture {
	char folder[32], path[64];
	void *at;
	struct stat st;
	struct record_files *files;
	struct writer records;
	size_t open_before; /* Number of descriptors of this process before the test. */
};

static size_t open_descriptors(void)
{
	size_t count = 0;
	DIR *folder = opendir("/proc/self/fd");
	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static size_t files_held(const struct fixture *f)
{
	return open_descriptors() - f->open_before;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	strcpy(f->folder, "/tmp/tally-held-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	(void)snprintf(f->path, sizeof(f->path), "%s/program", f->folder);
	int fd = open(f->path, O_RDWR | O_CREAT, 0700);
	assert_int_equal(write(fd, "held", 4), 4);
	f->at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(f->at, MAP_FAILED);
	assert_int_equal(fstat(fd, &f->st), 0);
	close(fd);
	f->open_before = open_descriptors();
	assert_int_equal(record_files_create(&f->files, NULL), TALLY_OK);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	record_files_destroy(f->files);
	writer_deinit(&f->records);
	munmap(f->at, 4096);
	(void)unlink(f->path);
	(void)rmdir(f->folder);
	free(f);
	return 0;
}

static void put_map(struct fixture *f, const char *name, uint32_t prot, uint64_t inode)
{
	struct record_fields fields = {.type = RECORD_MMAP2,
		.mmap = {.pid = (uint32_t)getpid(),
			.tid = (uint32_t)getpid(),
			.start = (uintptr_t)f->at,
			.len = 4096,
			.major = major(f->st.st_dev),
			.minor = minor(f->st.st_dev),
			.inode = inode,
			.prot = prot,
			.filename = str_from(name)}};
	struct sample_id id = {0};
	assert_true(record_encode(&f->records, &fields, MISC_CPUMODE_USER, NULL, &id));
}

/* Passes the records in two slices, as from a ring buffer that wraps. */
static void look(struct fixture *f, size_t first)
{
	struct tally_bytes all = writer_view(&f->records);
	assert_true(first <= all.len);
	const struct tally_bytes slices[] = {{all.data, first}, {all.data + first, all.len - first}};
	record_files_look(f->files, slices, 2);
	writer_clear(&f->records);
}

static struct binary_key key_of(const struct fixture *f)
{
	return (struct binary_key){.kind = BINARY_USER,
		.path = str_from(f->path),
		.major = major(f->st.st_dev),
		.minor = minor(f->st.st_dev),
		.inode = f->st.st_ino};
}

static void test_a_file_is_held_when_its_name_is_gone(void **state)
{
	struct fixture *f = *state;
	struct binary_key key = key_of(f);
	char bytes[8];
	assert_int_equal(record_files_find(f->files, &key), -1);
	put_map(f, f->path, PROT_READ | PROT_EXEC, f->st.st_ino);
	put_map(f, f->path, PROT_READ | PROT_EXEC, f->st.st_ino);
	look(f, 44);
	assert_int_equal(files_held(f), 1);
	assert_int_equal(unlink(f->path), 0);
	int fd = record_files_find(f->files, &key);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), 0), 4);
	assert_memory_equal(bytes, "held", 4);
	key.generation = 5; /* A later file with the same inode. */
	assert_int_equal(record_files_find(f->files, &key), -1);
	key = (struct binary_key){.kind = BINARY_USER, .build_id_size = 20};
	assert_int_equal(record_files_find(f->files, &key), -1);
}

static void test_only_code_of_files_is_held(void **state)
{
	struct fixture *f = *state;
	put_map(f, f->path, PROT_READ, f->st.st_ino);
	put_map(f, "//anon", PROT_EXEC, 0);
	put_map(f, "[vdso]", PROT_EXEC, 0);
	put_map(f, f->path, PROT_EXEC, f->st.st_ino + 1); /* Another file has this path. */
	look(f, 0);
	assert_int_equal(files_held(f), 0);
}

static void test_damaged_records_are_passed_over(void **state)
{
	struct fixture *f = *state;
	struct tally_bytes whole = {NULL, 0};
	put_map(f, f->path, PROT_EXEC, f->st.st_ino);
	whole = writer_view(&f->records);
	for (size_t len = 0; len < whole.len; len++) {
		const struct tally_bytes cut = {whole.data, len};
		record_files_look(f->files, &cut, 1);
	}
	assert_int_equal(files_held(f), 0);
	/* The record is shorter than its header. */
	uint8_t bytes[8] = {RECORD_MMAP2, 0, 0, 0, MISC_CPUMODE_USER, 0, 4, 0};
	record_files_look(f->files, &(const struct tally_bytes){bytes, sizeof(bytes)}, 1);
	look(f, whole.len);
	assert_int_equal(files_held(f), 1);
}

static void test_it_looks_less_often_when_nothing_comes(void **state)
{
	struct fixture *f = *state;
	int first = record_files_pause_ms(f->files), last = first;
	for (int i = 0; i < 10; i++)
		last = record_files_pause_ms(f->files);
	assert_true(last > first);
	put_map(f, f->path, PROT_EXEC, f->st.st_ino);
	look(f, 0);
	assert_int_equal(record_files_pause_ms(f->files), first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_file_is_held_when_its_name_is_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_only_code_of_files_is_held, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged_records_are_passed_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_it_looks_less_often_when_nothing_comes, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
