/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/synthesize.h"

#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "base/array.h"
#include "fake_root.h"
#include "kernel/recording/proc_maps.h"
#include "unit_test.h"

struct collected {
	struct writer bytes;
	size_t calls;
};

static enum tally_status collect(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct collected *c = context;
	for (size_t i = 0; i < slice_count; i++)
		writer_bytes(&c->bytes, slices[i].data, slices[i].len);
	c->calls++;
	return TALLY_OK;
}

static void print_record(struct text *t, const struct record *record)
{
	struct record_fields f;
	assert_int_equal(record_decode(record, &f, NULL), TALLY_OK);
	const char *name = record_type_name(record->type);
	switch (record->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		text_printf(t, "%s %d/%d %llx+%llx @%llx %x %.*s misc %x", name, (int)f.mmap.pid, (int)f.mmap.tid,
			(unsigned long long)f.mmap.start, (unsigned long long)f.mmap.len,
			(unsigned long long)f.mmap.pgoff, f.mmap.prot, (int)f.mmap.filename.len, f.mmap.filename.data,
			record->misc);
		for (size_t i = 0; i < f.mmap.build_id.size; i++)
			text_printf(t, "%s%02x", i ? "" : " id ", f.mmap.build_id.bytes[i]);
		text_char(t, '\n');
		break;
	case RECORD_COMM:
		text_printf(t, "%s %u/%u %.*s\n", name, f.comm.pid, f.comm.tid, (int)f.comm.comm.len, f.comm.comm.data);
		break;
	case RECORD_FORK:
		text_printf(t, "%s %u/%u of %u/%u\n", name, f.task.pid, f.task.tid, f.task.ppid, f.task.ptid);
		break;
	default:
		text_printf(t, "%s %zu\n", name, record->bytes.len);
		break;
	}
}

/* Returns the records as lines; each must be complete, and have the trailer of IP|TID|TIME: 16 bytes. */
static char *as_text(const struct collected *c)
{
	struct text t = {0};
	struct record record;
	size_t at = 0;
	enum tally_status status;
	while ((status = record_at(writer_view(&c->bytes), false, at, &record, NULL)) == TALLY_OK) {
		print_record(&t, &record);
		at += record.bytes.len;
	}
	assert_int_equal(status, TALLY_END);
	text_char(&t, '\0');
	return t.data;
}

static const char tree[] =
	"/proc/7/status: Name:\tmain\\nTgid:\t7\\nPid:\t7\\nPPid:\t1\n"
	"/proc/7/comm: main\n"
	"/proc/7/maps: 1000-3000 r-xp 00002000 fe:01 42                        /bin/main\\n"
	"3000-4000 rw-p 00000000 00:00 0 \\n"
	"5000-6000 r-xp 00000000 00:00 0 \\n"
	"nonsense\\n"
	"7000-8000 r-xp 00000000 00:01 9    /memfd:a b (deleted)\n"
	"/proc/7/task/7/comm: main\n"
	"/proc/7/task/8/comm: worker\n"
	"/proc/8/comm: worker\n"
	"/proc/9/comm: gone\n"
	"/proc/kallsyms: ffffffff81000000 T _stext\\nffffffff81000000 T _text\\nffffffff81000010 t x\\n"
	"ffffffff82000000 T _etext\n"
	"/proc/modules: ext4 8000 1 - Live 0xffffffffc0000000\\nhidden 8000 1 - Live 0x0000000000000000\\nbroken\n";

struct fixture {
	char *root;
	struct kernel_seam seam;
	struct collected collected;
	struct synthesis state;
};

static void start(struct fixture *f, const char *text)
{
	struct perf_attr attr = {
		.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME, .flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL)};
	struct record_layout layout = record_layout_make(&attr, false);
	struct record_sink sink = {collect, &f->collected};
	*f = (struct fixture){.root = fake_root_make(text)};
	f->seam.root = f->root;
	sink.context = &f->collected;
	synthesize_init(&f->state, &f->seam, &layout, &sink);
}

static void finish(struct fixture *f, const char *expected)
{
	assert_int_equal(synthesize_flush(&f->state, NULL), TALLY_OK);
	char *have = as_text(&f->collected);
	assert_string_equal(have, expected);
	free(have);
	writer_deinit(&f->collected.bytes);
	synthesize_deinit(&f->state);
	fake_root_remove(f->root);
}

static void test_process(void **state)
{
	struct fixture f;
	start(&f, tree);
	assert_int_equal(synthesize_process(&f.state, 7, NULL), TALLY_OK);
	assert_int_equal(f.state.left_out, 1);
	finish(&f, "FORK 7/7 of 1/1\n"
		   "COMM 7/7 main\n"
		   "MMAP2 7/7 1000+2000 @2000 5 /bin/main misc 2\n"
		   "MMAP2 7/7 5000+1000 @0 5 //anon misc 2\n"
		   "MMAP2 7/7 7000+1000 @0 5 /memfd:a b (deleted) misc 2\n"
		   "FORK 7/8 of 7/7\n"
		   "COMM 7/8 worker\n");
}

