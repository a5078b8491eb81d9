/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/attr.h"

#include <linux/perf_event.h>
#include <string.h>

#include "abi/event_name.h"
#include "base/array.h"
#include "unit_test.h"

static struct perf_attr full_attr(void)
{
	return (struct perf_attr){
		.type = 4,
		.size = ATTR_SIZE_KNOWN,
		.config = 0x1122334455667788,
		.sample_period_or_freq = 4000,
		.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME,
		.read_format = READ_FORMAT_ID,
		.flags = ATTR_FLAG(ATTR_BIT_DISABLED) | ATTR_FLAG(ATTR_BIT_FREQ) | ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL) |
			 UINT64_C(1) << ATTR_BIT_PRECISE_IP | ATTR_FLAG(ATTR_BIT_INHERIT_THREAD),
		.wakeup = 7,
		.bp_type = 3,
		.config1 = 5,
		.config2 = 6,
		.branch_sample_type = 8,
		.sample_regs_user = 9,
		.sample_stack_user = 10,
		.clockid = -1,
		.sample_regs_intr = 11,
		.aux_watermark = 12,
		.sample_max_stack = 13,
		.aux_sample_size = 14,
		.aux_action = 15,
		.sig_data = 16,
		.config3 = 17,
		.config4 = 18,
	};
}

static void test_round_trip_of_every_size(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		for (uint32_t size = ATTR_SIZE_VER0; size <= ATTR_SIZE_KNOWN; size += 8) {
			struct perf_attr attr = full_attr();
			attr.size = size;
			struct writer w = {.swap = swap != 0};
			attr_encode(&w, &attr);
			assert_int_equal(w.len, size);
			struct cursor c = cursor_make(writer_view(&w), w.swap);
			struct perf_attr back;
			assert_int_equal(attr_decode(&c, &back, NULL), TALLY_OK);
			assert_int_equal(cursor_left(&c), 0);
			assert_int_equal(back.size, size);
			assert_int_equal(back.config, attr.config);
			assert_int_equal(back.flags, attr.flags);
			assert_int_equal(back.config1, 5);
			assert_int_equal(back.config2, size >= ATTR_SIZE_VER1 ? 6 : 0);
			assert_int_equal(back.clockid, size >= ATTR_SIZE_VER3 ? -1 : 0);
			assert_int_equal(back.sample_max_stack, size >= ATTR_SIZE_VER5 ? 13 : 0);
			assert_int_equal(back.config4, size >= ATTR_SIZE_VER9 ? 18 : 0);
			for (size_t cut = 0; cut < w.len; cut++) {
				struct cursor part = cursor_make((struct tally_bytes){w.data, cut}, w.swap);
				assert_int_equal(attr_decode(&part, &back, NULL), TALLY_CORRUPT);
			}
			writer_deinit(&w);
		}
	}
}

static void test_every_field(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perf_attr attr = full_attr(), back;
		struct writer w = {.swap = swap != 0};
		attr.size = 0; /* A size of 0 selects the largest known one. */
		attr_encode(&w, &attr);
		assert_int_equal(w.len, ATTR_SIZE_KNOWN);
		struct cursor c = cursor_make(writer_view(&w), w.swap);
		assert_int_equal(attr_decode(&c, &back, NULL), TALLY_OK);
		assert_int_equal(back.size, ATTR_SIZE_KNOWN);
		assert_int_equal(back.declared_size, ATTR_SIZE_KNOWN);
		assert_int_equal(back.type, attr.type);
		assert_int_equal(back.config, attr.config);
		assert_int_equal(back.sample_period_or_freq, attr.sample_period_or_freq);
		assert_int_equal(back.sample_type, attr.sample_type);
		assert_int_equal(back.read_format, attr.read_format);
		assert_int_equal(back.flags, attr.flags);
		assert_int_equal(back.wakeup, attr.wakeup);
		assert_int_equal(back.bp_type, attr.bp_type);
		assert_int_equal(back.config1, attr.config1);
		assert_int_equal(back.config2, attr.config2);
		assert_int_equal(back.branch_sample_type, attr.branch_sample_type);
		assert_int_equal(back.sample_regs_user, attr.sample_regs_user);
		assert_int_equal(back.sample_stack_user, attr.sample_stack_user);
		assert_int_equal(back.clockid, attr.clockid);
		assert_int_equal(back.sample_regs_intr, attr.sample_regs_intr);
		assert_int_equal(back.aux_watermark, attr.aux_watermark);
		assert_int_equal(back.sample_max_stack, attr.sample_max_stack);
		assert_int_equal(back.aux_sample_size, attr.aux_sample_size);
		assert_int_equal(back.aux_action, attr.aux_action);
		assert_int_equal(back.sig_data, attr.sig_data);
		assert_int_equal(back.config3, attr.config3);
		assert_int_equal(back.config4, attr.config4);
		writer_deinit(&w);
	}
}

