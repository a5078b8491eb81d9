/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests decoding of records that only other tools write: each from its bytes, in both byte orders, and truncated at
 * every length.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "base/array.h"
#include "base/writer.h"
#include "unit_test.h"

#define BIG UINT64_C(0x1122334455667788)

static struct writer start(uint32_t type, uint16_t misc, bool swap)
{
	struct writer w = {.swap = swap};
	writer_u32(&w, type);
	writer_u16(&w, misc);
	writer_u16(&w, 0);
	return w;
}

static enum tally_status decode(struct writer *w, struct record_fields *fields)
{
	struct record record;
	writer_patch_u16(w, 6, (uint16_t)w->len);
	assert_int_equal(record_at(writer_view(w), w->swap, 0, &record, NULL), TALLY_OK);
	return record_decode(&record, fields, NULL);
}

/* Every truncated record of that type decodes or is refused, without a read past its end. */
static void cut(struct writer *w)
{
	for (size_t len = 8; len < w->len; len++) {
		uint8_t *copy = malloc(len);
		struct record record;
		struct record_fields fields;
		writer_patch_u16(w, 6, (uint16_t)len);
		memcpy(copy, w->data, len);
		if (record_at((struct tally_bytes){copy, len}, w->swap, 0, &record, NULL) == TALLY_OK)
			assert_true(record_decode(&record, &fields, NULL) != TALLY_NOMEM);
		free(copy);
	}
	writer_deinit(w);
}

static void check_scheduling(bool swap)
{
	struct record_fields f;
	struct writer w = start(RECORD_SWITCH, MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT, swap);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_true(f.context_switch.is_out && f.context_switch.is_preempt && !f.context_switch.is_cpu_wide);
	cut(&w);
	w = start(RECORD_READ, 0, swap);
	writer_u32(&w, 11);
	writer_u32(&w, 12);
	writer_u64(&w, BIG);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.read.pid, 11);
	assert_int_equal(f.read.tid, 12);
	assert_int_equal(f.read.values.len, 8);
	cut(&w);
}

static void check_bpf_and_text(bool swap)
{
	struct record_fields f;
	struct writer w = start(RECORD_BPF_EVENT, 0, swap);
	writer_u16(&w, 1);
	writer_u16(&w, 2);
	writer_u32(&w, 77);
	writer_bytes(&w, "TAGOFBPF", 8);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.bpf.bpf_type, 1);
	assert_int_equal(f.bpf.flags, 2);
	assert_int_equal(f.bpf.id, 77);
	assert_memory_equal(f.bpf.tag, "TAGOFBPF", 8);
	cut(&w);
	w = start(RECORD_TEXT_POKE, 0, swap);
	writer_u64(&w, BIG);
	writer_u16(&w, 5);
	writer_u16(&w, 3);
	writer_bytes(&w, "OLD..NEW", 8);
	writer_zeros(&w, 4);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.text_poke.addr, BIG);
	assert_int_equal(f.text_poke.old_bytes.len, 5);
	assert_memory_equal(f.text_poke.new_bytes.data, "NEW", 3);
	cut(&w);
	w = start(RECORD_BPF_METADATA, 0, swap);
	writer_zeros(&w, 64);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	cut(&w);
}

static void check_aux(bool swap)
{
	struct record_fields f;
	struct writer w = start(RECORD_AUX, 0, swap);
	writer_u64(&w, BIG);
	writer_u64(&w, 4096);
	writer_u64(&w, 3);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.aux.aux_offset, BIG);
	assert_int_equal(f.aux.aux_size, 4096);
	assert_int_equal(f.aux.flags, 3);
	cut(&w);
	w = start(RECORD_AUX_OUTPUT_HW_ID, 0, swap);
	writer_u64(&w, BIG);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.aux_hw_id.hw_id, BIG);
	cut(&w);
	w = start(RECORD_ITRACE_START, 0, swap);
	writer_u32(&w, 11);
	writer_u32(&w, 12);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.itrace_start.tid, 12);
	cut(&w);
	w = start(RECORD_AUXTRACE_INFO, 0, swap);
	writer_u32(&w, 3);
	writer_u32(&w, 0);
	writer_u64(&w, BIG);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.auxtrace_info.auxtrace_type, 3);
	assert_int_equal(f.auxtrace_info.priv.len, 8);
	cut(&w);
	w = start(RECORD_AUXTRACE, 0, swap);
	writer_u64(&w, 48);
	writer_u64(&w, BIG);
	writer_u64(&w, 7);
	for (uint32_t i = 1; i <= 4; i++)
		writer_u32(&w, i);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.auxtrace.size, 48);
	assert_int_equal(f.auxtrace.aux_offset, BIG);
	assert_int_equal(f.auxtrace.cpu, 3);
	cut(&w);
}

