/* SPDX-License-Identifier: Apache-2.0 */
/* Tests loading of code from a program and from the memory of the running kernel, and binaries without code. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file.h"
#include "code/binary_store.h"
#include "elf_builder.h"
#include "unit_test.h"

#define KERNEL UINT64_C(0xffffffff81000000)
#define TEXT   ELF_BUILDER_TEXT_VADDR
#define OFFSET ELF_BUILDER_TEXT_OFFSET

static const struct elf_builder_symbol some_symbols[] = {
	{"main", TEXT + 0x10, 0x20, STT_FUNC, STB_GLOBAL, 0, ELF_BUILDER_TEXT},
	{"alias", TEXT + 0x10, 0x20, STT_FUNC, STB_LOCAL, 0, ELF_BUILDER_TEXT},
};
static const uint8_t kernel_id[20] = {1, 2, 3};

struct fixture {
	char root[64], symfs[80], system[80];
	struct binary_store *store;
	uint32_t id;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	snprintf(f->root, sizeof(f->root), "/tmp/tally-code-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	snprintf(f->symfs, sizeof(f->symfs), "%s/fs", f->root);
	snprintf(f->system, sizeof(f->system), "%s/system", f->root);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[100];
	snprintf(command, sizeof(command), "rm -rf '%s'", f->root);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static void put(const struct fixture *f, const char *path, const void *data, size_t len)
{
	char full[160];
	snprintf(full, sizeof(full), "%s/%s", f->root, path);
	assert_int_equal(file_make_parents(full, NULL), TALLY_OK);
	FILE *file = fopen(full, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static void load(struct fixture *f, const struct binary_key *key)
{
	struct binary_store_options options = {
		.symfs = f->symfs, .build_id_dir = "/nonexistent", .system_root = f->system};
	assert_int_equal(binary_store_create(&options, &f->store, NULL), TALLY_OK);
	assert_int_equal(binary_store_add(f->store, key, &f->id, NULL), TALLY_OK);
	binary_store_load(f->store, &f->id, 1);
}

static void put_program(const struct fixture *f, bool is_64, bool is_big)
{
	struct writer bytes = {0};
	const struct elf_builder what = {.is_64 = is_64, .is_big = is_big, .symbols = some_symbols, .symbol_count = 2};
	elf_builder_make(&what, &bytes);
	for (size_t i = 0; i < ELF_BUILDER_TEXT_SIZE; i++)
		bytes.data[OFFSET + i] = (uint8_t)i;
	put(f, "fs/bin/prog", bytes.data, bytes.len);
	writer_deinit(&bytes);
}

static void reads_a_program(void **state)
{
	struct fixture *f = *state;
	struct binary_key key = {.kind = BINARY_USER, .path = STR("/bin/prog"), .pid = -1};
	for (unsigned form = 0; form < 4; form++) {
		struct binary_code code;
		struct binary_name name;
		put_program(f, form & 1, form & 2);
		load(f, &key);
		const struct symbol *symbol = binary_store_find(f->store, f->id, OFFSET + 0x18);
		assert_non_null(symbol);
		assert_int_equal(binary_store_code(f->store, f->id, symbol->start, symbol->end, &code, NULL), TALLY_OK);
		assert_int_equal(code.bytes.len, 0x20);
		assert_int_equal(code.bytes.data[1], 0x11);
		assert_int_equal(code.address, TEXT + 0x10);
		assert_int_equal(code.is_64, form & 1);
		assert_int_equal(code.is_big_endian, (form & 2) != 0);
		assert_int_equal(code.elf_machine, form & 1 ? EM_X86_64 : EM_386);
		assert_true(binary_store_name_at(f->store, f->id, TEXT + 0x13, &name));
		assert_string_equal(name.name, "main");
		assert_int_equal(name.offset, 3);
		assert_false(binary_store_name_at(f->store, f->id, 1, &name));
		struct tally_error err;
		assert_int_equal(
			binary_store_code(f->store, f->id, 1 << 30, (1 << 30) + 8, &code, &err), TALLY_NOT_FOUND);
		binary_store_destroy(f->store);
	}
}

static void tells_that_there_is_no_file(void **state)
{
	struct fixture *f = *state;
	struct binary_code code;
	struct tally_error err;
	static const enum binary_kind kinds[] = {
		BINARY_USER, BINARY_PERF_MAP, BINARY_JITDUMP, BINARY_VDSO, BINARY_NONE};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct binary_key key = {.kind = kinds[i], .path = STR("/none"), .pid = -1};
		load(f, &key);
		assert_int_equal(binary_store_code(f->store, f->id, 0, 8, &code, &err), TALLY_NOT_FOUND);
		assert_true(err.text[0] != 0);
		binary_store_destroy(f->store);
	}
}

/* Writes a kernel core file with one segment, which begins at the start of the kernel. */
static void put_kcore(const struct fixture *f, uint64_t file_size, uint16_t segments)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		uint8_t bytes[0x200];
	} core = {.header = {.e_machine = EM_X86_64,
			  .e_phoff = offsetof(typeof(core), segment),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = segments},
		.segment = {.p_type = PT_LOAD,
			.p_vaddr = KERNEL,
			.p_filesz = file_size,
			.p_offset = offsetof(typeof(core), bytes)}};
	memcpy(core.header.e_ident, ELFMAG, SELFMAG);
	core.header.e_ident[EI_CLASS] = ELFCLASS64;
	core.header.e_ident[EI_DATA] = ELFDATA2LSB;
	for (size_t i = 0; i < sizeof(core.bytes); i++)
		core.bytes[i] = (uint8_t)(i >> 4);
	put(f, "system/proc/kcore", &core, sizeof(core));
}