/* Each flag bit is tested alone, in both byte orders. */
static void test_every_flag(void **state)
{
	for (unsigned bit = 0; bit < 2 * 64; bit++) {
		struct perf_attr attr = {.flags = UINT64_C(1) << bit / 2}, back;
		struct writer w = {.swap = bit % 2};
		attr_encode(&w, &attr);
		struct cursor c = cursor_make(writer_view(&w), w.swap);
		assert_int_equal(attr_decode(&c, &back, NULL), TALLY_OK);
		assert_int_equal(back.flags, attr.flags);
		writer_deinit(&w);
	}
}

/* An invalid size, the largest valid one and the smallest valid one. */
static void test_sizes_that_are_none(void **state)
{
	static uint8_t bytes[UINT16_MAX + 1];
	struct perf_attr attr;
	static const struct {
		size_t size;
		enum tally_status status;
	} cases[] = {{0, TALLY_CORRUPT}, {ATTR_SIZE_VER0 - 1, TALLY_CORRUPT}, {ATTR_SIZE_VER0, TALLY_OK},
		{UINT16_MAX, TALLY_OK}, {UINT16_MAX + 1, TALLY_CORRUPT}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cursor c = cursor_make((struct tally_bytes){bytes, sizeof(bytes)}, false);
		assert_int_equal(attr_decode_sized(&c, cases[i].size, &attr, NULL), cases[i].status);
		assert_int_equal(c.pos, cases[i].status == TALLY_OK ? cases[i].size : 0);
	}
	struct cursor c = cursor_make((struct tally_bytes){bytes, ATTR_SIZE_VER0}, false);
	assert_int_equal(attr_decode(&c, &attr, NULL), TALLY_OK); /* 0 means the first size. */
	assert_int_equal(c.pos, ATTR_SIZE_VER0);
	assert_int_equal(attr.size, ATTR_SIZE_VER0);
	assert_int_equal(attr.declared_size, 0);
}

static void test_the_kernels_struct_is_the_same_bytes(void **state)
{
	struct perf_event_attr theirs;
	memset(&theirs, 0, sizeof(theirs));
	theirs.type = PERF_TYPE_SOFTWARE;
	theirs.size = sizeof(theirs);
	theirs.config = PERF_COUNT_SW_PAGE_FAULTS;
	theirs.sample_period = 3;
	theirs.inherit = 1;
	theirs.exclude_kernel = 1;
	theirs.precise_ip = 2;
	theirs.mmap2 = 1;
	theirs.ksymbol = 1;
	theirs.build_id = 1;
	theirs.sample_stack_user = 77;
	struct cursor c = cursor_make((struct tally_bytes){(const uint8_t *)&theirs, sizeof(theirs)}, false);
	struct perf_attr ours;
	assert_int_equal(attr_decode(&c, &ours, NULL), TALLY_OK);
	assert_int_equal(ours.config, PERF_COUNT_SW_PAGE_FAULTS);
	assert_int_equal(attr_precise_ip(&ours), 2);
	assert_int_equal(ours.sample_stack_user, 77);
	uint64_t flags = ATTR_FLAG(ATTR_BIT_INHERIT) | ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_MMAP2) |
			 ATTR_FLAG(ATTR_BIT_KSYMBOL) | ATTR_FLAG(ATTR_BIT_BUILD_ID) |
			 UINT64_C(2) << ATTR_BIT_PRECISE_IP;
	assert_int_equal(ours.flags, flags);
	struct writer w = {0};
	attr_encode(&w, &ours);
	assert_memory_equal(w.data, &theirs, sizeof(theirs));
	writer_deinit(&w);
}

