/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/record_print.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/writer.h"
#include "unit_test.h"

/* Each letter of shape stands for one argument: 1, 2, 4 and 8 for a number of that many bytes, s for a padded name. */
static void put(struct writer *w, const char *shape, va_list args)
{
	for (; *shape; shape++) {
		if (*shape == 's') {
			const char *name = va_arg(args, const char *);
			writer_bytes(w, name, strlen(name) + 1);
			writer_align(w, 8);
			continue;
		}
		uint64_t v = va_arg(args, uint64_t);
		if (*shape == '1')
			writer_u8(w, (uint8_t)v);
		else if (*shape == '2')
			writer_u16(w, (uint16_t)v);
		else if (*shape == '4')
			writer_u32(w, (uint32_t)v);
		else
			writer_u64(w, v);
	}
	writer_align(w, 8);
}

static const struct record_print_hints hints = {
	.id = 101, .event_name = "cycles", .read_format = READ_FORMAT_TOTAL_TIME_ENABLED | READ_FORMAT_ID};

static void print(struct text *t, const uint8_t *bytes, size_t len, bool swap)
{
	struct record record;
	struct record_fields fields;
	assert_int_equal(record_at((struct tally_bytes){bytes, len}, swap, 0, &record, NULL), TALLY_OK);
	if (record_decode(&record, &fields, NULL) == TALLY_OK)
		record_print(t, &record, &fields, &hints);
}

/* A truncated record either prints its fields or does not decode. Each copy ends at the end of its memory. */
static void print_cuts(const struct writer *w)
{
	for (size_t cut = RECORD_HEADER_BYTES; cut < w->len; cut++) {
		struct text t = {0};
		uint8_t *copy = malloc(cut);
		assert_non_null(copy);
		memcpy(copy, w->data, cut);
		uint16_t size = w->swap ? __builtin_bswap16((uint16_t)cut) : (uint16_t)cut;
		memcpy(copy + 6, &size, sizeof(size));
		print(&t, copy, cut, w->swap);
		free(copy);
		text_deinit(&t);
	}
}

static void expect(const char *expected, uint32_t type, uint16_t misc, const char *shape, ...)
{
	for (int swap = 0; swap < 2; swap++) {
		struct writer w = {.swap = swap};
		struct text t = {0};
		va_list args;
		va_start(args, shape);
		writer_u32(&w, type);
		writer_u16(&w, misc);
		writer_u16(&w, 0);
		put(&w, shape, args);
		va_end(args);
		writer_patch_u16(&w, 6, (uint16_t)w.len);
		print(&t, w.data, w.len, swap);
		text_char(&t, '\0');
		assert_string_equal(t.data, expected);
		print_cuts(&w);
		writer_deinit(&w);
		text_deinit(&t);
	}
}

#define U(v) ((uint64_t)(v))

static void test_mappings(void **state)
{
	expect("PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1000) @ 0]: x [kernel.kallsyms]_text\n", RECORD_MMAP, 0,
		"44888s", U(-1), U(0), U(0xffffffff81000000), U(0x1000), U(0), "[kernel.kallsyms]_text");
	expect("PERF_RECORD_MMAP 77/78: [0x1000(0x1000) @ 0]: r /bin/data\n", RECORD_MMAP, MISC_MMAP_DATA, "44888s",
		U(77), U(78), U(0x1000), U(0x1000), U(0), "/bin/data");
	expect("PERF_RECORD_MMAP2 77/78: [0x400000(0x5000) @ 0x1000 08:01 1234 5]: r-xp /bin/foo\n", RECORD_MMAP2, 0,
		"44888448844s", U(77), U(78), U(0x400000), U(0x5000), U(0x1000), U(8), U(1), U(1234), U(5), U(5), U(2),
		"/bin/foo");
	expect("PERF_RECORD_MMAP2 77/78: [0x400000(0x5000) @ 0 <0a0b0c0d>]: rwxs /bin/foo\n", RECORD_MMAP2,
		MISC_MMAP_BUILD_ID,
		"4488811111111"
		"8844s",
		U(77), U(78), U(0x400000), U(0x5000), U(0), U(4), U(0), U(0), U(0), U(10), U(11), U(12), U(13), U(0),
		U(0), U(7), U(1), "/bin/foo");
}

