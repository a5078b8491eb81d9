/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/sample.h"

#include <stdlib.h>
#include <string.h>

#include "abi/data_src.h"
#include "abi/encode.h"
#include "base/array.h"
#include "unit_test.h"

static const uint8_t bytes64[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* Returns a sample with every field; the encoder uses those of the layout. */
static struct sample make_sample(uint64_t mask)
{
	struct sample s = {
		.ip = 0x401000,
		.time = 5,
		.addr = 6,
		.id = 7,
		.stream_id = 8,
		.period = 9,
		.pid = 10,
		.tid = 11,
		.cpu = 12,
		.callchain = {bytes64, 4},
		.raw = {bytes64, 12},
		.weight = 13,
		.data_src = 14,
		.transaction = 15,
		.phys_addr = 16,
		.cgroup = 17,
		.data_page_size = 18,
		.code_page_size = 19,
		.aux = {bytes64, 16},
	};
	s.branches.entries = (struct sample_array){bytes64, 6};
	s.branches.hw_idx = 3;
	s.branches.counters = (struct sample_array){bytes64, 2};
	s.regs_user = (struct sample_regs){.abi = REGS_ABI_64, .mask = mask, .values = {bytes64, 2}};
	s.regs_intr = s.regs_user;
	s.stack_user.bytes = (struct tally_bytes){bytes64, 32};
	s.stack_user.size = 32;
	s.stack_user.dyn_size = 24;
	return s;
}

static bool round_trip(uint64_t sample_type, bool swap, struct sample *out, struct writer *w)
{
	struct perf_attr attr = {.sample_type = sample_type,
		.sample_regs_user = 0x101,
		.sample_regs_intr = 0x101,
		.branch_sample_type = BRANCH_HW_INDEX | BRANCH_COUNTERS};
	struct record_layout layout = record_layout_make(&attr, swap);
	struct sample in = make_sample(0x101);
	w->swap = swap;
	if (!sample_encode(w, &layout, MISC_CPUMODE_USER, &in))
		return false;
	struct record record;
	if (record_at(writer_view(w), swap, 0, &record, NULL) != TALLY_OK)
		return false;
	enum tally_status status = sample_decode(&layout, &record, out, NULL);
	/* Truncated samples must not be read past their end. */
	for (size_t cut = RECORD_HEADER_BYTES; cut < w->len; cut += 4) {
		uint8_t *copy = malloc(cut);
		memcpy(copy, w->data, cut);
		struct record part = record;
		part.bytes = (struct tally_bytes){copy, cut};
		struct sample ignored;
		enum tally_status cut_status = sample_decode(&layout, &part, &ignored, NULL);
		assert_true(cut_status == TALLY_OK || cut_status == TALLY_CORRUPT);
		free(copy);
	}
	return status == TALLY_OK;
}

#define EACH_BUT_READ (SAMPLE_KNOWN_MASK & ~(SAMPLE_READ | SAMPLE_WEIGHT_STRUCT))

static void test_all_fields(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct writer w = {0};
		struct sample s;
		assert_true(round_trip(EACH_BUT_READ, swap != 0, &s, &w));
		assert_int_equal(s.ip, 0x401000);
		assert_int_equal(s.tid, 11);
		assert_int_equal(s.time, 5);
		assert_int_equal(s.addr, 6);
		assert_int_equal(s.id, 7);
		assert_int_equal(s.stream_id, 8);
		assert_int_equal(s.cpu, 12);
		assert_int_equal(s.period, 9);
		assert_int_equal(s.callchain.count, 4);
		assert_int_equal(s.raw.len, 12);
		assert_int_equal(s.branches.entries.count, 6);
		assert_int_equal(s.branches.hw_idx, 3);
		assert_int_equal(s.branches.counters.count, 2);
		assert_int_equal(s.regs_user.abi, REGS_ABI_64);
		assert_int_equal(s.regs_user.values.count, 2);
		assert_int_equal(s.stack_user.bytes.len, 32);
		assert_int_equal(s.stack_user.dyn_size, 24);
		assert_int_equal(s.weight, 13);
		assert_int_equal(s.data_src, 14);
		assert_int_equal(s.transaction, 15);
		assert_int_equal(s.phys_addr, 16);
		assert_int_equal(s.cgroup, 17);
		assert_int_equal(s.data_page_size, 18);
		assert_int_equal(s.code_page_size, 19);
		assert_int_equal(s.aux.len, 16);
		writer_deinit(&w);
	}
}