/* The time exists from form 1 on, the guest from form 2 on. */
static void check_aux_errors(bool swap)
{
	for (uint32_t form = 0; form < 3; form++) {
		struct record_fields f;
		struct writer w = start(RECORD_AUXTRACE_ERROR, 0, swap);
		for (uint32_t i = 1; i <= 5; i++)
			writer_u32(&w, i);
		writer_u32(&w, form);
		writer_u64(&w, BIG);
		if (form > 0)
			writer_u64(&w, 99);
		writer_bytes(&w, "message", 8);
		writer_zeros(&w, 56);
		if (form == 2) {
			writer_u32(&w, 1234);
			writer_u32(&w, 1);
		}
		assert_int_equal(decode(&w, &f), TALLY_OK);
		assert_int_equal(f.auxtrace_error.code, 2);
		assert_int_equal(f.auxtrace_error.tid, 5);
		assert_int_equal(f.auxtrace_error.ip, BIG);
		assert_int_equal(f.auxtrace_error.time, form > 0 ? 99 : 0);
		assert_true(str_equal(f.auxtrace_error.message, STR("message")));
		assert_int_equal(f.auxtrace_error.machine_pid, form == 2 ? 1234 : 0);
		cut(&w);
	}
}

static void check_stat(bool swap)
{
	struct record_fields f;
	struct writer w = start(RECORD_STAT, 0, swap);
	writer_u64(&w, 7);
	writer_u32(&w, 3);
	writer_u32(&w, 4);
	for (uint64_t i = 0; i < 3; i++)
		writer_u64(&w, BIG + i);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.stat.id, 7);
	assert_int_equal(f.stat.cpu, 3);
	assert_int_equal(f.stat.running, BIG + 2);
	cut(&w);
	w = start(RECORD_STAT_ROUND, 0, swap);
	writer_u64(&w, 1);
	writer_u64(&w, BIG);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.stat_round.round_type, 1);
	assert_int_equal(f.stat_round.time, BIG);
	cut(&w);
	w = start(RECORD_STAT_CONFIG, 0, swap);
	writer_u64(&w, 1);
	writer_u64(&w, 2);
	writer_u64(&w, BIG);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.stat_config.entries.len, 16);
	cut(&w);
}

static void check_descriptions(bool swap)
{
	struct record_fields f;
	struct writer w = start(RECORD_HEADER_TRACING_DATA, 0, swap);
	writer_u32(&w, 1234);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.tracing_data.size, 1234);
	cut(&w);
	w = start(RECORD_HEADER_FEATURE, 0, swap);
	writer_u64(&w, 22);
	writer_bytes(&w, "contents", 8);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.feature.feature, 22);
	assert_int_equal(f.feature.payload.len, 8);
	cut(&w);
	w = start(RECORD_EVENT_UPDATE, 0, swap);
	writer_u64(&w, EVENT_UPDATE_NAME);
	writer_u64(&w, 55);
	writer_bytes(&w, "cycles\0", 8);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.event_update.id, 55);
	assert_int_equal(f.event_update.payload.len, 8);
	cut(&w);
	w = start(RECORD_HEADER_EVENT_TYPE, 0, swap);
	writer_zeros(&w, 72);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	cut(&w);
	w = start(RECORD_CPU_MAP, 0, swap);
	writer_u16(&w, 2);
	writer_bytes(&w, "\0\1\2\3\4\5", 6);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.cpu_map.encoding, 2);
	assert_int_equal(f.cpu_map.payload.len, 6);
	cut(&w);
}

/* Later kernels also give the number of valid bits of the clock. */
static void check_time_conv(bool swap)
{
	for (int is_long = 0; is_long < 2; is_long++) {
		struct record_fields f;
		struct writer w = start(RECORD_TIME_CONV, 0, swap);
		writer_u64(&w, 31);
		writer_u64(&w, 7);
		writer_u64(&w, BIG);
		if (is_long) {
			writer_u64(&w, 5);
			writer_u64(&w, BIG);
			writer_u8(&w, 1);
			writer_u8(&w, 0);
			writer_zeros(&w, 6);
		}
		assert_int_equal(decode(&w, &f), TALLY_OK);
		assert_int_equal(f.time_conv.shift, 31);
		assert_int_equal(f.time_conv.zero, BIG);
		assert_int_equal(f.time_conv.has_cap_bits, is_long);
		assert_int_equal(f.time_conv.mask, is_long ? BIG : 0);
		cut(&w);
	}
}

static void test_each_in_both_byte_orders(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		check_scheduling(swap != 0);
		check_bpf_and_text(swap != 0);
		check_aux(swap != 0);
		check_aux_errors(swap != 0);
		check_stat(swap != 0);
		check_descriptions(swap != 0);
		check_time_conv(swap != 0);
	}
}