static void test_tasks(void **state)
{
	expect("PERF_RECORD_COMM: a name:77/78\n", RECORD_COMM, 0, "44s", U(77), U(78), "a name");
	expect("PERF_RECORD_COMM exec: a:77/78\n", RECORD_COMM, MISC_COMM_EXEC, "44s", U(77), U(78), "a");
	expect("PERF_RECORD_FORK(80:81):(77:78)\n", RECORD_FORK, 0, "44448", U(80), U(77), U(81), U(78), U(5));
	expect("PERF_RECORD_EXIT(80:81):(77:78)\n", RECORD_EXIT, 0, "44448", U(80), U(77), U(81), U(78), U(5));
	expect("PERF_RECORD_NAMESPACES 77/78 - nr_namespaces: 2\n\t\t[0/net: 3/0xf0000000, 1/uts: 3/0]\n",
		RECORD_NAMESPACES, 0, "4488888", U(77), U(78), U(2), U(3), U(0xf0000000), U(3), U(0));
	expect("PERF_RECORD_SWITCH OUT preempt\n", RECORD_SWITCH, MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT, "");
	expect("PERF_RECORD_SWITCH_CPU_WIDE IN           prev pid/tid:    99/-1   \n", RECORD_SWITCH_CPU_WIDE, 0, "44",
		U(99), U(-1));
	expect("PERF_RECORD_CGROUP cgroup: 42 /user\n", RECORD_CGROUP, 0, "8s", U(42), "/user");
}

static void test_other_kernel_records(void **state)
{
	expect("PERF_RECORD_LOST: id:101: lost:7\n", RECORD_LOST, 0, "88", U(101), U(7));
	expect("PERF_RECORD_LOST_SAMPLES: id:101: lost samples :9\n", RECORD_LOST_SAMPLES, 0, "8", U(9));
	expect("PERF_RECORD_THROTTLE", RECORD_THROTTLE, 0, "888", U(1), U(2), U(3));
	expect("PERF_RECORD_READ: 77 78 cycles 5\n... time enabled : 6\n... id           : 7\n", RECORD_READ, 0,
		"44888", U(77), U(78), U(5), U(6), U(7));
	expect("PERF_RECORD_AUX offset: 0x100 size: 0 flags: 0x9 [TC]\n", RECORD_AUX, 0, "888", U(0x100), U(0), U(9));
	expect("PERF_RECORD_ITRACE_START pid: 77 tid: 78\n", RECORD_ITRACE_START, 0, "44", U(77), U(78));
	expect("PERF_RECORD_AUX_OUTPUT_HW_ID hw_id: 0x12\n", RECORD_AUX_OUTPUT_HW_ID, 0, "8", U(0x12));
	expect("PERF_RECORD_KSYMBOL addr ffffffffc0000000 len 100 type 1 flags 0x0 name prog\n", RECORD_KSYMBOL, 0,
		"8422s", U(0xffffffffc0000000), U(100), U(1), U(0), "prog");
	expect("PERF_RECORD_BPF_EVENT type 1, flags 0, id 42\n", RECORD_BPF_EVENT, 0, "2248", U(1), U(0), U(42), U(0));
	expect("PERF_RECORD_TEXT_POKE 1234  old len 1 new len 2\n            Old bytes: 90\n            New bytes: eb "
	       "fe\n",
		RECORD_TEXT_POKE, 0, "822111", U(0x1234), U(1), U(2), U(0x90), U(0xeb), U(0xfe));
}

static void test_user_records(void **state)
{
	expect("PERF_RECORD_FINISHED_ROUND\n", RECORD_FINISHED_ROUND, 0, "");
	expect("PERF_RECORD_ID_INDEX nr: 1\n ... id: 5  idx: 1  cpu: 0  tid: -1\n", RECORD_ID_INDEX, 0, "88888", U(1),
		U(5), U(1), U(0), U(-1));
	expect("PERF_RECORD_ID_INDEX nr: 1\n ... id: 5  idx: 1  cpu: 0  tid: -1  machine_pid: 6  vcpu: 7\n",
		RECORD_ID_INDEX, 0, "8888888", U(1), U(5), U(1), U(0), U(-1), U(6), U(7));
	expect("PERF_RECORD_THREAD_MAP nr: 2 threads: 77, -1\n", RECORD_THREAD_MAP, 0, "8888888", U(2), U(77), U(0),
		U(0), U(-1), U(0), U(0));
	expect("PERF_RECORD_AUXTRACE_ERROR instruction trace error type 1 time 1.500000000 cpu 1 pid 77 tid 78 ip 0x40 "
	       "code 2: bad\n",
		RECORD_AUXTRACE_ERROR, 0, "44444488s", U(1), U(2), U(1), U(77), U(78), U(1), U(0x40), U(1500000000),
		"bad");
	expect("PERF_RECORD_STAT\n... id 101, cpu 1, thread 0\n... value 1, enabled 2, running 3\n", RECORD_STAT, 0,
		"844888", U(101), U(1), U(0), U(1), U(2), U(3));
	expect("PERF_RECORD_STAT_ROUND\n... time 5, type FINAL\n", RECORD_STAT_ROUND, 0, "88", U(1), U(5));
	expect("PERF_RECORD_STAT_CONFIG\n... aggr_mode 2\n... interval  9\n", RECORD_STAT_CONFIG, 0, "88888", U(2),
		U(0), U(2), U(1), U(9));
	expect("PERF_RECORD_EVENT_UPDATE\n... id:    101\n... unit:  ms\n", RECORD_EVENT_UPDATE, 0, "88s", U(0), U(101),
		"ms");
	expect("PERF_RECORD_EVENT_UPDATE\n... id:    101\n... scale: 0.250000\n", RECORD_EVENT_UPDATE, 0, "888", U(1),
		U(101), U(0x3fd0000000000000));
	expect("PERF_RECORD_TIME_CONV\n... Time Shift      1\n... Time Muliplier  2\n... Time Zero       3\n",
		RECORD_TIME_CONV, 0, "888", U(1), U(2), U(3));
}

