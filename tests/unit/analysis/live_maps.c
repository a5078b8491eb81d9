/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_maps.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "unit_test.h"

static void apply(struct live_maps *maps, struct record_fields fields)
{
	const struct record record = {.type = fields.type, .misc = MISC_CPUMODE_USER};
	assert_int_equal(live_maps_apply(maps, &record, &fields, NULL), TALLY_OK);
}

static void map(struct live_maps *maps, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff, const char *path)
{
	apply(maps, (struct record_fields){.type = RECORD_MMAP2,
			    .mmap = {.pid = pid,
				    .tid = pid,
				    .start = start,
				    .len = len,
				    .pgoff = pgoff,
				    .filename = str_from(path)}});
}

static void fork_task(struct live_maps *maps, uint32_t pid, uint32_t tid, uint32_t ppid)
{
	apply(maps, (struct record_fields){
			    .type = RECORD_FORK, .task = {.pid = pid, .tid = tid, .ppid = ppid, .ptid = ppid}});
}

static void end_task(struct live_maps *maps, uint32_t pid, uint32_t tid)
{
	apply(maps, (struct record_fields){.type = RECORD_EXIT, .task = {.pid = pid, .tid = tid}});
}

/* wanted is "start-end@pgoff path" of the mapping, or "-". */
static void expect(struct live_maps *maps, int32_t pid, uint64_t address, const char *wanted)
{
	const struct live_process *process = live_maps_process(maps, pid);
	const struct live_mapping *m = process ? live_maps_find(process, address) : NULL;
	char text[128] = "-";
	if (m)
		snprintf(text, sizeof(text), "%llx-%llx@%llx %s", (unsigned long long)m->start,
			(unsigned long long)m->end, (unsigned long long)m->pgoff,
			live_maps_path(maps, &maps->files.items[m->file]).data);
	assert_string_equal(text, wanted);
}

static void test_a_new_mapping_takes_the_place_of_old_ones(void **state)
{
	struct live_maps maps;
	live_maps_init(&maps);
	map(&maps, 1, 0x1000, 0x4000, 0x100000, "/a");
	map(&maps, 1, 0x2000, 0x1000, 0, "/b");
	expect(&maps, 1, 0xfff, "-");
	expect(&maps, 1, 0x1fff, "1000-2000@100000 /a");
	expect(&maps, 1, 0x2000, "2000-3000@0 /b");
	expect(&maps, 1, 0x4fff, "3000-5000@102000 /a");
	expect(&maps, 1, 0x5000, "-");
	map(&maps, 1, 0x1800, 0x3000, 7, "/c");
	expect(&maps, 1, 0x17ff, "1000-1800@100000 /a");
	expect(&maps, 1, 0x2800, "1800-4800@7 /c");
	expect(&maps, 1, 0x4800, "4800-5000@103800 /a");
	map(&maps, 1, UINT64_MAX - 10, 100, 0, "/overflows");
	map(&maps, 1, 0, UINT64_MAX, 0, "/all");
	expect(&maps, 1, 0x2800, "0-ffffffffffffffff@0 /all");
	expect(&maps, 2, 0x2800, "-");
	live_maps_deinit(&maps);
}

static void test_processes_come_and_go(void **state)
{
	struct live_maps maps;
	live_maps_init(&maps);
	map(&maps, 1, 0x1000, 0x1000, 0, "/a");
	fork_task(&maps, 1, 2, 1);
	fork_task(&maps, 5, 5, 1);
	map(&maps, 1, 0x1000, 0x1000, 0, "/later");
	expect(&maps, 5, 0x1000, "1000-2000@0 /a");
	expect(&maps, 2, 0x1000, "-");
	apply(&maps, (struct record_fields){
			     .type = RECORD_COMM, .comm = {.pid = 5, .tid = 5, .is_exec = true, .comm = STR("new")}});
	expect(&maps, 5, 0x1000, "-");
	map(&maps, 5, 0x9000, 0x1000, 0, "/new");
	end_task(&maps, 1, 2);
	live_maps_forget(&maps, NULL, NULL);
	expect(&maps, 1, 0x1000, "1000-2000@0 /later");
	end_task(&maps, 5, 5);
	end_task(&maps, 77, 77);
	expect(&maps, 5, 0x9000, "9000-a000@0 /new");
	live_maps_forget(&maps, NULL, NULL);
	expect(&maps, 5, 0x9000, "-");
	assert_int_equal(maps.process_count, 1);
	/* A PID that is reused before the end of the round belongs to the new process. */
	end_task(&maps, 1, 1);
	fork_task(&maps, 1, 1, 3);
	live_maps_forget(&maps, NULL, NULL);
	expect(&maps, 1, 0x1000, "-");
	live_maps_deinit(&maps);
}

