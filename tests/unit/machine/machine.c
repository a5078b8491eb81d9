/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/machine.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "machine/address_space.h"
#include "machine/binary_id.h"
#include "unit_test.h"

static struct machine *new_machine(void)
{
	struct machine *m;
	assert_int_equal(machine_create(&m, NULL), TALLY_OK);
	return m;
}

static void apply(struct machine *m, struct record_fields fields, uint16_t misc, uint64_t time)
{
	struct record record = {.type = fields.type, .misc = misc};
	assert_int_equal(machine_apply(m, &record, &fields, time, NULL), TALLY_OK);
}

#define CODE_PROT 5 /* PROT_READ | PROT_EXEC */

static void map(struct machine *m, uint32_t pid, uint64_t start, uint64_t len, const char *name, uint64_t time)
{
	struct record_fields f = {.type = RECORD_MMAP2,
		.mmap = {.pid = pid,
			.tid = pid,
			.start = start,
			.len = len,
			.pgoff = 0x100,
			.prot = CODE_PROT,
			.filename = str_from(name)}};
	apply(m, f, pid == UINT32_MAX ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER, time);
}

static void map_code(struct machine *m, uint64_t start, uint64_t end, uint64_t pgoff, const char *name, uint64_t time)
{
	struct record_fields f = {.type = RECORD_MMAP2,
		.mmap = {.pid = 7,
			.tid = 7,
			.start = start,
			.len = end - start,
			.pgoff = pgoff,
			.prot = 5,
			.filename = str_from(name)}};
	apply(m, f, MISC_CPUMODE_USER, time);
}

static void fork_process(struct machine *m, uint32_t parent, uint32_t child, uint64_t time)
{
	struct record_fields f = {.type = RECORD_FORK, .task = {child, parent, child, parent, time}};
	apply(m, f, 0, time);
}

static void comm(struct machine *m, uint32_t tid, const char *name, bool is_exec, uint64_t time)
{
	struct record_fields f = {
		.type = RECORD_COMM, .comm = {.pid = tid, .tid = tid, .is_exec = is_exec, .comm = str_from(name)}};
	apply(m, f, 0, time);
}

static void assert_mapped(struct machine *m, int32_t pid, uint64_t time, uint64_t address, const char *name)
{
	const struct mapping *found = machine_find_mapping(m, pid, time, MISC_CPUMODE_USER, VA(address));
	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	struct tally_str path = machine_string(m, machine_binary_get(m, found->binary)->path);
	assert_true(str_equal(path, str_from(name)));
}

static void assert_comm(struct machine *m, int32_t tid, uint64_t time, const char *name)
{
	uint32_t id = machine_comm_at(m, tid, time);
	if (!name) {
		assert_int_equal(id, INTERN_NONE);
		return;
	}
	assert_true(str_equal(machine_string(m, id), str_from(name)));
}

static void test_a_newer_mapping_wins_from_its_time_on(void **state)
{
	struct machine *m = new_machine();
	map(m, 1, 0x1000, 0x3000, "/a", 10);
	map(m, 1, 0x2000, 0x1000, "/b", 20);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_mapped(m, 1, 9, 0x1000, NULL);
	assert_mapped(m, 1, 10, 0x2800, "/a");
	assert_mapped(m, 1, 20, 0x1fff, "/a");
	assert_mapped(m, 1, 20, 0x2000, "/b");
	assert_mapped(m, 1, 20, 0x2fff, "/b");
	assert_mapped(m, 1, 20, 0x3000, "/a");
	assert_mapped(m, 1, 20, 0x4000, NULL);
	const struct mapping *tail = machine_find_mapping(m, 1, 30, MISC_CPUMODE_USER, VA(0x3010));
	assert_int_equal(machine_address_in_binary(m, tail, VA(0x3010)), 0x3010 - 0x1000 + 0x100);
	machine_destroy(m);
}

static void test_a_child_sees_its_parents_mappings_as_of_the_fork(void **state)
{
	struct machine *m = new_machine();
	map(m, 1, 0x1000, 0x1000, "/a", 0);
	fork_process(m, 1, 2, 10);
	map(m, 1, 0x5000, 0x1000, "/late", 20);
	map(m, 2, 0x1000, 0x800, "/own", 30);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_mapped(m, 2, 9, 0x1000, NULL);
	assert_mapped(m, 2, 10, 0x1000, "/a");
	assert_mapped(m, 2, 40, 0x1000, "/own");
	assert_mapped(m, 2, 40, 0x1900, "/a");
	assert_mapped(m, 2, 40, 0x5000, NULL);
	assert_mapped(m, 1, 40, 0x1000, "/a");
	machine_destroy(m);
}

/* Each child sees the mappings that its parent had at the fork, whatever was mapped later. */
static void test_forks_of_who_maps_nothing(void **state)
{
	(void)state;
	struct machine *m = new_machine();
	map(m, 1, 0x1000, 0x1000, "/a", 1);
	fork_process(m, 1, 2, 10);
	map(m, 1, 0x1000, 0x1000, "/b", 20);
	fork_process(m, 2, 3, 30);
	map(m, 2, 0x1000, 0x1000, "/c", 40);
	fork_process(m, 3, 4, 50);
	fork_process(m, 2, 5, 50);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	static const char *const expected[] = {"/b", "/c", "/a", "/a", "/c"};
	for (int32_t pid = 1; pid <= 5; pid++) {
		const struct mapping *found = machine_find_mapping(m, pid, 60, MISC_CPUMODE_USER, VA(0x1800));
		assert_non_null(found);
		assert_string_equal(
			machine_string(m, machine_binary_get(m, found->binary)->path).data, expected[pid - 1]);
	}
	machine_destroy(m);
}