/* The size of each record without optional fields: with one byte less, it is refused. */
static void test_the_least_of_each(void **state)
{
	static const struct {
		uint32_t type;
		size_t least;
	} rows[] = {{RECORD_MMAP, 32}, {RECORD_LOST, 16}, {RECORD_COMM, 8}, {RECORD_EXIT, 24}, {RECORD_THROTTLE, 24},
		{RECORD_UNTHROTTLE, 24}, {RECORD_FORK, 24}, {RECORD_READ, 8}, {RECORD_MMAP2, 64}, {RECORD_AUX, 24},
		{RECORD_ITRACE_START, 8}, {RECORD_LOST_SAMPLES, 8}, {RECORD_SWITCH, 0}, {RECORD_SWITCH_CPU_WIDE, 8},
		{RECORD_NAMESPACES, 16}, {RECORD_KSYMBOL, 16}, {RECORD_BPF_EVENT, 16}, {RECORD_CGROUP, 8},
		{RECORD_TEXT_POKE, 12}, {RECORD_AUX_OUTPUT_HW_ID, 8}, {RECORD_CALLCHAIN_DEFERRED, 16},
		{RECORD_HEADER_ATTR, 64}, {RECORD_HEADER_EVENT_TYPE, 0}, {RECORD_HEADER_TRACING_DATA, 4},
		{RECORD_HEADER_BUILD_ID, 28}, {RECORD_FINISHED_ROUND, 0}, {RECORD_ID_INDEX, 8},
		{RECORD_AUXTRACE_INFO, 8}, {RECORD_AUXTRACE, 36}, {RECORD_AUXTRACE_ERROR, 32}, {RECORD_THREAD_MAP, 8},
		{RECORD_CPU_MAP, 2}, {RECORD_STAT_CONFIG, 8}, {RECORD_STAT, 40}, {RECORD_STAT_ROUND, 16},
		{RECORD_EVENT_UPDATE, 16}, {RECORD_TIME_CONV, 24}, {RECORD_HEADER_FEATURE, 8}, {RECORD_COMPRESSED, 0},
		{RECORD_FINISHED_INIT, 0}, {RECORD_COMPRESSED2, 8}, {RECORD_BPF_METADATA, 0}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t len = 0; len < 80; len++) {
			uint8_t *bytes = calloc(1, 8 + len);
			struct record record = {.type = rows[i].type, .bytes = {bytes, 8 + len}};
			struct record_fields f;
			assert_non_null(bytes);
			enum tally_status status = record_decode(&record, &f, NULL);
			assert_int_equal(status, len < rows[i].least ? TALLY_CORRUPT : TALLY_OK);
			assert_int_equal(f.type, status == TALLY_OK ? rows[i].type : 0);
			free(bytes);
		}
}

static void check_counted(bool swap)
{
	struct record_fields f;
	struct writer w = start(RECORD_CALLCHAIN_DEFERRED, 0, swap);
	writer_u64(&w, BIG);
	writer_u64(&w, 2);
	writer_u64(&w, 0x1000);
	writer_u64(&w, 0x2000);
	writer_u64(&w, 7); /* The trailer. */
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.callchain_deferred.cookie, BIG);
	assert_int_equal(f.callchain_deferred.count, 2);
	assert_int_equal(f.callchain_deferred.ips.len, 16);
	assert_int_equal(f.trailer_area.len, 8);
	cut(&w);
	w = start(RECORD_NAMESPACES, 0, swap);
	writer_u32(&w, 11);
	writer_u32(&w, 12);
	writer_u64(&w, 1);
	writer_u64(&w, 3);
	writer_u64(&w, 4);
	writer_u64(&w, 7);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.namespaces.entries.len, 16);
	assert_int_equal(f.trailer_area.len, 8);
	cut(&w);
	w = start(RECORD_COMPRESSED2, 0, swap);
	writer_u64(&w, 3);
	writer_bytes(&w, "abc\0\0\0\0", 8);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.compressed.payload.len, 3);
	assert_memory_equal(f.compressed.payload.data, "abc", 3);
	cut(&w);
	w = start(RECORD_COMPRESSED, 0, swap);
	writer_bytes(&w, "abcd", 4);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.compressed.payload.len, 4);
	cut(&w);
	w = start(RECORD_TEXT_POKE, 0, swap);
	writer_u64(&w, BIG);
	writer_u16(&w, 1);
	writer_u16(&w, 2);
	writer_bytes(&w, "ONN\0", 4); /* 8 + 12 + 4 bytes: no padding is needed. */
	writer_u64(&w, 7);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.text_poke.old_len, 1);
	assert_int_equal(f.text_poke.new_len, 2);
	assert_int_equal(f.trailer_area.len, 8);
	cut(&w);
}

