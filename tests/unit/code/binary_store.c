/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binary_store.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "base/file.h"
#include "elf_builder.h"
#include "tally_config.h"
#include "unit_test.h"

#define TEXT   ELF_BUILDER_TEXT_VADDR
#define OFFSET ELF_BUILDER_TEXT_OFFSET

static const uint8_t id_a[20] = {0xaa, 0xbb, 1, 2, 3};
static const uint8_t id_b[20] = {0xcc, 0xdd, 9, 8, 7};
#define DIR_A ".build-id/aa/bb010203000000000000000000000000000000"

static const struct elf_builder_symbol some_symbols[] = {
	{"_ZN2ns3runEm", TEXT + 0x10, 0x20, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
	{"helper", TEXT + 0x30, 8, STT_FUNC, STB_LOCAL, STV_DEFAULT, ELF_BUILDER_TEXT},
};

static const struct elf_builder_symbol some_dynamic[] = {
	{"malloc", 0, 0, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_UNDEFINED},
	{"exported", TEXT + 0x50, 8, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
};

static const struct elf_builder_jump some_jumps[] = {{1, 1, 0}, {0, 0, TEXT + 0x30}, {2, 0, 0x77}};

struct fixture {
	char root[64];
	struct binary_store_options options;
	char symfs[80], build_id_dir[80], system_root[80];
	struct arena arena;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	snprintf(f->root, sizeof(f->root), "/tmp/tally-store-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	snprintf(f->symfs, sizeof(f->symfs), "%s/fs", f->root);
	snprintf(f->build_id_dir, sizeof(f->build_id_dir), "%s/cache", f->root);
	snprintf(f->system_root, sizeof(f->system_root), "%s/system", f->root);
	f->options = (struct binary_store_options){
		.symfs = f->symfs, .build_id_dir = f->build_id_dir, .system_root = f->system_root};
	arena_init(&f->arena);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[100];
	snprintf(command, sizeof(command), "rm -rf '%s'", f->root);
	assert_int_equal(system(command), 0);
	arena_deinit(&f->arena);
	free(f);
	return 0;
}

static const char *put(struct fixture *f, const char *path, const void *data, size_t len)
{
	const char *full = arena_printf(&f->arena, "%s/%s", f->root, path);
	assert_non_null(full);
	assert_int_equal(file_make_parents(full, NULL), TALLY_OK);
	FILE *file = fopen(full, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	return full;
}

static uint32_t put_elf(struct fixture *f, const char *path, const struct elf_builder *what)
{
	struct writer bytes = {0};
	elf_builder_make(what, &bytes);
	put(f, path, bytes.data, bytes.len);
	uint32_t crc = (uint32_t)crc32_z(0, bytes.data, bytes.len);
	writer_deinit(&bytes);
	return crc;
}

static struct elf_builder stripped(const uint8_t *id)
{
	return (struct elf_builder){
		.is_64 = true,
		.dynamic = some_dynamic,
		.dynamic_count = 2,
		.jumps = some_jumps,
		.jump_count = 3,
		.build_id = {id, id ? 20 : 0},
	};
}

static struct elf_builder full(const uint8_t *id)
{
	struct elf_builder what = stripped(id);
	what.symbols = some_symbols;
	what.symbol_count = 2;
	return what;
}

static struct binary_key user_key(const uint8_t *id)
{
	struct binary_key key = {
		.kind = BINARY_USER, .path = STR("/bin/prog"), .pid = -1, .build_id_size = id ? 20 : 0};
	if (id)
		memcpy(key.build_id, id, 20);
	return key;
}

struct loaded {
	struct binary_store *store;
	uint32_t id;
	struct binary_info info;
};

static struct loaded load(struct fixture *f, const struct binary_key *key)
{
	struct loaded l;
	assert_int_equal(binary_store_create(&f->options, &l.store, NULL), TALLY_OK);
	assert_int_equal(binary_store_add(l.store, key, &l.id, NULL), TALLY_OK);
	assert_int_equal(binary_store_info(l.store, l.id).status, BINARY_NOT_LOADED);
	binary_store_load(l.store, &l.id, 1);
	l.info = binary_store_info(l.store, l.id);
	return l;
}

static const char *name_at(struct fixture *f, const struct loaded *l, uint64_t address)
{
	const struct symbol *symbol = binary_store_find(l->store, l->id, address);
	return symbol ? binary_store_display_name(l->store, symbol, &f->arena) : "-";
}

static void finds_functions_by_file_offset(void **state)
{
	struct fixture *f = *state;
	struct elf_builder what = full(id_a);
	put_elf(f, "fs/bin/prog", &what);
	struct binary_key key = user_key(id_a);
	struct loaded l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_OK);
	assert_null(l.info.text);
	assert_string_equal(name_at(f, &l, OFFSET + 0xf), "-");
	assert_string_equal(name_at(f, &l, OFFSET + 0x2f), HAVE_DEMANGLE ? "ns::run(unsigned long)" : "_ZN2ns3runEm");
	assert_string_equal(name_at(f, &l, OFFSET + 0x30), "helper");
	assert_string_equal(name_at(f, &l, ELF_BUILDER_PLT_OFFSET), ".plt");
	assert_string_equal(name_at(f, &l, ELF_BUILDER_PLT_OFFSET + 16), "malloc@plt");
	assert_string_equal(name_at(f, &l, ELF_BUILDER_PLT_OFFSET + 47), "helper@plt");
	assert_string_equal(name_at(f, &l, ELF_BUILDER_PLT_OFFSET + 48), "*ABS*+0x77@plt");
	struct tally_elf_va va;
	assert_true(binary_store_elf_va(l.store, l.id, FILE_OFF(OFFSET + 0x10), &va));
	assert_int_equal(va.value, TEXT + 0x10);
	assert_false(binary_store_elf_va(l.store, l.id, FILE_OFF(1 << 20), &va));
	binary_store_destroy(l.store);
	f->options.no_demangle = true;
	l = load(f, &key);
	assert_string_equal(name_at(f, &l, OFFSET + 0x10), "_ZN2ns3runEm");
	binary_store_destroy(l.store);
}

static void what_was_forgotten_is_loaded_again(void **state)
{
	struct fixture *f = *state;
	struct elf_builder what = full(id_a);
	put_elf(f, "fs/bin/prog", &what);
	struct binary_key key = user_key(id_a);
	struct loaded l = load(f, &key);
	assert_string_equal(name_at(f, &l, OFFSET + 0x30), "helper");
	binary_store_forget(l.store, l.id);
	assert_int_equal(binary_store_info(l.store, l.id).status, BINARY_NOT_LOADED);
	assert_null(binary_store_find(l.store, l.id, OFFSET + 0x30));
	binary_store_forget(l.store, l.id); /* There is nothing to release. */
	uint32_t again;
	assert_int_equal(binary_store_add(l.store, &key, &again, NULL), TALLY_OK);
	assert_int_equal(again, l.id);
	binary_store_load(l.store, &l.id, 1);
	assert_string_equal(name_at(f, &l, OFFSET + 0x30), "helper");
	binary_store_destroy(l.store);
}

static void refuses_another_build_id(void **state)
{
	struct fixture *f = *state;
	struct elf_builder what = full(id_b);
	put_elf(f, "fs/bin/prog", &what);
	struct binary_key key = user_key(id_a);
	struct loaded l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_BUILD_ID_DIFFERS);
	assert_non_null(strstr(l.info.text, "ccdd090807"));
	assert_non_null(strstr(l.info.text, "aabb010203"));
	assert_string_equal(name_at(f, &l, OFFSET + 0x30), "-");
	binary_store_destroy(l.store);
	key = user_key(NULL); /* The recording has no build ID. */
	l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_OK);
	binary_store_destroy(l.store);
}

static void prefers_the_cached_file(void **state)
{
	struct fixture *f = *state;
	struct elf_builder other = full(id_b);
	struct elf_builder what = full(id_a);
	put_elf(f, "fs/bin/prog", &other);
	put_elf(f, "cache/" DIR_A "/elf", &what);
	struct binary_key key = user_key(id_a);
	struct loaded l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_OK);
	assert_non_null(strstr(l.info.used_path, "/cache/"));
	assert_string_equal(name_at(f, &l, OFFSET + 0x30), "helper");
	binary_store_destroy(l.store);
}