static void test_forks_of_forks_are_not_lost(void **state)
{
	struct machine *m = new_machine();
	map(m, 1, 0x1000, 0x1000, "/a", 0);
	for (uint32_t pid = 1; pid < 100; pid++) {
		char name[16];
		fork_process(m, pid, pid + 1, pid * 10);
		snprintf(name, sizeof(name), "/lib%u", pid + 1);
		map(m, pid + 1, 0x100000 + pid * 0x1000, 0x1000, name, pid * 10 + 5);
	}
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_mapped(m, 100, 5000, 0x1000, "/a");
	assert_mapped(m, 100, 5000, 0x100000 + 0x1000, "/lib2");
	assert_mapped(m, 100, 5000, 0x100000 + 99 * 0x1000, "/lib100");
	assert_mapped(m, 50, 5000, 0x100000 + 60 * 0x1000, NULL);
	machine_destroy(m);
}

static void test_exec_renames_and_lets_the_old_image_shine_through(void **state)
{
	struct machine *m = new_machine();
	map(m, 1, 0x1000, 0x1000, "/sh", 0);
	comm(m, 1, "sh", false, 0);
	comm(m, 1, "cc1", true, 10);
	map(m, 1, 0x1000, 0x800, "/cc1", 11);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_mapped(m, 1, 12, 0x1000, "/cc1");
	assert_mapped(m, 1, 12, 0x1900, "/sh");
	assert_mapped(m, 1, 5, 0x1000, "/sh");
	assert_comm(m, 1, 5, "sh");
	assert_comm(m, 1, 10, "cc1");
	assert_int_not_equal(machine_epoch_during(m, 1, 5, NULL), machine_epoch_during(m, 1, 10, NULL));
	assert_int_not_equal(machine_epoch_during(m, 1, 10, NULL), machine_epoch_during(m, 1, 11, NULL));
	assert_int_equal(machine_epoch_during(m, 1, 11, NULL), machine_epoch_during(m, 1, 99, NULL));
	machine_destroy(m);
}

static void test_a_reused_pid_is_another_process(void **state)
{
	struct machine *m = new_machine();
	map(m, 7, 0x1000, 0x1000, "/old", 0);
	comm(m, 7, "old", false, 0);
	comm(m, 1, "parent", false, 0);
	fork_process(m, 1, 7, 50);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_mapped(m, 7, 49, 0x1000, "/old");
	assert_mapped(m, 7, 50, 0x1000, NULL);
	assert_comm(m, 7, 49, "old");
	assert_comm(m, 7, 50, "parent");
	assert_comm(m, 8, 50, NULL);
	assert_comm(m, 0, 0, "swapper");
	machine_destroy(m);
}