static void put_kernel(const struct fixture *f)
{
	static const char list[] = "ffffffff81000000 T _text\nffffffff81000100 T schedule\nffffffff81000180 T next\n";
	struct writer w = {0};
	writer_u32(&w, 4);
	writer_u32(&w, 20);
	writer_u32(&w, 3);
	writer_bytes(&w, "GNU", 4);
	writer_bytes(&w, kernel_id, 20);
	put(f, "system/sys/kernel/notes", w.data, w.len);
	writer_deinit(&w);
	put(f, "system/proc/kallsyms", list, strlen(list));
}

static enum tally_status kernel_code(struct fixture *f, uint64_t ran_at, struct binary_code *code)
{
	struct tally_error err;
	struct binary_key key = {.kind = BINARY_KERNEL,
		.path = STR("[kernel.kallsyms]"),
		.pid = -1,
		.start = ran_at,
		.build_id_size = 20};
	memcpy(key.build_id, kernel_id, 20);
	load(f, &key);
	return binary_store_code(f->store, f->id, ran_at + 0x100, ran_at + 0x180, code, &err);
}

static void reads_the_running_kernel(void **state)
{
	struct fixture *f = *state;
	struct binary_code code;
	struct binary_name name;
	put_kernel(f);
	put_kcore(f, 0x200, 1);
	/* Also for a recording of an earlier boot of this kernel, with another address. */
	for (uint64_t moved = 0; moved < 2; moved++) {
		uint64_t at = KERNEL + moved * 0x19200000;
		assert_int_equal(kernel_code(f, at, &code), TALLY_OK);
		assert_int_equal(code.bytes.len, 0x80);
		assert_int_equal(code.bytes.data[0], 0x10);
		assert_int_equal(code.address, at + 0x100);
		assert_true(binary_store_name_at(f->store, f->id, at + 0x108, &name));
		assert_string_equal(name.name, "schedule");
		assert_int_equal(name.offset, 8);
		binary_store_destroy(f->store);
	}
}

static void refuses_a_damaged_kcore(void **state)
{
	struct fixture *f = *state;
	struct binary_code code;
	put_kernel(f);
	assert_int_equal(kernel_code(f, KERNEL, &code), TALLY_NOT_FOUND);
	binary_store_destroy(f->store);
	put_kcore(f, 0x120, 1);
	assert_int_equal(kernel_code(f, KERNEL, &code), TALLY_NOT_FOUND);
	binary_store_destroy(f->store);
	put_kcore(f, UINT64_MAX, 0);
	assert_int_equal(kernel_code(f, KERNEL, &code), TALLY_NOT_FOUND);
	binary_store_destroy(f->store);
	put(f, "system/proc/kcore", ELFMAG, SELFMAG);
	assert_int_equal(kernel_code(f, KERNEL, &code), TALLY_NOT_FOUND);
	binary_store_destroy(f->store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_a_program),
		TEST(tells_that_there_is_no_file),
		TEST(reads_the_running_kernel),
		TEST(refuses_a_damaged_kcore),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