static void test_files_that_nobody_maps_are_dropped(void **state)
{
	struct live_maps maps;
	char path[32];
	live_maps_init(&maps);
	map(&maps, 1, 0x1000, 0x1000, 0, "/stays");
	for (int i = 0; i < 5000; i++) {
		snprintf(path, sizeof(path), "/tmp/conftest%d", i);
		map(&maps, 2, 0x1000, 0x1000, 0, path);
	}
	assert_int_equal(maps.files.len, 5001);
	assert_true(live_maps_is_stale(&maps));
	assert_int_equal(live_maps_renumber(&maps, NULL), TALLY_OK);
	assert_int_equal(maps.files.len, 2);
	assert_false(live_maps_is_stale(&maps));
	expect(&maps, 1, 0x1000, "1000-2000@0 /stays");
	expect(&maps, 2, 0x1000, "1000-2000@0 /tmp/conftest4999");
	map(&maps, 3, 0x1000, 0x1000, 0, "/stays");
	assert_int_equal(maps.files.len, 2);
	live_maps_deinit(&maps);
}

static void map_dump(struct live_maps *maps, uint32_t pid, const char *path)
{
	apply(maps, (struct record_fields){.type = RECORD_MMAP2,
			    .mmap = {.pid = pid,
				    .tid = pid,
				    .start = 0x9000,
				    .len = 0x1000,
				    .prot = 5,
				    .filename = str_from(path)}});
}

/* Compares the dumps of generated code of a process, newest first. */
static void expect_dumps(struct live_maps *maps, int32_t pid, const char *wanted)
{
	const struct live_process *process = live_maps_process(maps, pid);
	char text[128] = "";
	for (unsigned i = 0; i < process->dump_count; i++) {
		const struct live_file *file = &maps->files.items[process->dumps[i]];
		assert_int_equal(file->kind, LIVE_DUMP);
		size_t len = strlen(text);
		snprintf(text + len, sizeof(text) - len, "%s ", live_maps_path(maps, file).data);
	}
	assert_string_equal(text, wanted);
}

static void test_dumps_of_generated_code(void **state)
{
	struct live_maps maps;
	live_maps_init(&maps);
	map(&maps, 1, 0x1000, 0x1000, 0, "/tmp/jit-7.dump"); /* Only executable mappings are markers of dumps. */
	expect_dumps(&maps, 1, "");
	map_dump(&maps, 1, "/tmp/jit-1.dump");
	map_dump(&maps, 1, "/tmp/jit-2.dump");
	map_dump(&maps, 1, "/tmp/jit-1.dump");
	expect_dumps(&maps, 1, "/tmp/jit-1.dump /tmp/jit-2.dump ");
	fork_task(&maps, 9, 9, 1);
	map_dump(&maps, 9, "/tmp/jit-9.dump");
	expect_dumps(&maps, 9, "/tmp/jit-9.dump /tmp/jit-1.dump /tmp/jit-2.dump ");
	map_dump(&maps, 9, "/tmp/jit-10.dump");
	map_dump(&maps, 9, "/tmp/jit-11.dump"); /* More dumps than are retained. */
	expect_dumps(&maps, 9, "/tmp/jit-11.dump /tmp/jit-10.dump /tmp/jit-9.dump /tmp/jit-1.dump ");
	apply(&maps, (struct record_fields){.type = RECORD_COMM, .comm = {.pid = 1, .tid = 1, .is_exec = true}});
	expect_dumps(&maps, 1, "");
	assert_int_equal(live_maps_renumber(&maps, NULL), TALLY_OK);
	expect_dumps(&maps, 9, "/tmp/jit-11.dump /tmp/jit-10.dump /tmp/jit-9.dump /tmp/jit-1.dump ");
	live_maps_deinit(&maps);
}

static void test_what_is_code_without_a_file(void **state)
{
	static const struct {
		const char *path;
		enum live_file_kind kind;
	} rows[] = {{"/usr/bin/a", LIVE_FILE}, {"[vdso]", LIVE_VDSO}, {"//anon", LIVE_NO_FILE},
		{"[heap]", LIVE_NO_FILE}, {"/dev/zero", LIVE_NO_FILE}};
	struct live_maps maps;
	live_maps_init(&maps);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		map(&maps, 1, 0x1000, 0x1000, 0, rows[i].path);
		const struct live_mapping *m = live_maps_find(live_maps_process(&maps, 1), 0x1000);
		assert_int_equal(maps.files.items[m->file].kind, rows[i].kind);
	}
	live_maps_deinit(&maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_new_mapping_takes_the_place_of_old_ones),
		cmocka_unit_test(test_processes_come_and_go),
		cmocka_unit_test(test_files_that_nobody_maps_are_dropped),
		cmocka_unit_test(test_dumps_of_generated_code),
		cmocka_unit_test(test_what_is_code_without_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