static void test_kernel_modules_and_programs(void **state)
{
	struct machine *m = new_machine();
	map(m, UINT32_MAX, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text", 0);
	map(m, UINT32_MAX, 0xffffffffc0000000, 0x4000, "/lib/modules/6.1/kernel/net/nf-nat.ko.xz", 0);
	struct record_fields f = {.type = RECORD_KSYMBOL,
		.ksymbol = {.addr = 0xffffffffc1000000,
			.len = 64,
			.ksym_type = KSYMBOL_TYPE_BPF,
			.name = STR("bpf_prog_1")}};
	apply(m, f, 0, 10);
	f.ksymbol.flags = KSYMBOL_FLAG_UNREGISTER;
	apply(m, f, 0, 20);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	const struct mapping *kernel = machine_find_mapping(m, 5, 0, MISC_CPUMODE_KERNEL, VA(0xffffffff81000010));
	assert_non_null(kernel);
	assert_int_equal(machine_binary_get(m, kernel->binary)->kind, MACHINE_KERNEL);
	assert_int_equal(machine_address_in_binary(m, kernel, VA(0xffffffff81000010)), 0xffffffff81000010);
	const struct mapping *module = machine_find_mapping(m, 5, 0, MISC_CPUMODE_KERNEL, VA(0xffffffffc0000010));
	const struct machine_binary *binary = machine_binary_get(m, module->binary);
	assert_int_equal(binary->kind, MACHINE_KERNEL_MODULE);
	assert_true(str_equal(machine_string(m, binary->short_name), STR("[nf_nat]")));
	const struct mapping *program = machine_find_mapping(m, 5, 15, MISC_CPUMODE_KERNEL, VA(0xffffffffc1000001));
	assert_int_equal(machine_binary_get(m, program->binary)->kind, MACHINE_BPF);
	program = machine_find_mapping(m, 5, 25, MISC_CPUMODE_KERNEL, VA(0xffffffffc1000001));
	assert_true(!program || machine_binary_get(m, program->binary)->kind != MACHINE_BPF);
	assert_null(machine_find_mapping(m, 5, 0, MISC_CPUMODE_USER, VA(0xffffffff81000010)));
	machine_destroy(m);
}

static void list_id(struct machine *m, uint16_t misc, int32_t pid, const char *path, uint8_t first)
{
	struct machine_listed_id entry = {misc, pid, str_from(path), {.size = 20, .bytes = {first}}};
	assert_int_equal(machine_add_build_id(m, &entry, NULL), TALLY_OK);
}

static void test_names_that_are_no_files(void **state)
{
	static const struct {
		const char *name, *short_name;
		enum machine_binary_kind kind;
	} cases[] = {
		{"//anon", "[JIT] tid 3", MACHINE_ANON_JIT},
		{"[heap]", "[JIT] tid 3", MACHINE_ANON_JIT},
		{"[stack]", "[JIT] tid 3", MACHINE_ANON_JIT},
		{"/SYSV00000000 (deleted)", "[JIT] tid 3", MACHINE_ANON_JIT},
		{"[vsyscall]", "[vsyscall]", MACHINE_NO_FILE},
		{"[vdso]", "[vdso]", MACHINE_VDSO}, /* Lower than the vDSO of any program: inject --aslr moved it. */
		{"[vdso32]", "[vdso32]", MACHINE_VDSO},
		{"/usr/lib/libc.so.6", "libc.so.6", MACHINE_USER_FILE},
		{"/", "/", MACHINE_USER_FILE},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct machine *m = new_machine();
		map(m, 3, 0x1000, 0x1000, cases[i].name, 0);
		assert_int_equal(machine_finish(m, NULL), TALLY_OK);
		const struct mapping *found = machine_find_mapping(m, 3, 0, MISC_CPUMODE_USER, VA(0x1000));
		const struct machine_binary *binary = machine_binary_get(m, found->binary);
		assert_int_equal(binary->kind, cases[i].kind);
		assert_true(str_equal(machine_string(m, binary->short_name), str_from(cases[i].short_name)));
		machine_destroy(m);
	}
}

static void test_each_kind_of_program_has_its_vdso(void **state)
{
	(void)state;
	for (int is_32_bit = 0; is_32_bit < 2; is_32_bit++) {
		struct machine *m = new_machine();
		if (is_32_bit)
			machine_set_32_bit(m);
		map(m, 1, 0x7fff12345000, 0x2000, "[vdso]", 0);
		map(m, 2, 0xf7fc1000, 0x2000, "[vdso]", 0);
		map(m, 3, 0x7ffe00000000, 0x2000, "[vdso]", 0);
		map(m, 4, 0xf7fd1000, 0x2000, "[vdso]", 0);
		map(m, 5, 0x40000000, 0x2000, "[vdso]", 0);
		map(m, 6, 0x359000, 0x2000, "[vdso]", 0); /* inject --aslr moved it. */
		list_id(m, MISC_CPUMODE_USER, -1, "[vdso]", 1);
		list_id(m, MISC_CPUMODE_USER, -1, "[vdso32]", 2);
		assert_int_equal(machine_finish(m, NULL), TALLY_OK);
		const char *small = is_32_bit ? "[vdso]" : "[vdso32]";
		assert_mapped(m, 1, 1, 0x7fff12345100, "[vdso]");
		assert_mapped(m, 2, 1, 0xf7fc1100, small);
		assert_mapped(m, 3, 1, 0x7ffe00000100, "[vdso]");
		assert_mapped(m, 4, 1, 0xf7fd1100, small);
		assert_mapped(m, 5, 1, 0x40000100, small);
		assert_mapped(m, 6, 1, 0x359100, "[vdso]");
		const struct mapping *of_32 = machine_find_mapping(m, 2, 1, MISC_CPUMODE_USER, VA(0xf7fc1100));
		assert_int_equal(machine_binary_get(m, of_32->binary)->build_id.bytes[0], is_32_bit ? 1 : 2);
		machine_destroy(m);
	}
}

static void anonymous_memory_is_code_if_it_may_run(void **state)
{
	struct machine *m = new_machine();
	struct record_fields data = {.type = RECORD_MMAP2,
		.mmap = {.pid = 3, .tid = 3, .start = 0x1000, .len = 0x1000, .prot = 3, .filename = STR("//anon")}};
	apply(m, data, MISC_CPUMODE_USER, 0);
	map(m, 3, 0x4000, 0x1000, "//anon", 0);
	data.mmap.start = 0x8000;
	data.mmap.filename = STR("[heap]");
	apply(m, data, MISC_CPUMODE_USER, 0);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	const struct mapping *heap = machine_find_mapping(m, 3, 0, MISC_CPUMODE_USER, VA(0x8000));
	assert_int_equal(machine_binary_get(m, heap->binary)->kind, MACHINE_NO_FILE);
	const struct mapping *of_data = machine_find_mapping(m, 3, 0, MISC_CPUMODE_USER, VA(0x1000));
	const struct mapping *of_code = machine_find_mapping(m, 3, 0, MISC_CPUMODE_USER, VA(0x4000));
	assert_int_equal(machine_binary_get(m, of_code->binary)->kind, MACHINE_ANON_JIT);
	const struct machine_binary *binary = machine_binary_get(m, of_data->binary);
	assert_int_equal(binary->kind, MACHINE_ANON_DATA);
	assert_true(str_equal(machine_string(m, binary->short_name), STR("anon")));
	assert_true(str_equal(machine_string(m, binary->path), STR("//anon")));
	machine_destroy(m);
}

/* Code that is mapped twice, writable and executable, is in a shared file in memory; program files in memory are mapped
 * privately. */
static void shared_memory_files_are_generated_code(void **state)
{
	static const struct {
		const char *name;
		uint32_t flags;
		uint8_t build_id_size;
		enum machine_binary_kind kind;
	} cases[] = {
		{"/memfd:doublemapper (deleted)", 1, 0, MACHINE_ANON_JIT},
		{"/memfd:program (deleted)", 2, 0, MACHINE_USER_FILE},
		{"/memfd:library (deleted)", 1, 20, MACHINE_USER_FILE},
		{"/dev/shm/code", 1, 0, MACHINE_ANON_JIT},
		{"/dev/hugepages/code", 1, 0, MACHINE_ANON_JIT},
		{"/tmp/ffiXK2gfy (deleted)", 1, 0, MACHINE_ANON_JIT},
		{"/tmp/program (deleted)", 2, 0, MACHINE_USER_FILE},
		{"/tmp/code", 1, 0, MACHINE_USER_FILE},
		{"anon_inode:[code]", 1, 0, MACHINE_ANON_JIT},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct machine *m = new_machine();
		struct record_fields f = {.type = RECORD_MMAP2,
			.mmap = {.pid = 3,
				.tid = 3,
				.start = 0x1000,
				.len = 0x1000,
				.prot = 5,
				.flags = cases[i].flags,
				.build_id = {.size = cases[i].build_id_size, .bytes = {1}},
				.filename = str_from(cases[i].name)}};
		apply(m, f, MISC_CPUMODE_USER, 0);
		assert_int_equal(machine_finish(m, NULL), TALLY_OK);
		const struct mapping *found = machine_find_mapping(m, 3, 0, MISC_CPUMODE_USER, VA(0x1000));
		assert_int_equal(machine_binary_get(m, found->binary)->kind, cases[i].kind);
		machine_destroy(m);
	}
}

static uint32_t rank_of(struct machine *m, const struct record_mmap *file)
{
	struct record_fields f = {.type = RECORD_MMAP2, .mmap = *file};
	f.mmap.pid = f.mmap.tid = 7;
	f.mmap.start = 0x1000;
	f.mmap.len = 0x1000;
	apply(m, f, MISC_CPUMODE_USER, 1);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	const struct mapping *found = machine_find_mapping(m, 7, 2, MISC_CPUMODE_USER, VA(0x1800));
	return machine_file_rank(m, found->file);
}

static void test_files_by_inode_and_build_id(void **state)
{
	const struct record_mmap all[] = {/* In their final order. */
		{.filename = STR("/dev/shm/a"), .major = 8, .inode = 5},
		{.filename = STR("/dev/shm/a"), .major = 8, .inode = 5, .inode_generation = 1},
		{.filename = STR("/dev/shm/a"), .major = 8, .inode = 6},
		{.filename = STR("/dev/shm/a"), .major = 9, .inode = 1}};
	(void)state;
	struct machine *m = new_machine();
	for (size_t i = 4; i-- > 0;)
		assert_int_equal(rank_of(m, &all[i]), 1);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(rank_of(m, &all[i]), i + 1);
	struct record_mmap other = all[1];
	other.filename = STR("/link");
	assert_int_equal(rank_of(m, &other), 2);
	other = (struct record_mmap){.filename = STR("/a"), .has_build_id = true, .build_id = {20, {1}}};
	assert_int_equal(rank_of(m, &other), 1);
	other.build_id.bytes[19] = 1;
	assert_int_equal(rank_of(m, &other), 2);
	other = (struct record_mmap){.filename = STR("//anon")};
	assert_int_equal(rank_of(m, &other), 0);
	other = (struct record_mmap){.filename = STR("anon_inode:[perf_event]"), .inode = 9};
	assert_int_equal(rank_of(m, &other), 0);
	machine_destroy(m);
}

static void test_build_ids_by_path(void **state)
{
	struct machine *m = new_machine();
	const uint8_t id[20] = {0xaa};
	map(m, 1, 0x1000, 0x1000, "/a", 0);
	assert_null(machine_listed_build_id(m, 0));
	list_id(m, MISC_CPUMODE_USER, -1, "/a", 0xaa);
	assert_int_equal(machine_binary_get(m, 0)->build_id.size, 0);
	/* The same build ID as after machine_finish. */
	assert_memory_equal(machine_listed_build_id(m, 0)->bytes, id, 20);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	const struct mapping *found = machine_find_mapping(m, 1, 0, MISC_CPUMODE_USER, VA(0x1000));
	assert_int_equal(machine_binary_get(m, found->binary)->build_id.size, 20);
	assert_int_equal(machine_binary_get(m, found->binary)->build_id.bytes[0], 0xaa);
	machine_destroy(m);
}

static const struct machine_binary *kernel_binary_at(struct machine *m, uint64_t address)
{
	const struct mapping *found = machine_find_mapping(m, 5, 0, MISC_CPUMODE_KERNEL, VA(address));
	assert_non_null(found);
	return machine_binary_get(m, found->binary);
}

/* Modules are named without directory and suffix, in brackets; names with brackets and too long names
 * stay as they are. */
static void test_names_of_modules(void **state)
{
	static char longest[] = "/lib/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abc.ko";
	static char longer[] = "/lib/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd.ko";
	static const struct {
		const char *path, *name;
	} cases[] = {{"/lib/nf-nat.ko.xz", "[nf_nat]"}, {"[veth]", "[veth]"}, {"/x/[odd].ko", "[odd].ko"},
		{"/x/.ko", "[]"}, {"", "[]"}, {"plain", "[plain]"},
		{longest, "[0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abc]"},
		{longer, longer + 5}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct machine *m = new_machine();
		map(m, UINT32_MAX, 0xffffffffc0000000, 0x1000, cases[i].path, 0);
		assert_int_equal(machine_finish(m, NULL), TALLY_OK);
		const struct machine_binary *binary = kernel_binary_at(m, 0xffffffffc0000010);
		assert_int_equal(binary->kind, MACHINE_KERNEL_MODULE);
		assert_true(str_equal(machine_string(m, binary->path), str_from(cases[i].path)));
		assert_true(str_equal(machine_string(m, binary->short_name), str_from(cases[i].name)));
		assert_int_equal(machine_module_offset(binary, 0xffffffffc0000010), 0x10);
		machine_destroy(m);
	}
}

/* The kernel of a guest, whatever its name, is no file of this machine; the kernel of the host starts at its reference
 * symbol. */
static void test_kernels(void **state)
{
	struct machine *m = new_machine();
	struct record_fields f = {.type = RECORD_MMAP,
		.mmap = {.pid = UINT32_MAX,
			.start = 0xffffffff81000000,
			.len = 0x1000,
			.pgoff = 0xffffffff81000123,
			.filename = STR("[kernel.kallsyms]_stext")}};
	apply(m, f, MISC_CPUMODE_KERNEL, 0);
	map(m, UINT32_MAX, 0xffffffffd0000000, 0x1000, "[guest.kernel.kallsyms.5]", 0);
	map(m, UINT32_MAX, 0xffffffffc0000000, 0x1000, "[veth]", 0);
	list_id(m, MISC_CPUMODE_KERNEL, -1, "[veth]", 1);
	list_id(m, MISC_CPUMODE_KERNEL, -1, "[veth]", 2); /* The first entry takes precedence. */
	list_id(m, MISC_CPUMODE_KERNEL, -1, "[kernel.kallsyms]", 3);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	const struct machine_binary *kernel = kernel_binary_at(m, 0xffffffff81000010);
	assert_int_equal(kernel->kind, MACHINE_KERNEL);
	assert_int_equal(kernel->start, 0xffffffff81000123);
	assert_int_equal(kernel->end, 0xffffffff81001000);
	assert_int_equal(kernel->build_id.bytes[0], 3);
	assert_true(kernel->is_listed);
	assert_true(str_equal(machine_string(m, kernel->short_name), STR("[kernel.kallsyms]")));
	/* The kernel extends to the next module. */
	assert_int_equal(kernel_binary_at(m, 0xffffffffbfffffff)->kind, MACHINE_KERNEL);
	const struct machine_binary *module = kernel_binary_at(m, 0xffffffffc0000010);
	assert_int_equal(module->build_id.bytes[0], 1);
	assert_int_equal(module->start, 0xffffffffc0000000);
	const struct machine_binary *guest = kernel_binary_at(m, 0xffffffffd0000010);
	assert_int_equal(guest->kind, MACHINE_NO_FILE);
	assert_true(str_equal(machine_string(m, guest->path), STR("[guest.kernel.kallsyms]")));
	assert_false(guest->is_listed);
	machine_destroy(m);
}

/* After a BPF program with only an unregister record, its addresses belong to the kernel image again, up to the next
 * mapping. */
static void test_the_kernel_closes_holes(void **state)
{
	struct machine *m = new_machine();
	map(m, UINT32_MAX, 0xffffffff81000000, 0x1000, "[kernel.kallsyms]_text", 0);
	map(m, UINT32_MAX, 0xffffffffc0000000, 0x1000, "[veth]", 0);
	struct record_fields f = {.type = RECORD_KSYMBOL,
		.ksymbol = {.addr = 0xffffffffa0000000,
			.len = 64,
			.flags = KSYMBOL_FLAG_UNREGISTER,
			.name = STR("bpf_prog_1")}};
	apply(m, f, 0, 10);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	static const struct {
		uint64_t address, start, end;
	} cases[] = {{0xffffffff81000000, 0xffffffff81000000, 0xffffffffa0000040},
		{0xffffffffa0000020, 0xffffffff81000000, 0xffffffffa0000040},
		{0xffffffffa0000040, 0xffffffffa0000040, 0xffffffffc0000000},
		{0xffffffffc0001000, 0xffffffffc0001000, UINT64_MAX}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct mapping *found = machine_find_mapping(m, 5, 20, MISC_CPUMODE_KERNEL, VA(cases[i].address));
		assert_non_null(found);
		assert_int_equal(machine_binary_get(m, found->binary)->kind, MACHINE_KERNEL);
		assert_int_equal(found->start, cases[i].start);
		assert_int_equal(found->end, cases[i].end);
	}
	machine_destroy(m);
}

/* The cpumode and the name identify the kernel among the listed files. */
static void test_which_listed_file_is_the_kernel(void **state)
{
	static const struct {
		uint16_t mode;
		const char *path;
		bool is_kernel;
	} cases[] = {{MISC_CPUMODE_KERNEL, "/boot/vmlinux", true}, {MISC_CPUMODE_KERNEL, "[kernel.kcore]", true},
		{MISC_CPUMODE_KERNEL, "[kernel.kallsyms]", true}, {MISC_CPUMODE_KERNEL, "[kernel.vmlinux]", true},
		{MISC_CPUMODE_KERNEL, "[veth]", false}, {MISC_CPUMODE_KERNEL, "/lib/veth.ko", false},
		{MISC_CPUMODE_KERNEL, "/lib/veth.ko.xz", false}, {MISC_CPUMODE_KERNEL, "/lib/veth.kox", true},
		{MISC_CPUMODE_KERNEL, "/lib/.ko", true}, {MISC_CPUMODE_KERNEL, "/v.ko.d/vmlinux", true},
		{MISC_CPUMODE_KERNEL, "bpf_prog_12", false}, {MISC_CPUMODE_KERNEL, "bpf_trampoline_1", false},
		{MISC_CPUMODE_KERNEL, "", false}, {MISC_CPUMODE_USER, "/boot/vmlinux", false},
		{MISC_CPUMODE_USER, "[kernel.kallsyms]", true}, {0, "[kernel.kallsyms]", true},
		{MISC_CPUMODE_GUEST_KERNEL, "[kernel.kallsyms]", false},
		{MISC_CPUMODE_GUEST_KERNEL, "/boot/vmlinux", false}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(binary_is_listed_kernel(cases[i].mode, str_from(cases[i].path)), cases[i].is_kernel);
}

static void map_guest(struct machine *m, uint64_t start, const char *name)
{
	struct record_fields f = {.type = RECORD_MMAP,
		.mmap = {.pid = 1234, .tid = 1234, .start = start, .len = 0x1000, .filename = str_from(name)}};
	apply(m, f, MISC_CPUMODE_GUEST_KERNEL, 0);
}

/* perf lists the kernel by the path of a vmlinux if it found one, and guests by the same paths; a module is mapped by
 * its name and listed by its file, or vice versa. */
static void test_build_ids_are_of_who_is_listed(void **state)
{
	(void)state;
	static const char module[] = "/lib/modules/6.1/kernel/net/nf-nat.ko.xz";
	struct machine *m = new_machine();
	map(m, UINT32_MAX, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text", 0);
	map(m, UINT32_MAX, 0xffffffffc0000000, 0x4000, module, 0);
	map(m, UINT32_MAX, 0xffffffffc0004000, 0x4000, "[veth]", 0);
	map(m, 1, 0x1000, 0x1000, "/src/linux/vmlinux", 0);
	map_guest(m, 0x100000, "[guest.kernel.kallsyms.1234]");
	list_id(m, MISC_CPUMODE_GUEST_KERNEL, 0, "/guest/vmlinux", 1);
	list_id(m, MISC_CPUMODE_GUEST_KERNEL, 1234, "/other/vmlinux", 2);
	list_id(m, MISC_CPUMODE_GUEST_KERNEL, 1234, module, 3);
	list_id(m, MISC_CPUMODE_GUEST_USER, 1234, "/src/linux/vmlinux", 4);
	list_id(m, MISC_CPUMODE_KERNEL, -1, "[vdso]", 5);
	list_id(m, MISC_CPUMODE_KERNEL, -1, "bpf_prog_1234_x", 6);
	list_id(m, MISC_CPUMODE_KERNEL, -1, "/src/linux/vmlinux", 7);
	list_id(m, MISC_CPUMODE_KERNEL, -1, "[nf_nat]", 8);
	list_id(m, MISC_CPUMODE_KERNEL, -1, "/lib/modules/6.1/kernel/drivers/net/veth.ko", 9);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	const struct machine_binary *kernel = kernel_binary_at(m, 0xffffffff81000010);
	assert_int_equal(kernel->build_id.bytes[0], 7);
	assert_true(str_equal(machine_string(m, kernel->path), STR("/src/linux/vmlinux")));
	assert_true(str_equal(machine_string(m, kernel->short_name), STR("[kernel.vmlinux]")));
	assert_int_equal(kernel_binary_at(m, 0xffffffffc0000010)->build_id.bytes[0], 8);
	assert_int_equal(kernel_binary_at(m, 0xffffffffc0004010)->build_id.bytes[0], 9);
	const struct mapping *user = machine_find_mapping(m, 1, 0, MISC_CPUMODE_USER, VA(0x1000));
	assert_int_equal(machine_binary_get(m, user->binary)->build_id.size, 0);
	const struct mapping *guest = machine_find_mapping(m, 1234, 0, MISC_CPUMODE_USER, VA(0x100000));
	assert_int_equal(machine_binary_get(m, guest->binary)->build_id.bytes[0], 2);
	machine_destroy(m);
}

/* The end of the kernel's mapping identifies its build, unless the recorder truncated it at the next module. */
static void test_the_end_of_the_kernels_text(void **state)
{
	(void)state;
	static const struct {
		uint64_t len, module, end;
	} cases[] = {{0x1000000, 0xffffffffc0000000, 0xffffffff82000000}, {0x3f000000, 0xffffffffc0000000, 0},
		{0, 0xffffffffc0000000, 0}};
	for (size_t i = 0; i < 3; i++) {
		struct machine *m = new_machine();
		map(m, UINT32_MAX, 0xffffffff81000000, cases[i].len, "[kernel.kallsyms]_text", 0);
		map(m, UINT32_MAX, cases[i].module, 0x4000, "[veth]", 0);
		list_id(m, 0, -1, "[kernel.kallsyms]", 7); /* Some writers store no cpumode. */
		assert_int_equal(machine_finish(m, NULL), TALLY_OK);
		assert_int_equal(kernel_binary_at(m, 0xffffffff81000010)->text_end, cases[i].end);
		assert_int_equal(kernel_binary_at(m, 0xffffffff81000010)->build_id.bytes[0], 7);
		machine_destroy(m);
	}
}

/* If several files of one path have no build ID of their own, the table applies to the one that was mapped last. */
static void test_listed_build_id_of_several_files(void **state)
{
	struct record_mmap files[] = {{.filename = STR("/a"), .major = 8, .inode = 5},
		{.filename = STR("/a"), .major = 8, .inode = 6}, {.filename = STR("/a"), .major = 8, .inode = 5}};
	(void)state;
	struct machine *m = new_machine();
	for (uint32_t i = 0; i < 3; i++)
		(void)rank_of(m, &files[i]);
	assert_int_equal(machine_binary_count(m), 2);
	assert_int_equal(machine_binary_get(m, 0)->file.inode, 5);
	list_id(m, 0, -1, "/a", 0xaa);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_int_equal(machine_binary_get(m, 0)->build_id.size, 0);
	assert_int_equal(machine_binary_get(m, 1)->build_id.size, 20);
	machine_destroy(m);
	/* The table applies to the file with that build ID in its records, not to the one without. */
	m = new_machine();
	files[0].has_build_id = true;
	files[0].build_id = (struct record_build_id){20, {0xaa}};
	for (uint32_t i = 0; i < 2; i++)
		(void)rank_of(m, &files[i]);
	list_id(m, 0, -1, "/a", 0xaa);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_true(machine_binary_get(m, 0)->has_own_id);
	assert_int_equal(machine_binary_get(m, 1)->build_id.size, 0);
	machine_destroy(m);
}

/* Files of one path, one after the other and alternating, are distinguished by every number of their identity. */
static void test_files_that_differ_in_one_number(void **state)
{
	const struct record_mmap files[] = {
		{.filename = STR("/library.so"), .major = 8, .minor = 1, .inode = 5, .inode_generation = 3},
		{.filename = STR("/library.so"), .major = 9, .minor = 1, .inode = 5, .inode_generation = 3},
		{.filename = STR("/library.so"), .major = 8, .minor = 2, .inode = 5, .inode_generation = 3},
		{.filename = STR("/library.so"), .major = 8, .minor = 1, .inode = 6, .inode_generation = 3},
		{.filename = STR("/library.so"), .major = 8, .minor = 1, .inode = 5, .inode_generation = 4}};
	const uint32_t count = ARRAY_LEN(files);
	for (uint32_t a = 0; a < count; a++)
		for (uint32_t b = 0; b < count; b++) {
			struct machine *m = new_machine();
			const uint32_t order[] = {a, b, a};
			for (uint32_t i = 0; i < 3; i++) {
				struct record_fields f = {.type = RECORD_MMAP2, .mmap = files[order[i]]};
				f.mmap.pid = f.mmap.tid = 7;
				f.mmap.start = 0x1000 * (i + 1);
				f.mmap.len = 0x1000;
				apply(m, f, MISC_CPUMODE_USER, 1);
			}
			assert_int_equal(machine_finish(m, NULL), TALLY_OK);
			assert_int_equal(machine_binary_count(m), a == b ? 1 : 2);
			const struct mapping *first = machine_find_mapping(m, 7, 2, MISC_CPUMODE_USER, VA(0x1000));
			const struct mapping *other = machine_find_mapping(m, 7, 2, MISC_CPUMODE_USER, VA(0x2000));
			const struct mapping *last = machine_find_mapping(m, 7, 2, MISC_CPUMODE_USER, VA(0x3000));
			assert_int_equal(first->binary, last->binary);
			assert_int_equal(first->binary == other->binary, a == b);
			const struct machine_file *file = &machine_binary_get(m, other->binary)->file;
			assert_int_equal(file->major, files[b].major);
			assert_int_equal(file->minor, files[b].minor);
			assert_int_equal(file->inode, files[b].inode);
			assert_int_equal(file->generation, files[b].inode_generation);
			machine_destroy(m);
		}
}

static uint32_t binary_at(struct machine *m, uint64_t time, uint64_t address)
{
	const struct mapping *found = machine_find_mapping(m, 1, time, MISC_CPUMODE_USER, VA(address));
	assert_non_null(found);
	return found->binary;
}

static void map_build(struct machine *m, uint64_t start, const char *name, uint8_t build, uint64_t time)
{
	struct record_fields f = {.type = RECORD_MMAP2,
		.mmap = {.pid = 1,
			.tid = 1,
			.start = start,
			.len = 0x1000,
			.prot = CODE_PROT,
			.build_id = {.size = build ? 20 : 0, .bytes = {build}},
			.filename = str_from(name)}};
	apply(m, f, MISC_CPUMODE_USER, time);
}

/* Files with the same base name, the same path with other build IDs, or without one are recognised again, however they
 * alternate. */
static void test_a_file_is_the_same_again(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint8_t build;
	} files[] = {{"/opt/a/library.so", 1}, {"/opt/b/library.so", 1}, {"/opt/a/library.so", 2},
		{"/opt/a/library.so", 0}, {"short", 0}, {"[vdso]", 0}, {"", 0}};
	struct machine *m = new_machine();
	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t i = 0; i < 7; i++)
			map_build(m, 0x10000 * (round + 1) + 0x1000 * i, files[i].name, files[i].build, round);
	list_id(m, MISC_CPUMODE_USER, -1, "/opt/a/library.so", 9);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_int_equal(machine_binary_count(m), 7);
	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t i = 0; i < 7; i++)
			assert_int_equal(binary_at(m, 9, 0x10000 * (round + 1) + 0x1000 * i), i);
	/* A file that received its build ID from the table is still the file that was mapped without one. */
	map_build(m, 0x90000, "/opt/a/library.so", 0, 10);
	map_build(m, 0xa0000, "/opt/a/library.so", 9, 10);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_int_equal(binary_at(m, 11, 0x90000), 3);
	assert_int_equal(binary_at(m, 11, 0xa0000), 7);
	machine_destroy(m);
}