static void test_each_field_alone(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		for (uint64_t bit = 1; bit & SAMPLE_KNOWN_MASK; bit <<= 1) {
			if (bit == SAMPLE_READ)
				continue;
			struct writer w = {0};
			struct sample s;
			assert_true(round_trip(bit, swap != 0, &s, &w));
			assert_int_equal(s.present, bit);
			assert_int_equal(s.data_src, bit == SAMPLE_DATA_SRC ? 14 : DATA_SRC_NOT_AVAILABLE);
			writer_deinit(&w);
		}
	}
}

static void test_empty_registers_and_stack(void **state)
{
	struct perf_attr attr = {.sample_type = SAMPLE_REGS_USER | SAMPLE_STACK_USER, .sample_regs_user = 0xffff};
	struct record_layout layout = record_layout_make(&attr, false);
	/* With ABI 0 no registers follow; with size 0 no dyn_size follows. */
	uint64_t words[3] = {0, 0, 0};
	uint8_t bytes[8 + 16] = {RECORD_SAMPLE, 0, 0, 0, 0, 0, 24, 0};
	memcpy(bytes + 8, words, 16);
	struct record record = {.type = RECORD_SAMPLE, .bytes = {bytes, sizeof(bytes)}};
	struct sample s;
	assert_int_equal(sample_decode(&layout, &record, &s, NULL), TALLY_OK);
	assert_int_equal(s.regs_user.values.count, 0);
	assert_int_equal(s.stack_user.bytes.len, 0);
}

static void test_lengths_that_lie(void **state)
{
	static const uint64_t types[] = {
		SAMPLE_CALLCHAIN, SAMPLE_BRANCH_STACK, SAMPLE_RAW, SAMPLE_STACK_USER, SAMPLE_AUX};
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct perf_attr attr = {.sample_type = types[i]};
		struct record_layout layout = record_layout_make(&attr, false);
		uint8_t bytes[8 + 16];
		memset(bytes, 0x7f, sizeof(bytes));
		struct record record = {.type = RECORD_SAMPLE, .bytes = {bytes, sizeof(bytes)}};
		struct sample s;
		assert_int_equal(sample_decode(&layout, &record, &s, NULL), TALLY_CORRUPT);
	}
}

static void check_read_format(uint64_t format, bool swap)
{
	struct writer w = {.swap = swap};
	bool is_group = (format & READ_FORMAT_GROUP) != 0;
	uint64_t count = is_group ? 3 : 1;
	writer_u64(&w, is_group ? count : 100);
	if (format & READ_FORMAT_TOTAL_TIME_ENABLED)
		writer_u64(&w, 50);
	if (format & READ_FORMAT_TOTAL_TIME_RUNNING)
		writer_u64(&w, 40);
	for (uint64_t i = 0; i < count; i++) {
		if (is_group)
			writer_u64(&w, 100 + i);
		if (format & READ_FORMAT_ID)
			writer_u64(&w, 200 + i);
		if (format & READ_FORMAT_LOST)
			writer_u64(&w, 300 + i);
	}
	struct cursor c = cursor_make(writer_view(&w), swap);
	struct read_values values;
	assert_int_equal(read_values_decode(&c, format, &values, NULL), TALLY_OK);
	assert_int_equal(cursor_left(&c), 0);
	assert_int_equal(values.count, count);
	assert_int_equal(values.time_enabled, format & READ_FORMAT_TOTAL_TIME_ENABLED ? 50 : 0);
	assert_int_equal(values.time_running, format & READ_FORMAT_TOTAL_TIME_RUNNING ? 40 : 0);
	for (uint64_t i = 0; i < count; i++) {
		struct read_value value = read_value_get(&values, i);
		assert_int_equal(value.value, 100 + i);
		assert_int_equal(value.id, format & READ_FORMAT_ID ? 200 + i : 0);
		assert_int_equal(value.lost, format & READ_FORMAT_LOST ? 300 + i : 0);
	}
	for (size_t cut = 0; cut < w.len; cut++) {
		struct cursor part = cursor_make((struct tally_bytes){w.data, cut}, swap);
		assert_int_equal(read_values_decode(&part, format, &values, NULL), TALLY_CORRUPT);
	}
	writer_deinit(&w);
}

static void test_every_read_format(void **state)
{
	for (uint64_t format = 0; format < 32; format++) {
		check_read_format(format, false);
		check_read_format(format, true);
	}
}