/* A target may list all threads of a process: the process is synthesised only once. */
static void test_process_by_each_thread(void **state)
{
	struct fixture f;
	start(&f, "/proc/7/status: Tgid:\t7\\nPPid:\t1\n"
		  "/proc/7/comm: main\n"
		  "/proc/7/maps: 1000-3000 r-xp 00002000 fe:01 42 /bin/main\\n\n"
		  "/proc/7/task/7/comm: main\n"
		  "/proc/7/task/8/comm: worker\n"
		  "/proc/8/status: Tgid:\t7\\nPPid:\t1\n"
		  "/proc/8/comm: worker\n"
		  "/proc/9/status: Tgid:\t7\\nPPid:\t1\n"
		  "/proc/9/comm: late\n");
	assert_int_equal(synthesize_process(&f.state, 8, NULL), TALLY_OK);
	assert_int_equal(synthesize_process(&f.state, 7, NULL), TALLY_OK);
	/* The process began after the list was read. */
	assert_int_equal(synthesize_process(&f.state, 9, NULL), TALLY_OK);
	assert_int_equal(synthesize_process(&f.state, 9, NULL), TALLY_OK);
	finish(&f, "FORK 7/7 of 1/1\n"
		   "COMM 7/7 main\n"
		   "MMAP2 7/7 1000+2000 @2000 5 /bin/main misc 2\n"
		   "FORK 7/8 of 7/7\n"
		   "COMM 7/8 worker\n"
		   "FORK 7/9 of 7/7\n"
		   "COMM 7/9 late\n");
}

static void test_data_maps(void **state)
{
	struct fixture f;
	start(&f, "/proc/7/status: Tgid:\t7\n/proc/7/maps: 3000-4000 rw-s 00000000 00:00 0 /dev/zero\n");
	f.state.with_data_maps = true;
	assert_int_equal(synthesize_process(&f.state, 7, NULL), TALLY_OK);
	finish(&f, "FORK 7/7 of 0/0\nMMAP2 7/7 3000+1000 @0 3 /dev/zero misc 2002\n");
}

static void test_ended_process(void **state)
{
	struct fixture f;
	start(&f, tree);
	/* The process has no status file any more. */
	assert_int_equal(synthesize_process(&f.state, 9, NULL), TALLY_OK);
	assert_int_equal(synthesize_process(&f.state, 1234, NULL), TALLY_OK);
	finish(&f, "");
}

static void test_kernel(void **state)
{
	struct fixture f;
	start(&f, tree);
	assert_int_equal(synthesize_kernel(&f.state, NULL), TALLY_OK);
	finish(&f, "MMAP -1/0 ffffffff81000000+1000000 @ffffffff81000000 4 [kernel.kallsyms]_stext misc 1\n"
		   "MMAP -1/0 ffffffffc0000000+2000 @0 4 [ext4] misc 1\n");
}

static bool id_of_file(void *context, uint32_t pid, const struct proc_map *map, struct record_build_id *id)
{
	unsigned *calls = context;
	++*calls;
	assert_int_equal(pid, 7);
	*id = (struct record_build_id){2, {0xab, 0xcd}};
	return map->inode == 42;
}

static bool id_of_kernel(void *context, struct tally_str name, struct record_build_id *id)
{
	(void)context;
	*id = (struct record_build_id){3, {1, 2, 3}};
	return str_starts_with(name, STR("[kernel"));
}

/* Build IDs replace device and inode if they are known; they are not requested for anonymous memory. */
static void test_build_ids(void **state)
{
	struct fixture f;
	unsigned calls = 0;
	struct synthesize_ids ids = {id_of_file, id_of_kernel, &calls};
	start(&f, tree);
	f.state.ids = &ids;
	assert_int_equal(synthesize_kernel(&f.state, NULL), TALLY_OK);
	assert_int_equal(synthesize_process(&f.state, 7, NULL), TALLY_OK);
	assert_int_equal(calls, 2);
	finish(&f,
		"MMAP2 -1/0 ffffffff81000000+1000000 @ffffffff81000000 4 [kernel.kallsyms]_stext misc 4001 id 010203\n"
		"MMAP -1/0 ffffffffc0000000+2000 @0 4 [ext4] misc 1\n"
		"FORK 7/7 of 1/1\n"
		"COMM 7/7 main\n"
		"MMAP2 7/7 1000+2000 @2000 5 /bin/main misc 4002 id abcd\n"
		"MMAP2 7/7 5000+1000 @0 5 //anon misc 2\n"
		"MMAP2 7/7 7000+1000 @0 5 /memfd:a b (deleted) misc 2\n"
		"FORK 7/8 of 7/7\n"
		"COMM 7/8 worker\n");
}