static void test_memory_without_a_file_is_told_by_its_process(void **state)
{
	(void)state;
	struct machine *m = new_machine();
	for (uint32_t round = 0; round < 2; round++) {
		map(m, 1, 0x1000, 0x1000, "//anon", 10 * round);
		map(m, 2, 0x1000, 0x1000, "//anon", 10 * round + 5);
	}
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_mapped(m, 1, 20, 0x1000, "/tmp/perf-1.map");
	assert_mapped(m, 2, 20, 0x1000, "/tmp/perf-2.map");
	machine_destroy(m);
}

/* Mappings from the highest address downwards, each over half of the previous one, in small and in large numbers. */
static void test_mappings_in_any_order(void **state)
{
	(void)state;
	for (uint64_t count = 1; count <= 100; count += 9) {
		struct machine *m = new_machine();
		for (uint64_t i = 0; i < count; i++)
			map(m, 1, 0x1000000 - i * 0x1000, 0x1800, i % 2 ? "/odd" : "/even", 10 + i);
		assert_int_equal(machine_finish(m, NULL), TALLY_OK);
		for (uint64_t i = 0; i < count; i++) {
			uint64_t start = 0x1000000 - i * 0x1000;
			bool is_covered = i + 1 < count;
			assert_mapped(m, 1, 10 + i, start, i % 2 ? "/odd" : "/even");
			assert_mapped(m, 1, 1000, start + 0x7ff, (i + is_covered) % 2 ? "/odd" : "/even");
			assert_mapped(m, 1, 1000, start + 0x800, i % 2 ? "/odd" : "/even");
			assert_mapped(m, 1, 10 + i, start - 1, NULL);
		}
		machine_destroy(m);
	}
}