static void reads_separate_debug_files(void **state)
{
	static const char *const places[] = {
		"cache/" DIR_A "/debug", "fs/usr/lib/debug/.build-id/aa/bb010203000000000000000000000000000000.debug"};
	struct fixture *f = *state;
	struct elf_builder program = stripped(id_a);
	struct elf_builder debug = full(id_a);
	struct binary_key key = user_key(id_a);
	put_elf(f, "fs/bin/prog", &program);
	struct loaded l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_OK);
	assert_string_equal(name_at(f, &l, OFFSET + 0x30), "-");
	assert_string_equal(name_at(f, &l, OFFSET + 0x50), "exported");
	binary_store_destroy(l.store);
	for (size_t i = 0; i < 2; i++) {
		put_elf(f, places[i], &debug);
		l = load(f, &key);
		assert_string_equal(name_at(f, &l, OFFSET + 0x30), "helper");
		assert_non_null(strstr(l.info.used_path, places[i]));
		binary_store_destroy(l.store);
		assert_int_equal(unlink(arena_printf(&f->arena, "%s/%s", f->root, places[i])), 0);
	}
	struct elf_builder wrong = full(id_b);
	put_elf(f, places[1], &wrong);
	l = load(f, &key);
	assert_string_equal(name_at(f, &l, OFFSET + 0x30), "-");
	binary_store_destroy(l.store);
}