/* A sample has the counts of its group between its fixed fields and its call chain. */
static void test_readings_inside_a_sample(void **state)
{
	for (uint64_t format = 0; format < 64; format++) {
		bool is_group = (format & READ_FORMAT_GROUP) != 0;
		bool swap = format / 32;
		struct perf_attr attr = {
			.sample_type = SAMPLE_IP | SAMPLE_READ | SAMPLE_CALLCHAIN, .read_format = format % 32};
		struct record_layout layout = record_layout_make(&attr, swap);
		struct writer entries = {.swap = swap}, w = {.swap = swap};
		struct sample s = make_sample(0), out;
		uint64_t count = is_group ? 3 : 1;
		for (uint64_t i = 0; i < count; i++) {
			if (is_group)
				writer_u64(&entries, 100 + i);
			if (format & READ_FORMAT_ID)
				writer_u64(&entries, 200 + i);
			if (format & READ_FORMAT_LOST)
				writer_u64(&entries, 300 + i);
		}
		s.read = (struct read_values){.time_enabled = 50,
			.time_running = 40,
			.count = count,
			.single = 100,
			.entries = entries.data,
			.entry_bytes = (uint32_t)(entries.len / count)};
		assert_true(sample_encode(&w, &layout, 0, &s));
		struct record record;
		assert_int_equal(record_at(writer_view(&w), swap, 0, &record, NULL), TALLY_OK);
		assert_int_equal(sample_decode(&layout, &record, &out, NULL), TALLY_OK);
		assert_int_equal(out.read.count, count);
		assert_int_equal(out.read.time_enabled, format & READ_FORMAT_TOTAL_TIME_ENABLED ? 50 : 0);
		assert_int_equal(out.read.time_running, format & READ_FORMAT_TOTAL_TIME_RUNNING ? 40 : 0);
		for (uint64_t i = 0; i < count; i++) {
			struct read_value value = read_value_get(&out.read, i);
			assert_int_equal(value.value, 100 + i);
			assert_int_equal(value.id, format & READ_FORMAT_ID ? 200 + i : 0);
			assert_int_equal(value.lost, format & READ_FORMAT_LOST ? 300 + i : 0);
		}
		assert_int_equal(out.callchain.count, 4);
		assert_memory_equal(out.callchain.data, bytes64, 32);
		writer_deinit(&entries);
		writer_deinit(&w);
	}
}

static void test_no_stack_and_no_registers(void **state)
{
	struct perf_attr attr = {.sample_type = SAMPLE_REGS_USER | SAMPLE_STACK_USER | SAMPLE_REGS_INTR,
		.sample_regs_user = 3,
		.sample_regs_intr = 3};
	struct record_layout layout = record_layout_make(&attr, false);
	struct sample s = make_sample(3), out;
	struct writer w = {0};
	struct record record;
	s.regs_user = (struct sample_regs){0};
	s.stack_user.bytes.len = 0;
	assert_true(sample_encode(&w, &layout, 0, &s));
	assert_int_equal(w.len, 8 + 8 + 8 + 8 + 16);
	assert_int_equal(record_at(writer_view(&w), false, 0, &record, NULL), TALLY_OK);
	assert_int_equal(sample_decode(&layout, &record, &out, NULL), TALLY_OK);
	assert_int_equal(out.regs_user.abi, REGS_ABI_NONE);
	assert_int_equal(out.regs_user.values.count, 0);
	assert_int_equal(out.regs_user.mask, 0);
	assert_int_equal(out.stack_user.bytes.len, 0);
	assert_int_equal(out.stack_user.dyn_size, 0);
	assert_int_equal(out.regs_intr.mask, 3);
	assert_int_equal(out.regs_intr.values.count, 2);
	writer_deinit(&w);
}

/* The dynamic size of a stack dump must not exceed its size. */
static void test_stacks_that_lie(void **state)
{
	struct perf_attr attr = {.sample_type = SAMPLE_STACK_USER};
	struct record_layout layout = record_layout_make(&attr, false);
	for (uint64_t dyn_size = 31; dyn_size <= 33; dyn_size++) {
		struct sample s = make_sample(0), out;
		struct writer w = {0};
		struct record record;
		s.stack_user.dyn_size = dyn_size;
		assert_true(sample_encode(&w, &layout, 0, &s));
		assert_int_equal(record_at(writer_view(&w), false, 0, &record, NULL), TALLY_OK);
		assert_int_equal(
			sample_decode(&layout, &record, &out, NULL), dyn_size <= 32 ? TALLY_OK : TALLY_CORRUPT);
		writer_deinit(&w);
	}
}