/* A big-endian writer fills bit-fields from the top: the first flag is the highest bit of the first byte. */
static void test_flags_of_a_big_endian_file(void **state)
{
	uint8_t bytes[ATTR_SIZE_VER0] = {0};
	bytes[7] = ATTR_SIZE_VER0; /* The size, big-endian, at bytes 4 to 7. */
	bytes[40] = 0x80 | 0x40; /* The flags disabled and inherit. */
	bytes[41] = 0x02; /* Bits 8 to 15 from the top: bit 14 is watermark. */
	struct cursor c = cursor_make((struct tally_bytes){bytes, sizeof(bytes)}, true);
	struct perf_attr attr;
	assert_int_equal(attr_decode(&c, &attr, NULL), TALLY_OK);
	assert_int_equal(
		attr.flags, ATTR_FLAG(ATTR_BIT_DISABLED) | ATTR_FLAG(ATTR_BIT_INHERIT) | ATTR_FLAG(ATTR_BIT_WATERMARK));
	bytes[41] = 0x01; /* precise_ip is 2: its high bit comes first, in bit 15. */
	bytes[42] = 0x00;
	c = cursor_make((struct tally_bytes){bytes, sizeof(bytes)}, true);
	assert_int_equal(attr_decode(&c, &attr, NULL), TALLY_OK);
	assert_int_equal(attr_precise_ip(&attr), 2);
}

static void test_larger_attrs_are_read_and_counted(void **state)
{
	struct perf_attr attr = full_attr();
	attr.size = ATTR_SIZE_KNOWN + 24;
	struct writer w = {0};
	attr_encode(&w, &attr);
	w.data[w.len - 1] = 1;
	struct cursor c = cursor_make(writer_view(&w), false);
	struct perf_attr back;
	assert_int_equal(attr_decode(&c, &back, NULL), TALLY_OK);
	assert_int_equal(back.excess_bytes, 24);
	assert_true(back.excess_is_nonzero);
	assert_int_equal(cursor_left(&c), 0);
	writer_deinit(&w);
}

static void test_sizes_that_lie(void **state)
{
	uint8_t bytes[ATTR_SIZE_VER0] = {0};
	for (unsigned size = 1; size < ATTR_SIZE_VER0; size++) {
		bytes[4] = (uint8_t)size;
		struct cursor c = cursor_make((struct tally_bytes){bytes, sizeof(bytes)}, false);
		struct perf_attr attr;
		struct tally_error err;
		assert_int_equal(attr_decode(&c, &attr, &err), TALLY_CORRUPT);
	}
	bytes[4] = 0; /* The first kernels stored a size of 0. */
	struct cursor c = cursor_make((struct tally_bytes){bytes, sizeof(bytes)}, false);
	struct perf_attr attr;
	assert_int_equal(attr_decode(&c, &attr, NULL), TALLY_OK);
}

static void assert_printed(const struct perf_attr *attr, const char *expected)
{
	struct text t = {0};
	attr_print(&t, attr);
	text_char(&t, '\0');
	assert_string_equal(t.data, expected);
	text_deinit(&t);
}

static void test_print(void **state)
{
	struct perf_attr attr = {.type = EVENT_SOFTWARE,
		.size = 136,
		.sample_period_or_freq = 4000,
		.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_PERIOD,
		.read_format = READ_FORMAT_ID | READ_FORMAT_LOST,
		.flags = ATTR_FLAG(ATTR_BIT_DISABLED) | ATTR_FLAG(ATTR_BIT_FREQ)};
	assert_printed(&attr, "type: 1 (PERF_TYPE_SOFTWARE), size: 136, config: 0 (PERF_COUNT_SW_CPU_CLOCK), { "
			      "sample_period, sample_freq }: 4000, sample_type: IP|TID|PERIOD, "
			      "read_format: ID|LOST, disabled: 1, freq: 1");
}

static void test_print_for_headers(void **state)
{
	struct perf_attr attr = {.type = EVENT_SOFTWARE, .size = 136, .sample_type = SAMPLE_IP};
	struct text t = {0};
	attr_print_header(&t, &attr);
	text_char(&t, '\0');
	assert_string_equal(t.data, "type = 1 (PERF_TYPE_SOFTWARE), size = 136, config = 0 (PERF_COUNT_SW_CPU_CLOCK), "
				    "sample_type = IP");
	text_deinit(&t);
}