static void follows_the_debug_link(void **state)
{
	static const char *const places[] = {
		"fs/bin/prog.debug", "fs/bin/.debug/prog.debug", "fs/usr/lib/debug/bin/prog.debug"};
	struct fixture *f = *state;
	struct elf_builder debug = full(NULL);
	struct binary_key key = user_key(NULL);
	for (size_t i = 0; i < 3; i++) {
		for (uint32_t wrong = 0; wrong < 2; wrong++) {
			struct elf_builder program = stripped(NULL);
			program.debuglink = "prog.debug";
			program.debuglink_crc = put_elf(f, places[i], &debug) + wrong;
			put_elf(f, "fs/bin/prog", &program);
			struct loaded l = load(f, &key);
			assert_string_equal(name_at(f, &l, OFFSET + 0x30), wrong ? "-" : "helper");
			binary_store_destroy(l.store);
		}
		assert_int_equal(unlink(arena_printf(&f->arena, "%s/%s", f->root, places[i])), 0);
	}
}

static void tells_why_there_are_no_symbols(void **state)
{
	struct fixture *f = *state;
	struct binary_key key = user_key(NULL);
	struct loaded l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_NO_FILE);
	assert_non_null(l.info.text);
	binary_store_destroy(l.store);
	struct elf_builder empty = {.is_64 = true};
	put_elf(f, "fs/bin/prog", &empty);
	l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_NO_SYMBOLS);
	assert_non_null(l.info.text);
	binary_store_destroy(l.store);
	put(f, "fs/bin/prog", "MZ, not ELF", 11);
	l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_NO_SYMBOLS);
	assert_non_null(strstr(l.info.text, "bin/prog is not an ELF file, and no ELF file starts on a page boundary "
					    "in it"));
	binary_store_destroy(l.store);
	put(f, "fs/bin/prog", "\177ELF, not really", 17);
	l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_DAMAGED);
	assert_non_null(strstr(l.info.text, "bin/prog is not a valid ELF file"));
	binary_store_destroy(l.store);
	key.kind = BINARY_NONE;
	l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_NO_FILE);
	binary_store_destroy(l.store);
}

static const char some_kallsyms[] = "ffffffff81000000 T _text\nffffffff81000100 T schedule\n"
				    "ffffffffc0001000 t ext4_open\t[ext4]\n";

static void put_kernel(struct fixture *f, const uint8_t *id, const char *kallsyms)
{
	struct writer w = {0};
	writer_u32(&w, 4);
	writer_u32(&w, 20);
	writer_u32(&w, 3);
	writer_bytes(&w, "GNU", 4);
	writer_bytes(&w, id, 20);
	put(f, "system/sys/kernel/notes", w.data, w.len);
	writer_deinit(&w);
	put(f, "system/proc/kallsyms", kallsyms, strlen(kallsyms));
}

static struct binary_key kernel_key(const uint8_t *id, uint64_t start)
{
	struct binary_key key = user_key(id);
	key.kind = BINARY_KERNEL;
	key.path = STR("[kernel.kallsyms]");
	key.start = start;
	return key;
}