static void test_cpu_maps(void **state)
{
	expect("PERF_RECORD_CPU_MAP: 0-2,7\n", RECORD_CPU_MAP, 0, "222222", U(0), U(4), U(0), U(1), U(2), U(7));
	expect("PERF_RECORD_CPU_MAP: -1\n", RECORD_CPU_MAP, 0, "222", U(0), U(1), U(0xffff));
	expect("PERF_RECORD_CPU_MAP: 0-3,32-33\n", RECORD_CPU_MAP, 0, "22244", U(1), U(2), U(4), U(15), U(3));
	expect("PERF_RECORD_CPU_MAP: 1,63\n", RECORD_CPU_MAP, 0, "22248", U(1), U(1), U(8), U(0),
		U(0x8000000000000002));
	expect("PERF_RECORD_CPU_MAP: \n", RECORD_CPU_MAP, 0, "22244", U(1), U(2), U(3), U(15), U(3));
	expect("PERF_RECORD_CPU_MAP: -1,2-9\n", RECORD_CPU_MAP, 0, "21122", U(2), U(1), U(0), U(2), U(9));
	expect("PERF_RECORD_CPU_MAP: failed to get cpumap from event\n", RECORD_CPU_MAP, 0, "22", U(9), U(1));
}

static void test_trace_records(void **state)
{
	expect("PERF_RECORD_AUXTRACE_INFO type: 4\n", RECORD_AUXTRACE_INFO, 0, "448", U(4), U(0), U(1));
	expect("PERF_RECORD_AUXTRACE size: 0x30  offset: 0x100  ref: 0x7  idx: 1  tid: -1  cpu: 3\n", RECORD_AUXTRACE,
		0, "8884444", U(0x30), U(0x100), U(7), U(1), U(-1), U(3), U(0));
	expect("PERF_RECORD_AUXTRACE_ERROR unknown AUX error type 2 time 0 cpu 1 pid 77 tid 78 ip 0x40 code 2: bad\n",
		RECORD_AUXTRACE_ERROR, 0, "44444488s", U(2), U(2), U(1), U(77), U(78), U(1), U(0x40), U(0), "bad");
	expect("PERF_RECORD_AUXTRACE_ERROR instruction trace error type 1 time 0.000000001 cpu 1 pid 77 tid 78 ip 0x40 "
	       "code 2: bad machine_pid 5 vcpu 6\n",
		RECORD_AUXTRACE_ERROR, 0, "44444488s888888844", U(1), U(2), U(1), U(77), U(78), U(2), U(0x40), U(1),
		"bad", U(0), U(0), U(0), U(0), U(0), U(0), U(0), U(5), U(6));
	expect("PERF_RECORD_AUX offset: 0x1 size: 0x2 flags: 0x6 [OP]\n", RECORD_AUX, 0, "888", U(1), U(2), U(6));
}