/* perf stores thread, period and call chain of waits in the raw data. */
static void test_waits_in_raw_data(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perf_attr attr = {.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_PERIOD | SAMPLE_RAW};
		struct record_layout layout = record_layout_make(&attr, swap);
		struct writer whole = {.swap = swap}, w = {.swap = swap};
		layout.is_wait = true;
		writer_u32(&whole, 7);
		writer_u32(&whole, 8);
		writer_u64(&whole, 900);
		writer_u64(&whole, 3);
		writer_u64(&whole, CONTEXT_USER);
		writer_u64(&whole, 0x401000);
		writer_u64(&whole, 0x402000);
		for (size_t len = 0; len <= whole.len; len++) {
			const struct sample written = {
				.pid = 1, .tid = 2, .period = 3, .ip = 4, .raw = {whole.data, len}};
			struct sample s;
			struct record record;
			writer_clear(&w);
			assert_true(sample_encode(&w, &layout, 0, &written));
			assert_int_equal(record_at(writer_view(&w), swap, 0, &record, NULL), TALLY_OK);
			assert_int_equal(sample_decode(&layout, &record, &s, NULL), TALLY_OK);
			bool is_whole = len == whole.len;
			assert_int_equal(s.tid, is_whole ? 8 : 2);
			assert_int_equal(s.pid, is_whole ? 7 : 1);
			assert_int_equal(s.period, is_whole ? 900 : 3);
			assert_int_equal(s.ip, is_whole ? 0x401000 : 4);
			assert_int_equal(s.callchain.count, is_whole ? 3 : 0);
		}
		writer_deinit(&whole);
		writer_deinit(&w);
	}
}

/* sample_is_whole agrees with sample_decode for every prefix of a sample. */
static void test_whole_samples(void **state)
{
	static const uint64_t types[] = {SAMPLE_IP | SAMPLE_TIME, SAMPLE_IP | SAMPLE_CALLCHAIN, SAMPLE_CALLCHAIN,
		SAMPLE_CALLCHAIN | SAMPLE_RAW, SAMPLE_WEIGHT, EACH_BUT_READ};
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct perf_attr attr = {.sample_type = types[i], .sample_regs_user = 3, .sample_regs_intr = 3};
		struct record_layout layout = record_layout_make(&attr, false);
		struct sample s = make_sample(3), out;
		struct writer w = {0};
		assert_true(sample_encode(&w, &layout, 0, &s));
		for (size_t len = RECORD_HEADER_BYTES; len <= w.len; len++) {
			struct record record = {.type = RECORD_SAMPLE, .bytes = {w.data, len}};
			enum tally_status status = sample_decode(&layout, &record, &out, NULL);
			assert_int_equal(sample_is_whole(&layout, &record), status == TALLY_OK);
		}
		writer_deinit(&w);
	}
}

/* In old recordings, raw data at the end of a sample is not padded. */
static void test_raw_data_without_padding_at_the_end(void **state)
{
	struct perf_attr attr = {.sample_type = SAMPLE_IP | SAMPLE_RAW};
	struct record_layout layout = record_layout_make(&attr, false);
	const struct sample written = {.ip = 4, .raw = {(const uint8_t *)"abcdef", 6}};
	struct writer w = {0};
	assert_true(sample_encode(&w, &layout, 0, &written));
	size_t unpadded = RECORD_HEADER_BYTES + sizeof(uint64_t) + sizeof(uint32_t) + written.raw.len;
	assert_true(unpadded < w.len);
	for (size_t len = unpadded; len <= w.len; len++) {
		const struct record record = {.type = RECORD_SAMPLE, .bytes = {w.data, len}};
		struct sample s;
		assert_int_equal(sample_decode(&layout, &record, &s, NULL), TALLY_OK);
		assert_int_equal(s.raw.len, written.raw.len);
		assert_memory_equal(s.raw.data, written.raw.data, written.raw.len);
	}
	writer_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fields),
		cmocka_unit_test(test_each_field_alone),
		cmocka_unit_test(test_empty_registers_and_stack),
		cmocka_unit_test(test_lengths_that_lie),
		cmocka_unit_test(test_every_read_format),
		cmocka_unit_test(test_readings_inside_a_sample),
		cmocka_unit_test(test_no_stack_and_no_registers),
		cmocka_unit_test(test_stacks_that_lie),
		cmocka_unit_test(test_waits_in_raw_data),
		cmocka_unit_test(test_whole_samples),
		cmocka_unit_test(test_raw_data_without_padding_at_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