static void reads_this_kernel_where_it_ran(void **state)
{
	struct fixture *f = *state;
	put_kernel(f, id_a, some_kallsyms);
	struct binary_key key = kernel_key(id_a, 0xffffffff81000000);
	struct loaded l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_OK);
	assert_string_equal(name_at(f, &l, 0xffffffff81000123), "schedule");
	binary_store_destroy(l.store);
	key.start = 0xffffffff9a200000; /* The kernel was at this address in an earlier boot. */
	l = load(f, &key);
	assert_string_equal(name_at(f, &l, 0xffffffff9a200123), "schedule");
	assert_string_equal(name_at(f, &l, 0xffffffff81000123), "-");
	binary_store_destroy(l.store);
	put_kernel(f, id_a, "0000000000000000 T _text\n0000000000000000 T schedule\n");
	l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_HIDDEN);
	assert_non_null(strstr(l.info.text, "kptr_restrict"));
	binary_store_destroy(l.store);
}

/* Only the address of its reference symbol is known of the kernel, as of a stream from another machine. */
static void refuses_a_kernel_that_lay_elsewhere(void **state)
{
	static const struct {
		uint64_t start;
		bool is_this;
	} cases[] = {{0xffffffff81000000, true}, {0xffffffff9a200000, true}, {0xffffffff81000190, false}, {0, true}};
	struct fixture *f = *state;
	put_kernel(f, id_a, some_kallsyms);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct binary_key key = kernel_key(id_a, cases[i].start);
		key.build_id_size = 0;
		struct loaded l = load(f, &key);
		assert_int_equal(l.info.status, cases[i].is_this ? BINARY_OK : BINARY_NO_FILE);
		binary_store_destroy(l.store);
	}
	struct binary_key with_id = kernel_key(id_a, 0xffffffff81000190);
	struct loaded l = load(f, &with_id);
	assert_int_equal(l.info.status, BINARY_OK);
	binary_store_destroy(l.store);
}

/* Without a build ID, the length of the text distinguishes builds, if the recorder stored it. */
static void tells_builds_of_a_kernel_by_the_end_of_their_text(void **state)
{
	static const char list[] = "ffffffff81000000 T _text\nffffffff81000100 T schedule\n"
				   "ffffffff81a00010 T _etext\nffffffff82000000 D _edata\n";
	static const struct {
		uint64_t start, end;
		enum binary_status status;
		bool is_unproven;
	} cases[] = {
		{0xffffffff81000000, 0xffffffff81a00010, BINARY_OK, false},
		{0xffffffff81000000, 0xffffffff81a01000, BINARY_OK, false}, /* Rounded to whole pages. */
		{0xffffffff9a200000, 0xffffffff9b200000, BINARY_OK, false}, /* Another boot, up to _edata. */
		{0xffffffff81000000, 0xffffffff81a00000, BINARY_NO_FILE, false},
		{0xffffffff81000000, 0, BINARY_OK, true},
		{0, 0, BINARY_OK, true},
	};
	struct fixture *f = *state;
	put_kernel(f, id_a, list);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct binary_key key = kernel_key(id_a, cases[i].start);
		key.build_id_size = 0;
		key.end = cases[i].end;
		struct loaded l = load(f, &key);
		assert_int_equal(l.info.status, cases[i].status);
		assert_int_equal(l.info.is_unproven, cases[i].is_unproven);
		binary_store_destroy(l.store);
	}
}

static void refuses_another_kernel(void **state)
{
	struct fixture *f = *state;
	put_kernel(f, id_b, some_kallsyms);
	struct binary_key key = kernel_key(id_a, 0xffffffff81000000);
	struct loaded l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_NO_FILE);
	assert_string_equal(name_at(f, &l, 0xffffffff81000123), "-");
	binary_store_destroy(l.store);
	put(f, "cache/" DIR_A "/kallsyms", some_kallsyms, strlen(some_kallsyms));
	l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_OK);
	assert_string_equal(name_at(f, &l, 0xffffffff81000123), "schedule");
	binary_store_destroy(l.store);
}

static void reads_a_vmlinux(void **state)
{
	static const struct elf_builder_symbol symbols[] = {
		{"_text", TEXT, 0, STT_NOTYPE, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
		{"schedule", TEXT + 0x100, 0x40, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
	};
	struct fixture *f = *state;
	struct elf_builder what = {.is_64 = true, .symbols = symbols, .symbol_count = 2, .build_id = {id_a, 20}};
	put_elf(f, "cache/" DIR_A "/elf", &what);
	put_elf(f, "vmlinux", &what);
	put_kernel(f, id_b, some_kallsyms);
	struct binary_key key = kernel_key(id_a, TEXT + 0x200000);
	struct loaded l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_OK);
	assert_string_equal(name_at(f, &l, TEXT + 0x200120), "schedule");
	binary_store_destroy(l.store);
	/* The names of another kernel would be wrong, even if the user specifies the file. */
	key = kernel_key(id_b, TEXT);
	f->options.vmlinux = arena_printf(&f->arena, "%s/vmlinux", f->root);
	l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_BUILD_ID_DIFFERS);
	assert_string_equal(name_at(f, &l, TEXT + 0x120), "-");
	binary_store_destroy(l.store);
	key.build_id_size = 0;
	l = load(f, &key);
	assert_string_equal(name_at(f, &l, TEXT + 0x120), "schedule");
	binary_store_destroy(l.store);
	struct tally_error err;
	f->options.vmlinux = "/nonexistent";
	assert_int_equal(binary_store_create(&f->options, &l.store, &err), TALLY_NOT_FOUND);
	assert_string_equal(err.text, "Invalid file: /nonexistent");
}