/* The output of perf 7.3 for an attr with every bit set and a field of each kind, plus unknown bits,
 * which perf omits. */
static void test_print_of_what_is_rare(void **state)
{
	struct perf_attr attr = {.size = 144,
		.declared_size = 120,
		.sample_type = SAMPLE_IDENTIFIER | SAMPLE_DATA_SRC | SAMPLE_WEIGHT | SAMPLE_REGS_INTR |
			       UINT64_C(1) << 25 | UINT64_C(1) << 63,
		.read_format = UINT64_C(1) << 5,
		.flags = ATTR_FLAG(ATTR_BIT_WATERMARK) | UINT64_C(3) << ATTR_BIT_PRECISE_IP |
			 ATTR_FLAG(ATTR_BIT_DEFER_OUTPUT) | UINT64_C(1) << 40,
		.wakeup = 5,
		.branch_sample_type = BRANCH_COUNTERS | UINT64_C(1) << 20,
		.clockid = -1,
		.aux_action = 7 | 1 << 4,
		.sig_data = 19,
		.config3 = 20,
		.excess_bytes = 8,
		.excess_is_nonzero = true};
	assert_printed(&attr,
		"type: 0 (PERF_TYPE_HARDWARE), size: 120, config: 0 (PERF_COUNT_HW_CPU_CYCLES), sample_type: "
		"IDENTIFIER|REGS_INTR|DATA_SRC|WEIGHT|bit 25|bit 63, read_format: bit 5, "
		"watermark: 1, precise_ip: 3, defer_output: 1, unknown flags: bit 40, "
		"{ wakeup_events, wakeup_watermark }: 5, branch_sample_type: COUNTERS|bit 20, clockid: -1, "
		"sig_data: 19, aux_start_paused: 1, aux_pause: 1, aux_resume: 1, unknown aux_action: 0x10, "
		"config3: 0x14, bytes beyond what is known: 8");
}

/* Names as in perf 7.3, except those of PMUs, which perf takes from the machine that reads. */
static void test_print_of_types_and_configurations(void **state)
{
	(void)state;
	static const struct {
		uint32_t type;
		uint64_t config;
		const char *text;
	} cases[] = {
		{EVENT_HARDWARE, 9, "type: 0 (PERF_TYPE_HARDWARE), config: 0x9 (PERF_COUNT_HW_REF_CPU_CYCLES)"},
		{EVENT_HARDWARE, 10, "type: 0 (PERF_TYPE_HARDWARE), config: 0xa"},
		{EVENT_HARDWARE, 0x500000001,
			"type: 0 (PERF_TYPE_HARDWARE), config: 0x500000001 (PERF_COUNT_HW_INSTRUCTIONS)"},
		{EVENT_SOFTWARE, 11, "type: 1 (PERF_TYPE_SOFTWARE), config: 0xb (PERF_COUNT_SW_CGROUP_SWITCHES)"},
		{EVENT_SOFTWARE, 12, "type: 1 (PERF_TYPE_SOFTWARE), config: 0xc"},
		{EVENT_SOFTWARE, 0x100000000, "type: 1 (PERF_TYPE_SOFTWARE), config: 0x100000000"},
		{EVENT_TRACEPOINT, 391, "type: 2 (PERF_TYPE_TRACEPOINT), config: 0x187"},
		{EVENT_HW_CACHE, 0x10103,
			"type: 3 (PERF_TYPE_HW_CACHE), config: 0x10103 (PERF_COUNT_HW_CACHE_RESULT_MISS | "
			"PERF_COUNT_HW_CACHE_OP_WRITE | PERF_COUNT_HW_CACHE_DTLB)"},
		{EVENT_HW_CACHE, 0x20006, "type: 3 (PERF_TYPE_HW_CACHE), config: 0x20006"},
		{EVENT_HW_CACHE, 0x300, "type: 3 (PERF_TYPE_HW_CACHE), config: 0x300"},
		{EVENT_HW_CACHE, 7, "type: 3 (PERF_TYPE_HW_CACHE), config: 0x7"},
		{EVENT_RAW, 0, "type: 4 (PERF_TYPE_RAW), config: 0"},
		{EVENT_BREAKPOINT, 0, "type: 5 (PERF_TYPE_BREAKPOINT), config: 0"},
		{8, 3, "type: 8, config: 0x3"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct perf_attr attr = {.type = cases[i].type, .config = cases[i].config};
		assert_printed(&attr, cases[i].text);
	}
}

static void test_declared_size_is_kept(void **state)
{
	uint8_t bytes[128] = {0};
	bytes[4] = 120;
	struct cursor c = cursor_make((struct tally_bytes){bytes, sizeof(bytes)}, false);
	struct perf_attr attr;
	assert_int_equal(attr_decode_sized(&c, sizeof(bytes), &attr, NULL), TALLY_OK);
	assert_int_equal(attr.size, 128);
	assert_int_equal(attr.declared_size, 120);
	assert_int_equal(cursor_left(&c), 0);
}

static void assert_name(struct perf_attr attr, const char *expected)
{
	struct text t = {0};
	event_name_of_attr(&t, &attr);
	text_char(&t, '\0');
	assert_string_equal(t.data, expected);
	text_deinit(&t);
}

static void test_names(void **state)
{
	uint64_t guest = ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST);
	uint64_t user = ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HV);
	assert_name(
		(struct perf_attr){.type = EVENT_SOFTWARE, .config = SW_PAGE_FAULTS, .flags = guest}, "page-faults");
	assert_name((struct perf_attr){.type = EVENT_HARDWARE, .flags = user}, "cycles:u");
	assert_name((struct perf_attr){.type = EVENT_HARDWARE, .flags = user | guest}, "cycles:uH");
	assert_name((struct perf_attr){.type = EVENT_HW_CACHE, .config = CACHE_L1D | 1 << 16, .flags = guest},
		"L1-dcache-load-misses");
	assert_name((struct perf_attr){.type = EVENT_RAW, .config = 0x1c2, .flags = guest}, "raw 0x1c2");
	uint64_t no_hypervisor = ATTR_FLAG(ATTR_BIT_EXCLUDE_HV) | guest;
	assert_name((struct perf_attr){.type = EVENT_HARDWARE, .flags = no_hypervisor}, "cycles:kuH");
	assert_name((struct perf_attr){.type = 95, .flags = user}, "unknown attr type: 95");
}

