/* SPDX-License-Identifier: Apache-2.0 */
/* Tests loading of unwind tables from program files, through the store and from any thread, and binaries
 * without CFI. */
#include "code/binaries/load_unwind.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "elf_builder.h"
#include "unit_test.h"

#define THREADS 8

struct ask {
	struct binary_store *store;
	uint32_t id;
	const struct unwind_table *table;
};

static void *ask(void *context)
{
	struct ask *a = context;
	a->table = binary_store_unwind(a->store, a->id);
	return NULL;
}

static void any_thread_gets_the_same(void **state)
{
	(void)state;
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path));
	assert_true(len > 0);
	struct binary_store *store;
	struct binary_store_options options = {.build_id_dir = "/nonexistent"};
	struct binary_key key = {.kind = BINARY_USER, .path = {path, (size_t)len}, .pid = -1};
	struct ask asks[THREADS];
	pthread_t threads[THREADS];
	uint32_t id;
	assert_int_equal(binary_store_create(&options, &store, NULL), TALLY_OK);
	assert_int_equal(binary_store_add(store, &key, &id, NULL), TALLY_OK);
	for (size_t i = 0; i < THREADS; i++) {
		asks[i] = (struct ask){.store = store, .id = id};
		assert_int_equal(pthread_create(&threads[i], NULL, ask, &asks[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (size_t i = 0; i < THREADS; i++)
		assert_ptr_equal(asks[i].table, asks[0].table);
	assert_non_null(asks[0].table);
	/* Addresses are the same before and after symbols are loaded. */
	struct tally_elf_va before, after;
	assert_true(binary_store_unwind_va(store, id, FILE_OFF(0x1000), &before));
	binary_store_load(store, &id, 1);
	assert_true(binary_store_elf_va(store, id, FILE_OFF(0x1000), &after));
	assert_int_equal(before.value, after.value);
	assert_ptr_equal(binary_store_unwind(store, id), asks[0].table);

	key.path = STR("/nonexistent/program");
	assert_int_equal(binary_store_add(store, &key, &id, NULL), TALLY_OK);
	assert_null(binary_store_unwind(store, id));
	assert_false(binary_store_unwind_va(store, id, FILE_OFF(0x1000), &before));
	key.kind = BINARY_NONE;
	assert_int_equal(binary_store_add(store, &key, &id, NULL), TALLY_OK);
	assert_null(binary_store_unwind(store, id));
	binary_store_destroy(store);
}

/* Without sections, .eh_frame is found by the program header of .eh_frame_hdr. */
static void sections_are_not_needed(void **state)
{
	(void)state;
	char *bytes;
	size_t len;
	struct elf_image *whole, *stripped;
	struct elf_frames frames, found;
	assert_int_equal(file_read("/proc/self/exe", SIZE_MAX / 2, &bytes, &len, NULL), TALLY_OK);
	assert_int_equal(elf_image_open("/proc/self/exe", &whole, NULL), TALLY_OK);
	assert_true(elf_image_eh_frame(whole, &frames));
	if (elf_image_pointer_bytes(whole) == 8)
		memset(bytes + offsetof(Elf64_Ehdr, e_shnum), 0, 4),
			memset(bytes + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
	else
		memset(bytes + offsetof(Elf32_Ehdr, e_shnum), 0, 4),
			memset(bytes + offsetof(Elf32_Ehdr, e_shoff), 0, 4);
	assert_int_equal(elf_image_open_bytes((struct tally_bytes){(uint8_t *)bytes, len}, &stripped, NULL), TALLY_OK);
	assert_int_equal(elf_image_section(stripped, ".eh_frame").len, 0);
	assert_true(elf_image_eh_frame(stripped, &found));
	assert_int_equal(found.address, frames.address);
	assert_true(found.ends_at_zero && found.bytes.len >= frames.bytes.len);
	struct unwind_table *by_section = load_unwind_image(whole, NULL, 0, false);
	struct unwind_table *by_header = load_unwind_image(stripped, NULL, 0, false);
	assert_non_null(by_section);
	assert_non_null(by_header);
	assert_int_equal(unwind_table_size(by_header).damaged, 0);
	struct cfi_section section = {
		.bytes = frames.bytes, .address = frames.address, .is_eh = true, .address_size = sizeof(void *)};
	struct cfi_table cfi;
	assert_int_equal(cfi_open(&cfi, &section, NULL), TALLY_OK);
	for (size_t i = 0; i < cfi.fdes.len; i++) {
		for (uint64_t pc = cfi.fdes.items[i].low; pc < cfi.fdes.items[i].high; pc++) {
			const struct unwind_rule *a = unwind_table_find(by_section, pc);
			const struct unwind_rule *b = unwind_table_find(by_header, pc);
			assert_true(a && b && a->cfa == b->cfa && a->saved_count == b->saved_count);
		}
	}
	cfi_deinit(&cfi);
	unwind_table_destroy(by_section);
	unwind_table_destroy(by_header);
	elf_image_close(whole);
	elf_image_close(stripped);
	free(bytes);
}

static int64_t cfa_at(const struct unwind_table *table, uint64_t address)
{
	const struct unwind_rule *rule = unwind_table_find(table, address);
	return rule ? rule->cfa : -1;
}

/* Some linkers write no call-frame information for the PLT: rules are derived from its code. */
static void entries_of_the_plt(void **state)
{
	(void)state;
	static const struct elf_builder_symbol dynamic[] = {
		{"malloc", 0, 0, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_UNDEFINED}};
	static const struct elf_builder_jump jumps[] = {{0, 1, 0}};
	/* The header pushes and jumps; then an entry with jump, push, jump; then one with endbr64, push, jump. */
	static const uint8_t lazy[48] = {0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25, 1, 2, 3, 4, 0x0f, 0x1f, 0x40, 0, 0xff,
		0x25, 1, 2, 3, 4, 0x68, 1, 0, 0, 0, 0xe9, 1, 2, 3, 4, 0xf3, 0x0f, 0x1e, 0xfa, 0x68, 1, 0, 0, 0, 0xf2,
		0xe9, 1, 2, 3, 4, 0x90};
	for (int is_64 = 0; is_64 < 2; is_64++) {
		struct elf_builder what = {
			.is_64 = is_64, .dynamic = dynamic, .dynamic_count = 1, .jumps = jumps, .jump_count = 1};
		struct elf_builder_jump three[] = {jumps[0], jumps[0], jumps[0]};
		struct writer bytes = {0};
		struct elf_image *image;
		int64_t word = is_64 ? 8 : 4;
		what.jumps = three;
		what.jump_count = 3;
		elf_builder_make(&what, &bytes);
		memcpy(bytes.data + ELF_BUILDER_PLT_OFFSET, lazy, sizeof(lazy));
		assert_int_equal(elf_image_open_bytes(writer_view(&bytes), &image, NULL), TALLY_OK);
		struct unwind_table *table = load_unwind_image(image, NULL, 0, false);
		assert_non_null(table);
		static const int64_t words[48] = {2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1,
			1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2};
		for (unsigned i = 0; i < 48; i++)
			assert_int_equal(cfa_at(table, ELF_BUILDER_PLT_VADDR + i), words[i] * word);
		assert_int_equal(cfa_at(table, ELF_BUILDER_PLT_VADDR - 1), -1);
		unwind_table_destroy(table);
		elf_image_close(image);
		writer_deinit(&bytes);
	}
}

static void entries_of_the_plt_on_aarch64(void **state)
{
	(void)state;
	static const struct elf_builder_symbol dynamic[] = {
		{"malloc", 0, 0, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_UNDEFINED}};
	static const struct elf_builder_jump jumps[] = {{0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {3, 1, 0}};
	struct elf_builder what = {.is_64 = true,
		.machine = EM_AARCH64,
		.dynamic = dynamic,
		.dynamic_count = 1,
		.jumps = jumps,
		.jump_count = 4};
	static const uint8_t header[] = {0x5f, 0x24, 0x03, 0xd5, 0xf0, 0x7b, 0xbf, 0xa9}; /* bti c; stp x16, x30. */
	struct writer bytes = {0};
	struct elf_image *image;
	elf_builder_make(&what, &bytes);
	memcpy(bytes.data + ELF_BUILDER_PLT_OFFSET, header, sizeof(header));
	assert_int_equal(elf_image_open_bytes(writer_view(&bytes), &image, NULL), TALLY_OK);
	struct unwind_table *table = load_unwind_image(image, NULL, 0, false);
	assert_non_null(table);
	assert_int_equal(cfa_at(table, ELF_BUILDER_PLT_VADDR + 4), 0);
	assert_int_equal(cfa_at(table, ELF_BUILDER_PLT_VADDR + 8), 16);
	assert_int_equal(cfa_at(table, ELF_BUILDER_PLT_VADDR + 28), 16);
	assert_int_equal(cfa_at(table, ELF_BUILDER_PLT_VADDR + 32), 0);
	assert_int_equal(unwind_table_find(table, ELF_BUILDER_PLT_VADDR + 8)->return_index, UNWIND_NOT_SAVED);
	unwind_table_destroy(table);
	elf_image_close(image);
	writer_deinit(&bytes);
}

static uint32_t add_file(struct binary_store **store, const char *path)
{
	struct binary_store_options options = {.build_id_dir = "/nonexistent"};
	struct binary_key key = {.kind = BINARY_USER, .path = {path, strlen(path)}, .pid = -1};
	uint32_t id;
	assert_int_equal(binary_store_create(&options, store, NULL), TALLY_OK);
	assert_int_equal(binary_store_add(*store, &key, &id, NULL), TALLY_OK);
	return id;
}

/* Finds the path of the C library of this process. */
static void libc_path(char *path, size_t size)
{
	Dl_info info;
	assert_int_not_equal(dladdr((void *)(uintptr_t)getpid, &info), 0);
	snprintf(path, size, "%s", info.dli_fname);
}

#define CODE_STEP 8

/* Entries found through .eh_frame_hdr have the same rules as the whole table. */
static void roots_by_entry_are_those_of_the_table(void **state)
{
	char paths[2][PATH_MAX];
	assert_true(realpath("/proc/self/exe", paths[0]) != NULL);
	libc_path(paths[1], sizeof(paths[1]));
	for (size_t file = 0; file < ARRAY_LEN(paths); file++) {
		struct binary_store *store;
		struct stat status;
		size_t roots = 0;
		assert_int_equal(stat(paths[file], &status), 0);
		size_t places = (size_t)status.st_size / CODE_STEP;
		uint64_t *addresses = calloc(places, sizeof(*addresses));
		bool *by_table = calloc(places, sizeof(*by_table)), *by_entry = calloc(places, sizeof(*by_entry));
		assert_true(addresses && by_table && by_entry);
		for (size_t i = 0; i < places; i++)
			addresses[i] = i * CODE_STEP;
		uint32_t id = add_file(&store, paths[file]);
		binary_store_find_roots(store, id, addresses, places, by_entry);
		assert_non_null(binary_store_unwind(store, id));
		binary_store_find_roots(store, id, addresses, places, by_table);
		binary_store_destroy(store);
		for (size_t i = 0; i < places; i++) {
			assert_int_equal(by_entry[i], by_table[i]);
			roots += by_table[i];
		}
		assert_true(roots > 0 && roots < 1000); /* The functions in which threads and the program begin. */
		free(addresses);
		free(by_table);
		free(by_entry);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_thread_gets_the_same),
		cmocka_unit_test(sections_are_not_needed),
		cmocka_unit_test(entries_of_the_plt),
		cmocka_unit_test(entries_of_the_plt_on_aarch64),
		cmocka_unit_test(roots_by_entry_are_those_of_the_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