static void reads_modules_of_this_kernel_only(void **state)
{
	struct fixture *f = *state;
	put_kernel(f, id_a, some_kallsyms);
	for (int foreign = 0; foreign < 2; foreign++) {
		struct binary_store *store;
		uint32_t ids[3];
		struct binary_key kernel = kernel_key(foreign ? id_b : id_a, 0xffffffff81000000);
		struct binary_key module = {
			.kind = BINARY_MODULE, .path = STR("[ext4]"), .pid = -1, .start = 0xffffffffc0000000};
		struct binary_key moved = module;
		moved.path = STR("[xfs]");
		assert_int_equal(binary_store_create(&f->options, &store, NULL), TALLY_OK);
		assert_int_equal(binary_store_add(store, &module, &ids[0], NULL), TALLY_OK);
		assert_int_equal(binary_store_add(store, &kernel, &ids[1], NULL), TALLY_OK);
		assert_int_equal(binary_store_add(store, &moved, &ids[2], NULL), TALLY_OK);
		binary_store_load(store, ids, 3);
		const struct symbol *symbol = binary_store_find(store, ids[0], 0xffffffffc0001010);
		if (foreign)
			assert_null(symbol);
		else
			assert_string_equal(symbol->name, "ext4_open");
		assert_int_equal(binary_store_info(store, ids[0]).status, foreign ? BINARY_NO_FILE : BINARY_OK);
		assert_int_equal(binary_store_info(store, ids[2]).status, foreign ? BINARY_NO_FILE : BINARY_NO_SYMBOLS);
		binary_store_destroy(store);
	}
}

static void adds_each_binary_once(void **state)
{
	struct fixture *f = *state;
	struct binary_store *store;
	uint32_t first;
	uint32_t again;
	struct binary_key key = user_key(id_a);
	assert_int_equal(binary_store_create(&f->options, &store, NULL), TALLY_OK);
	assert_int_equal(binary_store_add(store, &key, &first, NULL), TALLY_OK);
	key.pid = 7;
	assert_int_equal(binary_store_add(store, &key, &again, NULL), TALLY_OK);
	assert_int_equal(first, again);
	key.kind = BINARY_PERF_MAP;
	assert_int_equal(binary_store_add(store, &key, &first, NULL), TALLY_OK);
	key.pid = 8;
	assert_int_equal(binary_store_add(store, &key, &again, NULL), TALLY_OK);
	assert_int_not_equal(first, again);
	key = user_key(id_b);
	assert_int_equal(binary_store_add(store, &key, &first, NULL), TALLY_OK);
	assert_int_not_equal(first, again);
	binary_store_destroy(store);
}

static void reads_the_map_of_generated_code(void **state)
{
	struct fixture *f = *state;
	put(f, "fs/tmp/perf-4711.map", "7f0000001000 20 fib\n", 20);
	struct binary_key key = {.kind = BINARY_PERF_MAP, .path = STR("/tmp/perf-4711.map"), .pid = 4711};
	struct loaded l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_OK);
	assert_string_equal(name_at(f, &l, 0x7f000000101f), "fib");
	binary_store_destroy(l.store);
}