static void test_lengths_that_wrap(void **state)
{
	struct machine *m = new_machine();
	map(m, 1, UINT64_MAX - 0x10, 0x1000, "/end", 0);
	map(m, 1, 0x1000, 0, "/empty", 0);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_mapped(m, 1, 0, UINT64_MAX - 1, "/end");
	assert_mapped(m, 1, 0, 0x1000, NULL);
	machine_destroy(m);
}

#define MIB UINT64_C(0x100000)

static void assert_text(struct machine *m, uint64_t time, uint64_t address, const char *name, uint64_t offset)
{
	const struct mapping *found = machine_find_mapping(m, 7, time, MISC_CPUMODE_USER, VA(address));
	assert_mapped(m, 7, time, address, name);
	assert_int_equal(found->pgoff + (address - found->start), offset);
}

static void test_text_on_huge_pages_keeps_its_file(void **state)
{
	(void)state;
	struct machine *m = new_machine();
	map_code(m, 0x401000, 0x401000 + 9 * MIB, 0x1000, "/bin/big", 10);
	map_code(m, 4 * MIB + 2 * MIB, 4 * MIB + 4 * MIB, 0, "//anon", 20);
	map_code(m, 4 * MIB + 4 * MIB, 4 * MIB + 8 * MIB, 0, "/anon_hugepage (deleted)", 30);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_int_equal(machine_remapped_texts(m), 2);
	assert_text(m, 15, 0x601234, "/bin/big", 0x201234);
	assert_text(m, 25, 0x601234, "/bin/big", 0x201234);
	assert_text(m, 40, 0x801234, "/bin/big", 0x401234);
	assert_text(m, 40, 0xc01234, "/bin/big", 0x801234);
	machine_destroy(m);
}