static void check_all_numbers(bool swap)
{
	struct record_fields f;
	struct writer w = start(RECORD_STAT, 0, swap);
	writer_u64(&w, 7);
	writer_u32(&w, 3);
	writer_u32(&w, 4);
	for (uint64_t i = 0; i < 3; i++)
		writer_u64(&w, BIG + i);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.stat.thread, 4);
	assert_int_equal(f.stat.value, BIG);
	assert_int_equal(f.stat.enabled, BIG + 1);
	cut(&w);
	w = start(RECORD_AUXTRACE, 0, swap);
	for (uint64_t i = 0; i < 3; i++)
		writer_u64(&w, BIG + i);
	for (uint32_t i = 1; i <= 4; i++)
		writer_u32(&w, i);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.auxtrace.reference, BIG + 2);
	assert_int_equal(f.auxtrace.idx, 1);
	assert_int_equal(f.auxtrace.tid, 2);
	cut(&w);
	w = start(RECORD_AUXTRACE_ERROR, 0, swap);
	for (uint32_t i = 1; i <= 5; i++)
		writer_u32(&w, i);
	writer_u32(&w, 2);
	writer_u64(&w, BIG);
	writer_u64(&w, 99);
	writer_bytes(&w, "message", 8);
	writer_zeros(&w, 56);
	writer_u32(&w, 1234);
	writer_u32(&w, 9);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.auxtrace_error.error_type, 1);
	assert_int_equal(f.auxtrace_error.cpu, 3);
	assert_int_equal(f.auxtrace_error.pid, 4);
	assert_int_equal(f.auxtrace_error.vcpu, 9);
	cut(&w);
	w = start(RECORD_ITRACE_START, 0, swap);
	writer_u32(&w, 11);
	writer_u32(&w, 12);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.itrace_start.pid, 11);
	cut(&w);
	w = start(RECORD_EVENT_UPDATE, 0, swap);
	writer_u64(&w, EVENT_UPDATE_UNIT);
	writer_u64(&w, 55);
	assert_int_equal(decode(&w, &f), TALLY_OK);
	assert_int_equal(f.event_update.update_type, EVENT_UPDATE_UNIT);
	cut(&w);
}

static void test_counted_parts(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		check_counted(swap != 0);
		check_all_numbers(swap != 0);
	}
}

/* Each bit of misc is tested alone. */
static void test_bits_of_misc(void **state)
{
	uint8_t bytes[8 + 64] = {0};
	struct record record = {.type = RECORD_SWITCH, .bytes = {bytes, 8}};
	struct record_fields f;
	for (unsigned bit = 0; bit < 16; bit++) {
		record.misc = (uint16_t)(1u << bit);
		assert_int_equal(record_decode(&record, &f, NULL), TALLY_OK);
		assert_int_equal(f.context_switch.is_out, record.misc == MISC_SWITCH_OUT);
		assert_int_equal(f.context_switch.is_preempt, record.misc == MISC_SWITCH_OUT_PREEMPT);
	}
	record.type = RECORD_COMM;
	record.bytes.len = sizeof(bytes);
	for (unsigned bit = 0; bit < 16; bit++) {
		record.misc = (uint16_t)(1u << bit);
		assert_int_equal(record_decode(&record, &f, NULL), TALLY_OK);
		assert_int_equal(f.comm.is_exec, record.misc == MISC_COMM_EXEC);
	}
	record.type = RECORD_MMAP;
	for (unsigned bit = 0; bit < 16; bit++) {
		record.misc = (uint16_t)(1u << bit);
		assert_int_equal(record_decode(&record, &f, NULL), TALLY_OK);
		assert_int_equal(f.mmap.prot, record.misc == MISC_MMAP_DATA ? 0 : 4);
	}
}

static void test_records_of_traces(void **state)
{
	static const uint32_t of_trace[] = {RECORD_AUX, RECORD_ITRACE_START, RECORD_AUX_OUTPUT_HW_ID,
		RECORD_AUXTRACE_INFO, RECORD_AUXTRACE, RECORD_AUXTRACE_ERROR};
	size_t found = 0;
	for (uint32_t type = 0; type < RECORD_USER_MAX; type++)
		if (record_is_of_trace(type))
			assert_int_equal(type, of_trace[found++]);
	assert_int_equal(found, ARRAY_LEN(of_trace));
	assert_null(record_trace_name(0));
	assert_string_equal(record_trace_name(1), "intel_pt");
	assert_string_equal(record_trace_name(4), "arm_spe");
	assert_string_equal(record_trace_name(7), "vpa_dtl");
	assert_null(record_trace_name(8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_in_both_byte_orders),
		cmocka_unit_test(test_the_least_of_each),
		cmocka_unit_test(test_counted_parts),
		cmocka_unit_test(test_bits_of_misc),
		cmocka_unit_test(test_records_of_traces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