static void reads_its_own_vdso(void **state)
{
	struct fixture *f = *state;
	struct binary_key key = {.kind = BINARY_VDSO, .path = STR("[vdso]"), .pid = -1};
	struct loaded l = load(f, &key);
	/* With a --symfs root it could be the kernel of another machine. */
	assert_int_equal(l.info.status, BINARY_NO_FILE);
	binary_store_destroy(l.store);
	f->options.symfs = NULL;
	l = load(f, &key);
	if (l.info.status != BINARY_OK) {
		binary_store_destroy(l.store);
		skip_because("this process has no vdso");
	}
	bool found = false;
	for (uint64_t offset = 0; offset < 0x4000 && !found; offset += 16)
		found = strstr(name_at(f, &l, offset), "clock_gettime") != NULL;
	assert_true(found);
	binary_store_destroy(l.store);
	memcpy(key.build_id, id_a, 20);
	key.build_id_size = 20;
	l = load(f, &key);
	assert_int_equal(l.info.status, BINARY_NO_FILE);
	binary_store_destroy(l.store);
}

static void reads_the_vdso_of_32_bit_programs(void **state)
{
	struct fixture *f = *state;
	struct binary_key key = {.kind = BINARY_VDSO, .path = STR("[vdso32]"), .pid = -1};
	f->options.symfs = NULL;
	struct loaded l = load(f, &key);
	if (l.info.status != BINARY_OK) {
		binary_store_destroy(l.store);
		skip_because("this kernel maps no vdso of 32-bit programs into others");
	}
	bool found = false, has_return = false;
	for (uint64_t offset = 0; offset < 0x4000; offset += 4) {
		found |= strstr(name_at(f, &l, offset), "clock_gettime64") != NULL;
		has_return |= strstr(name_at(f, &l, offset), "__kernel_rt_sigreturn") != NULL;
		assert_null(strstr(name_at(f, &l, offset), "getrandom")); /* Only the other vDSO has this function. */
	}
	assert_true(found && has_return);
	assert_non_null(binary_store_unwind(l.store, l.id));
	binary_store_destroy(l.store);
}

/* A binary that is loaded ahead gives the same result, whether the background thread has reached it or not, and with or
 * without names. */
static void what_is_loaded_ahead_is_as_loaded(void **state)
{
	struct fixture *f = *state;
	struct elf_builder what = full(id_a);
	struct binary_key key = user_key(id_a), missing = user_key(id_a);
	missing.path = STR("/bin/missing");
	put_elf(f, "fs/bin/prog", &what);
	for (unsigned i = 0; i < 4; i++) {
		struct loaded l = {.id = 0};
		uint32_t ids[2];
		f->options.threads = i % 2 ? 1 : 2;
		assert_int_equal(binary_store_create(&f->options, &l.store, NULL), TALLY_OK);
		assert_int_equal(binary_store_add(l.store, &key, &ids[0], NULL), TALLY_OK);
		assert_int_equal(binary_store_add(l.store, &missing, &ids[1], NULL), TALLY_OK);
		binary_store_load_ahead(l.store, ids[0]);
		binary_store_load_ahead(l.store, ids[1]);
		if (i < 2)
			binary_store_end_ahead(l.store);
		binary_store_load(l.store, ids, 2);
		l.id = ids[0];
		assert_int_equal(binary_store_info(l.store, ids[0]).status, BINARY_OK);
		assert_int_equal(binary_store_info(l.store, ids[1]).status, BINARY_NO_FILE);
		assert_string_equal(name_at(f, &l, OFFSET + 0x30), "helper");
		binary_store_load_ahead(l.store, ids[0]); /* It is loaded already. */
		binary_store_destroy(l.store);
	}
	/* The background thread must not wait forever. */
	struct binary_store *store;
	uint32_t id;
	assert_int_equal(binary_store_create(&f->options, &store, NULL), TALLY_OK);
	assert_int_equal(binary_store_add(store, &key, &id, NULL), TALLY_OK);
	binary_store_load_ahead(store, id);
	binary_store_destroy(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(finds_functions_by_file_offset),
		TEST(what_was_forgotten_is_loaded_again),
		TEST(refuses_another_build_id),
		TEST(prefers_the_cached_file),
		TEST(reads_separate_debug_files),
		TEST(follows_the_debug_link),
		TEST(tells_why_there_are_no_symbols),
		TEST(reads_this_kernel_where_it_ran),
		TEST(tells_builds_of_a_kernel_by_the_end_of_their_text),
		TEST(refuses_another_kernel),
		TEST(refuses_a_kernel_that_lay_elsewhere),
		TEST(reads_a_vmlinux),
		TEST(reads_modules_of_this_kernel_only),
		TEST(adds_each_binary_once),
		TEST(reads_the_map_of_generated_code),
		TEST(reads_its_own_vdso),
		TEST(reads_the_vdso_of_32_bit_programs),
		TEST(what_is_loaded_ahead_is_as_loaded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