static void test_more_of_each(void **state)
{
	expect("PERF_RECORD_SWITCH OUT        \n", RECORD_SWITCH, MISC_SWITCH_OUT, "");
	expect("PERF_RECORD_SWITCH_CPU_WIDE OUT          next pid/tid:    99/7    \n", RECORD_SWITCH_CPU_WIDE,
		MISC_SWITCH_OUT, "44", U(99), U(7));
	expect("PERF_RECORD_CALLCHAIN_DEFERRED(IP, 0x2): 0/0: 0x33\n", RECORD_CALLCHAIN_DEFERRED, MISC_CPUMODE_USER,
		"888", U(0x33), U(1), U(0x1000));
	expect("PERF_RECORD_NAMESPACES 77/78 - nr_namespaces: 8\n\t\t[0/net: 3/0x1, 1/uts: 3/0x2, 2/ipc: 3/0x3, "
	       "3/pid: 3/0x4, \n\t\t 4/user: 3/0x5, 5/mnt: 3/0x6, 6/cgroup: 3/0x7, 7/UNKNOWN: 3/0x8]\n",
		RECORD_NAMESPACES, 0, "4488888888888888888", U(77), U(78), U(8), U(3), U(1), U(3), U(2), U(3), U(3),
		U(3), U(4), U(3), U(5), U(3), U(6), U(3), U(7), U(3), U(8));
	expect("PERF_RECORD_TEXT_POKE 1234  old len 0 new len 17\n            New bytes: 00 00 00 00 00 00 00 00 00 00 "
	       "00 00 00 00 00 00\n            New bytes: 07\n",
		RECORD_TEXT_POKE, 0, "822881", U(0x1234), U(0), U(17), U(0), U(0), U(7));
	expect("PERF_RECORD_THREAD_MAP nr: 1 thread: 77\n", RECORD_THREAD_MAP, 0, "8888", U(1), U(77), U(0), U(0));
	expect("PERF_RECORD_ID_INDEX nr: 2\n ... id: 5  idx: 1  cpu: 0  tid: 9  machine_pid: 1  vcpu: 2\n"
	       " ... id: 6  idx: 2  cpu: 3  tid: 4  machine_pid: 3  vcpu: 4\n",
		RECORD_ID_INDEX, 0, "8888888888888", U(2), U(5), U(1), U(0), U(9), U(6), U(2), U(3), U(4), U(1), U(2),
		U(3), U(4));
	expect("PERF_RECORD_STAT_CONFIG\n... interval  9\n", RECORD_STAT_CONFIG, 0, "88888", U(2), U(99), U(1), U(1),
		U(9));
	expect("PERF_RECORD_EVENT_UPDATE\n... id:    101\n... 0-2\n", RECORD_EVENT_UPDATE, 0, "8822222", U(3), U(101),
		U(0), U(3), U(0), U(1), U(2));
	expect("PERF_RECORD_EVENT_UPDATE\n... id:    101\n... failed to get cpus\n", RECORD_EVENT_UPDATE, 0, "88222",
		U(3), U(101), U(9), U(3), U(0));
	expect("PERF_RECORD_EVENT_UPDATE\n... id:    101\n... unknown type\n", RECORD_EVENT_UPDATE, 0, "888", U(9),
		U(101), U(0));
	expect("PERF_RECORD_TIME_CONV\n... Time Shift      1\n... Time Muliplier  2\n... Time Zero       3\n"
	       "... Time Cycles     4\n... Time Mask       0xff\n... Cap Time Zero   1\n... Cap Time Short  0\n",
		RECORD_TIME_CONV, 0, "8888811", U(1), U(2), U(3), U(4), U(0xff), U(1), U(0));
}

/* The counts of a group and of lost events are on separate lines. */
static void test_readings(void **state)
{
	struct record record = {.type = RECORD_READ};
	uint64_t words[4] = {5, 6, 7, 8};
	struct record_fields fields = {.type = RECORD_READ, .read = {77, 78, {(const uint8_t *)words, sizeof(words)}}};
	struct record_print_hints lost = {
		.read_format = READ_FORMAT_TOTAL_TIME_ENABLED | READ_FORMAT_TOTAL_TIME_RUNNING | READ_FORMAT_LOST};
	struct text t = {0};
	record_print(&t, &record, &fields, &lost);
	text_char(&t, '\0');
	assert_string_equal(t.data, "PERF_RECORD_READ: 77 78 <no event> 5\n... time enabled : 6\n"
				    "... time running : 7\n... lost         : 8\n");
	text_deinit(&t);
}

static void test_listing_is_shorter(void **state)
{
	struct record record = {.type = RECORD_LOST};
	struct record_fields fields = {.type = RECORD_LOST, .lost = {101, 7}};
	struct record_print_hints listing = {.is_listing = true};
	struct text t = {0};
	record_print(&t, &record, &fields, &listing);
	record_print_name(&t, 63);
	text_char(&t, '\0');
	assert_string_equal(t.data, "PERF_RECORD_LOST lost 7\nPERF_RECORD_UNKNOWN");
	text_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_other_kernel_records),
		cmocka_unit_test(test_user_records),
		cmocka_unit_test(test_cpu_maps),
		cmocka_unit_test(test_trace_records),
		cmocka_unit_test(test_more_of_each),
		cmocka_unit_test(test_readings),
		cmocka_unit_test(test_listing_is_shorter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