static void test_a_hole_in_a_file_is_its_text(void **state)
{
	(void)state;
	struct machine *m = new_machine();
	map_code(m, 0x401000, 0x600000, 0x1000, "/bin/big", 10);
	map_code(m, 0x600000, 0xa00000, 0, "//anon", 10);
	map_code(m, 0xa00000, 0xa12000, 0x600000, "/bin/big", 10);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_int_equal(machine_remapped_texts(m), 1);
	assert_text(m, 20, 0x700010, "/bin/big", 0x300010);
	machine_destroy(m);
}

/* After so many forks, mappings are copied, including the hole. */
static void test_a_hole_that_was_copied_is_its_files_text(void **state)
{
	(void)state;
	struct machine *m = new_machine();
	const uint32_t forks = ADDRESS_SPACE_MAX_DEPTH + 1;
	map(m, 100, 0x401000, 0x200000 - 0x1000, "/bin/big", 1);
	map(m, 100, 0x600000, 0x400000, "//anon", 1);
	for (uint32_t i = 0; i < forks; i++) {
		uint32_t child = i + 1 == forks ? 7 : 101 + i;
		fork_process(m, 100 + i, child, 2 + i);
		if (child != 7) /* Processes without mappings of their own are skipped. */
			map(m, child, 0x1000000 + i * 0x1000, 0x1000, "/lib/own", 2 + i);
	}
	map_code(m, 0xa00000, 0xa12000, 0x100 + 0x5ff000, "/bin/big", 50);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_int_equal(machine_remapped_texts(m), 1);
	assert_text(m, 60, 0x700010, "/bin/big", 0x100 + 0x2ff010);
	machine_destroy(m);
}

