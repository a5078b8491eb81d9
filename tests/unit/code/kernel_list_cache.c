/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/kernel_list_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "unit_test.h"

#define LINES 400 /* More lines than are compared with the live list. */

struct fixture {
	char root[32], cache[48], folder[64], kept[128], live[64], modules[64];
	char list[LINES * 32];
	struct elf_build_id id;
	struct kernel_list_place place;
	struct kallsyms kallsyms;
	struct kallsyms_marks marks;
};

static void write_file(const char *path, const char *text, size_t len)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static void begin(struct fixture *f)
{
	*f = (struct fixture){.id = {.size = 4, .bytes = {0xab, 0xcd, 0xef, 0x01}}};
	snprintf(f->root, sizeof(f->root), "/tmp/tally-list-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	snprintf(f->cache, sizeof(f->cache), "%s/cache", f->root);
	snprintf(f->folder, sizeof(f->folder), "%s/ab", f->cache);
	snprintf(f->kept, sizeof(f->kept), "%s/cdef01.kallsyms", f->folder);
	snprintf(f->live, sizeof(f->live), "%s/live", f->root);
	size_t at = (size_t)snprintf(f->list, sizeof(f->list), "ffffffff80000000 T _text\n");
	for (size_t i = 1; i < LINES; i++)
		at += (size_t)snprintf(f->list + at, sizeof(f->list) - at, "ffffffff8%07zx T f%zu\n", i, i);
	snprintf(f->list + at, sizeof(f->list) - at, "ffffffffc0001000 t ext4_open\t[ext4]\n");
	write_file(f->live, f->list, strlen(f->list));
	snprintf(f->modules, sizeof(f->modules), "%s/modules", f->root);
	f->place = (struct kernel_list_place){f->cache, &f->id, f->live, f->modules};
	kallsyms_open(f->list, strlen(f->list), &f->kallsyms);
	assert_int_equal(kallsyms_mark(&f->kallsyms, &f->marks), TALLY_OK);
}

static void end(struct fixture *f)
{
	kallsyms_marks_deinit(&f->marks);
	(void)unlink(f->kept);
	(void)rmdir(f->folder);
	(void)rmdir(f->cache);
	(void)unlink(f->modules);
	assert_int_equal(unlink(f->live), 0);
	assert_int_equal(rmdir(f->root), 0);
}

static void close_list(struct kernel_list *list)
{
	kallsyms_marks_deinit(&list->marks);
	file_map_close(&list->map);
}

static bool is_found(const struct fixture *f)
{
	struct kernel_list list;
	if (!kernel_list_cache_open(&f->place, &list))
		return false;
	assert_string_equal(list.path, f->kept);
	close_list(&list);
	return true;
}

static void save(const struct fixture *f)
{
	kernel_list_cache_save(&f->place, &f->kallsyms, &f->marks);
}

static void keeps_a_list_by_build_id(void **state)
{
	struct fixture f;
	struct kernel_list list;
	(void)state;
	begin(&f);
	assert_false(is_found(&f));
	save(&f);
	assert_true(kernel_list_cache_open(&f.place, &list));
	assert_true(str_equal(list.kallsyms.kernel, f.kallsyms.kernel));
	assert_true(str_equal(list.kallsyms.modules, STR("ffffffffc0001000 t ext4_open\t[ext4]\n")));
	assert_int_equal(list.marks.count, LINES);
	assert_int_equal(list.marks.text, 0xffffffff80000000);
	assert_int_equal(list.marks.marks.len, f.marks.marks.len);
	assert_memory_equal(
		list.marks.marks.items, f.marks.marks.items, f.marks.marks.len * sizeof(struct kallsyms_mark));
	close_list(&list);
	f.id.bytes[0] = 0;
	assert_false(is_found(&f));
	f.id.size = 0;
	save(&f);
	assert_false(is_found(&f));
	end(&f);
}

/* Another boot changes the addresses of the kernel. */
static void serves_while_the_live_list_begins_alike(void **state)
{
	struct fixture f;
	(void)state;
	begin(&f);
	save(&f);
	f.list[8] = '9';
	write_file(f.live, f.list, strlen(f.list));
	assert_false(is_found(&f));
	f.list[8] = '8';
	write_file(f.live, f.list, 100); /* Too short for a comparison. */
	assert_false(is_found(&f));
	write_file(f.live, f.list, strlen(f.list));
	assert_true(is_found(&f));
	f.place.live = f.folder;
	assert_false(is_found(&f));
	end(&f);
}

static void write_modules(const struct fixture *f, const char *text)
{
	write_file(f->modules, text, strlen(text));
}

static void serves_while_modules_are_the_same(void **state)
{
	struct fixture f;
	(void)state;
	begin(&f);
	save(&f);
	assert_true(is_found(&f));
	write_modules(&f, "ext4 1015808 1 - Live 0xffffffffc0001000\n");
	assert_false(is_found(&f));
	save(&f);
	assert_true(is_found(&f));
	write_modules(&f, "ext4 1015808 3 xfs,nfs, Live 0xffffffffc0001000 (E)\n");
	assert_true(is_found(&f));
	write_modules(&f, "ext4 1015808 1 - Live 0xffffffffc0002000\n");
	assert_false(is_found(&f));
	write_modules(&f, "ext4 1015808 1 - Live 0xffffffffc0001000\nxfs 16384 0 - Live 0xffffffffc0200000\n");
	assert_false(is_found(&f));
	end(&f);
}

static void keeps_nothing_where_none_is_wanted(void **state)
{
	struct fixture f;
	(void)state;
	begin(&f);
	f.place.index_dir = "";
	save(&f);
	assert_false(is_found(&f));
	f.place.index_dir = f.live; /* The path is not a directory. */
	save(&f);
	assert_false(is_found(&f));
	end(&f);
}

static size_t read_len(const struct fixture *f, const char *text)
{
	char *read;
	size_t len;
	write_file(f->live, text, strlen(text));
	assert_int_equal(kernel_list_read(f->live, &read, &len, NULL), TALLY_OK);
	assert_memory_equal(read, text, len);
	assert_int_equal(read[len], '\0');
	free(read);
	return len;
}

/* The kernel formats each line on every read, and all hidden addresses are equal. */
static void reads_no_more_of_a_hidden_list(void **state)
{
	struct fixture f;
	char hidden[LINES * 32];
	size_t whole = 0, len;
	(void)state;
	begin(&f);
	for (int i = 0; i < LINES; i++)
		whole += (size_t)snprintf(hidden + whole, sizeof(hidden) - whole, "0000000000000000 T f%03d\n", i);
	len = read_len(&f, hidden);
	assert_true(len > 0 && len < whole);
	memcpy(hidden + 24, "0000000000001000", 16); /* The address of the second line. */
	assert_int_equal(read_len(&f, hidden), whole);
	assert_int_equal(read_len(&f, f.list), strlen(f.list));
	for (char *type = hidden; (type = strchr(type, 'T')); type++)
		*type = 'A';
	memcpy(hidden + 24, "0000000000000000", 16);
	assert_int_equal(read_len(&f, hidden), whole); /* The line is not a code symbol. */
	assert_int_equal(read_len(&f, ""), 0);
	end(&f);
}

static bool is_parsed(const uint64_t *words, size_t len)
{
	struct kernel_list list = {.map.bytes = {(const uint8_t *)words, len}};
	if (!kernel_list_parse(&list))
		return false;
	kallsyms_marks_deinit(&list.marks);
	return true;
}

static void takes_only_marks_in_order_within_the_text(void **state)
{
	enum { MARKS = 1, KERNEL, COUNT = 4, ADDRESS = 9, OFFSET, TEXT, WORDS = 14 };
	uint64_t words[WORDS] = {0x314c4b594c4c4154, 2, 20, 0, 100, 0, 0, 0x1000, 0, 0x2000, 9};
	const struct {
		size_t at;
		uint64_t value;
	} bad[] = {{0, 1}, {MARKS, 0}, {MARKS, 5}, {MARKS, UINT64_MAX}, {MARKS, UINT64_C(1) << 60}, {KERNEL, 9},
		{KERNEL, 25}, {KERNEL, UINT64_MAX}, {COUNT, 0}, {ADDRESS, 0x1000}, {OFFSET, 0}, {OFFSET, 20},
		{OFFSET, UINT64_MAX}};
	(void)state;
	assert_true(is_parsed(words, sizeof(words)));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		uint64_t right = words[bad[i].at];
		words[bad[i].at] = bad[i].value;
		assert_false(is_parsed(words, sizeof(words)));
		words[bad[i].at] = right;
	}
	for (size_t len = 0; len < TEXT * sizeof(uint64_t) + 20; len++)
		assert_false(is_parsed(words, len));
	assert_true(is_parsed(words, TEXT * sizeof(uint64_t) + 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_a_list_by_build_id),
		cmocka_unit_test(serves_while_the_live_list_begins_alike),
		cmocka_unit_test(serves_while_modules_are_the_same),
		cmocka_unit_test(keeps_nothing_where_none_is_wanted),
		cmocka_unit_test(reads_no_more_of_a_hidden_list),
		cmocka_unit_test(takes_only_marks_in_order_within_the_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