/* A known list replaces the live one. */
static void test_known_kernel(void **state)
{
	struct fixture f;
	start(&f, tree);
	f.state.kernel_list = STR("ffffffff90000000 T _stext\nffffffff90000000 T _text\n"
				  "ffffffff90000040 t do_text\nffffffff90003000 T _etext\nffffffff90004000 D _etext\n");
	assert_int_equal(synthesize_kernel(&f.state, NULL), TALLY_OK);
	f.state.kernel_list = STR("ffffffff90000000 T _text\nffffffff90003000 T _etext"); /* The list is truncated. */
	assert_int_equal(synthesize_kernel(&f.state, NULL), TALLY_OK);
	finish(&f, "MMAP -1/0 ffffffff90000000+3000 @ffffffff90000000 4 [kernel.kallsyms]_stext misc 1\n"
		   "MMAP -1/0 ffffffffc0000000+2000 @0 4 [ext4] misc 1\n"
		   "MMAP -1/0 ffffffffc0000000+2000 @0 4 [ext4] misc 1\n");
}

static void test_hidden_kernel(void **state)
{
	struct fixture f;
	start(&f, "/proc/kallsyms: 0000000000000000 T _text\\n0000000000000000 T _etext\n");
	assert_int_equal(synthesize_kernel(&f.state, NULL), TALLY_OK);
	assert_true(f.state.hides_kernel);
	finish(&f, "");
	start(&f, tree);
	assert_int_equal(synthesize_kernel(&f.state, NULL), TALLY_OK);
	assert_false(f.state.hides_kernel);
	finish(&f, "MMAP -1/0 ffffffff81000000+1000000 @ffffffff81000000 4 [kernel.kallsyms]_stext misc 1\n"
		   "MMAP -1/0 ffffffffc0000000+2000 @0 4 [ext4] misc 1\n");
	start(&f, "/proc/7/comm: a kernel without the list\n");
	assert_int_equal(synthesize_kernel(&f.state, NULL), TALLY_OK);
	assert_false(f.state.hides_kernel);
	finish(&f, "");
}

static void test_descriptions(void **state)
{
	struct fixture f;
	const struct recorder_source sources[] = {{.fd = 3, .id = 10, .cpu = 0, .thread = 7},
		{.fd = -1, .id = 0, .cpu = 1, .thread = 8}, {.fd = 4, .id = 11, .cpu = 1, .thread = 7}};
	const int cpus[] = {0, 1, 2};
	const pid_t threads[] = {7};
	start(&f, tree);
	assert_int_equal(synthesize_id_index(&f.state, sources, 3, NULL), TALLY_OK);
	assert_int_equal(synthesize_thread_map(&f.state, threads, 1, NULL), TALLY_OK);
	assert_int_equal(synthesize_cpu_map(&f.state, cpus, 3, NULL), TALLY_OK);
	assert_int_equal(synthesize_finished(&f.state, NULL), TALLY_OK);
	finish(&f, "ID_INDEX 80\nTHREAD_MAP 40\nCPU_MAP 24\nFINISHED_INIT 8\n");
}

/* More IDs than fit into one record: they are split over several records. */
static void test_large_id_index(void **state)
{
	enum { COUNT = 5000 };
	struct fixture f;
	struct recorder_source *sources = calloc(COUNT, sizeof(*sources));
	uint64_t total = 0;
	assert_non_null(sources);
	start(&f, tree);
	for (size_t i = 0; i < COUNT; i++)
		sources[i] = (struct recorder_source){.fd = 3, .id = i + 1};
	assert_int_equal(synthesize_id_index(&f.state, sources, COUNT, NULL), TALLY_OK);
	assert_int_equal(synthesize_flush(&f.state, NULL), TALLY_OK);
	struct record record;
	for (size_t at = 0; record_at(writer_view(&f.collected.bytes), false, at, &record, NULL) == TALLY_OK;
		at += record.bytes.len) {
		struct record_fields fields;
		assert_int_equal(record_decode(&record, &fields, NULL), TALLY_OK);
		total += fields.id_index.count;
	}
	assert_int_equal(total, COUNT);
	free(sources);
	writer_deinit(&f.collected.bytes);
	synthesize_deinit(&f.state);
	fake_root_remove(f.root);
}

static void test_maps_lines(void **state)
{
	static const char *const broken[] = {"", " ", "-", "1-", "1-2", "1-2 r-xp", "1-2 r-xp 0", "1-2 r-xp 0 fe:00",
		"2-1 r-xp 0 fe:00 1 x", "1-2 rx 0 fe:00 1 x", "1-2 r-xp z fe:00 1 x", "1-2 r-xp 0 fe00 1 x",
		"1-2 r-xp 0 fe:00 y x", "ffffffffffffffffff-2 r-xp 0 fe:00 1 x"};
	struct proc_map map;
	for (size_t i = 0; i < ARRAY_LEN(broken); i++)
		assert_false(proc_map_parse(str_from(broken[i]), &map));
	assert_true(
		proc_map_parse(str_from("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]"), &map));
	assert_true(str_equal(map.path, STR("[vsyscall]")));
	assert_int_equal(map.prot, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_process_by_each_thread),
		cmocka_unit_test(test_data_maps),
		cmocka_unit_test(test_ended_process),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_known_kernel),
		cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_hidden_kernel),
		cmocka_unit_test(test_descriptions),
		cmocka_unit_test(test_large_id_index),
		cmocka_unit_test(test_maps_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