static void test_generated_code_stays_generated(void **state)
{
	(void)state;
	struct machine *m = new_machine();
	map_code(m, 0x401000, 0x601000, 0x1000, "/bin/big", 10);
	/* A part of a file was mapped here, but it is not a huge page. */
	map_code(m, 0x410000, 0x420000, 0, "//anon", 20);
	map_code(m, 0x601000, 0x701000, 0, "//anon", 20); /* The mapping is between two files. */
	map_code(m, 0x701000, 0x702000, 0, "/lib/other", 20);
	/* The mapping is large enough, but nothing was mapped here before. */
	map_code(m, 0x800000, 0xa00000, 0, "//anon", 20);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_int_equal(machine_remapped_texts(m), 0);
	assert_mapped(m, 7, 30, 0x410000, "/tmp/perf-7.map");
	assert_mapped(m, 7, 30, 0x650000, "/tmp/perf-7.map");
	assert_mapped(m, 7, 30, 0x900000, "/tmp/perf-7.map");
	machine_destroy(m);
}

static void generate(struct machine *m, uint64_t start, uint64_t offset, uint64_t time)
{
	struct machine_generated code = {
		.pid = 7, .path = STR("/tmp/jit-7.dump"), .start = start, .len = 0x100, .offset = offset};
	assert_int_equal(machine_add_generated(m, &code, time, NULL), TALLY_OK);
}