/* The texts of perf 6.1. On a hybrid CPU, the upper half of config is the PMU. */
static void test_what_has_no_name(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		const char *name;
	} rows[] = {
		{EVENT_HARDWARE, 0x400000001, "cpu/instructions/"},
		{EVENT_HARDWARE, 0x400000099, "cpu/unknown-hardware/"},
		{EVENT_HARDWARE, 10, "unknown-hardware"},
		{EVENT_SOFTWARE, 99, "unknown-software"},
		{EVENT_HW_CACHE, CACHE_L1I | CACHE_OP_WRITE << 8, "invalid-cache"},
		{EVENT_HW_CACHE, CACHE_COUNT, "unknown-ext-hardware-cache-type"},
		{EVENT_HW_CACHE, CACHE_OP_COUNT << 8, "unknown-ext-hardware-cache-op"},
		{EVENT_HW_CACHE, CACHE_RESULT_COUNT << 16, "unknown-ext-hardware-cache-result"},
		{EVENT_HW_CACHE, 0x400000000 | CACHE_L1D, "L1-dcache-loads"},
		{95, 0x4000, "unknown attr type: 95"},
	};
	uint64_t guest = ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_name((struct perf_attr){.type = rows[i].type, .config = rows[i].config, .flags = guest},
			rows[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip_of_every_size),
		cmocka_unit_test(test_every_field),
		cmocka_unit_test(test_every_flag),
		cmocka_unit_test(test_sizes_that_are_none),
		cmocka_unit_test(test_print_for_headers),
		cmocka_unit_test(test_the_kernels_struct_is_the_same_bytes),
		cmocka_unit_test(test_flags_of_a_big_endian_file),
		cmocka_unit_test(test_larger_attrs_are_read_and_counted),
		cmocka_unit_test(test_sizes_that_lie),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_what_has_no_name),
		cmocka_unit_test(test_print_of_what_is_rare),
		cmocka_unit_test(test_print_of_types_and_configurations),
		cmocka_unit_test(test_declared_size_is_kept),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