static uint64_t offset_at(struct machine *m, uint64_t time, uint64_t address)
{
	assert_mapped(m, 7, time, address, "/tmp/jit-7.dump");
	return machine_address_in_binary(
		m, machine_find_mapping(m, 7, time, MISC_CPUMODE_USER, VA(address)), VA(address));
}

static void test_generated_functions_lie_above_memory_and_below_files(void **state)
{
	struct machine *m = new_machine();
	map_code(m, 0x10000, 0x20000, 0, "//anon", 10);
	generate(m, 0x10000, 0x50, 20);
	generate(m, 0x10000, 0x5050, 30); /* The memory is used again. */
	generate(m, 0x10f00, 0x9050, 30);
	map_code(m, 0x10000, 0x20000, 0, "//anon", 40); /* The mapping was made executable. */
	map_code(m, 0x10f80, 0x11000, 0, "/lib/x", 50);
	generate(m, UINT64_MAX - 0x10, 0, 60); /* The range wraps around. */
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_mapped(m, 7, 15, 0x10000, "/tmp/perf-7.map");
	assert_int_equal(offset_at(m, 25, 0x10010), 0x60);
	assert_int_equal(offset_at(m, 35, 0x10010), 0x5060);
	assert_int_equal(offset_at(m, 45, 0x100ff), 0x514f);
	assert_int_equal(offset_at(m, 45, 0x10f90), 0x90e0);
	assert_mapped(m, 7, 45, 0x10100, "/tmp/perf-7.map");
	assert_mapped(m, 7, 45, 0x11000, "/tmp/perf-7.map");
	assert_mapped(m, 7, 55, 0x10f90, "/lib/x");
	assert_int_equal(offset_at(m, 55, 0x10f10), 0x9060);
	machine_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generated_functions_lie_above_memory_and_below_files),
		cmocka_unit_test(test_text_on_huge_pages_keeps_its_file),
		cmocka_unit_test(test_each_kind_of_program_has_its_vdso),
		cmocka_unit_test(test_a_hole_in_a_file_is_its_text),
		cmocka_unit_test(test_a_hole_that_was_copied_is_its_files_text),
		cmocka_unit_test(test_generated_code_stays_generated),
		cmocka_unit_test(test_a_newer_mapping_wins_from_its_time_on),
		cmocka_unit_test(test_a_child_sees_its_parents_mappings_as_of_the_fork),
		cmocka_unit_test(test_forks_of_who_maps_nothing),
		cmocka_unit_test(test_forks_of_forks_are_not_lost),
		cmocka_unit_test(test_exec_renames_and_lets_the_old_image_shine_through),
		cmocka_unit_test(test_a_reused_pid_is_another_process),
		cmocka_unit_test(test_kernel_modules_and_programs),
		cmocka_unit_test(test_names_that_are_no_files),
		cmocka_unit_test(anonymous_memory_is_code_if_it_may_run),
		cmocka_unit_test(shared_memory_files_are_generated_code),
		cmocka_unit_test(test_files_by_inode_and_build_id),
		cmocka_unit_test(test_build_ids_by_path),
		cmocka_unit_test(test_names_of_modules),
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_the_kernel_closes_holes),
		cmocka_unit_test(test_which_listed_file_is_the_kernel),
		cmocka_unit_test(test_build_ids_are_of_who_is_listed),
		cmocka_unit_test(test_the_end_of_the_kernels_text),
		cmocka_unit_test(test_listed_build_id_of_several_files),
		cmocka_unit_test(test_files_that_differ_in_one_number),
		cmocka_unit_test(test_a_file_is_the_same_again),
		cmocka_unit_test(test_memory_without_a_file_is_told_by_its_process),
		cmocka_unit_test(test_mappings_in_any_order),
		cmocka_unit_test(test_lengths_that_wrap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
