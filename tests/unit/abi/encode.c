/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests encoding of records: each is decoded again, in both byte orders, with every field unchanged.
 */
#include "abi/encode.h"

#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "base/array.h"
#include "unit_test.h"

#define BIG		 UINT64_C(0x1122334455667788)
#define RECORD_BYTES_MAX 65535

static const uint8_t words[96] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

/* Writes the record after three bytes of another, and reads it from its aligned offset. */
static struct record_fields written_and_read(
	struct writer *w, const struct record_fields *in, uint16_t misc, size_t expected_bytes)
{
	struct record record;
	struct record_fields out;
	writer_zeros(w, 3);
	assert_true(record_encode(w, in, misc, NULL, NULL));
	assert_int_equal(w->len, 8 + expected_bytes);
	assert_int_equal(record_at(writer_view(w), w->swap, 8, &record, NULL), TALLY_OK);
	assert_int_equal(record.bytes.len, expected_bytes);
	assert_int_equal(record.misc, misc);
	assert_int_equal(record.type, in->type);
	assert_int_equal(record_decode(&record, &out, NULL), TALLY_OK);
	return out;
}

static void test_kernel_records(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct writer w = {.swap = swap};
		struct record_fields in = {
			.type = RECORD_BPF_EVENT, .bpf = {.bpf_type = 1, .flags = 2, .id = 77, .tag = "TAGOFBP"}};
		struct record_fields out = written_and_read(&w, &in, 0, 24);
		assert_int_equal(out.bpf.bpf_type, 1);
		assert_int_equal(out.bpf.flags, 2);
		assert_int_equal(out.bpf.id, 77);
		assert_memory_equal(out.bpf.tag, "TAGOFBP", 8);
		writer_clear(&w);
		in = (struct record_fields){.type = RECORD_READ, .read = {11, 12, {words, 24}}};
		out = written_and_read(&w, &in, 0, 40);
		assert_int_equal(out.read.pid, 11);
		assert_int_equal(out.read.tid, 12);
		assert_true(bytes_equal(out.read.values, in.read.values));
		writer_clear(&w);
		in = (struct record_fields){.type = RECORD_SWITCH};
		out = written_and_read(&w, &in, MISC_SWITCH_OUT, 8);
		assert_true(out.context_switch.is_out && !out.context_switch.is_preempt);
		writer_clear(&w);
		in = (struct record_fields){.type = RECORD_KSYMBOL, .ksymbol = {BIG, 64, 2, 3, STR("name")}};
		out = written_and_read(&w, &in, 0, 32);
		assert_int_equal(out.ksymbol.ksym_type, 2);
		assert_int_equal(out.ksymbol.flags, 3);
		writer_clear(&w);
		in = (struct record_fields){.type = RECORD_NAMESPACES, .namespaces = {11, 12, 3, {words, 48}}};
		out = written_and_read(&w, &in, 0, 72);
		assert_int_equal(out.namespaces.pid, 11);
		assert_int_equal(out.namespaces.tid, 12);
		assert_true(bytes_equal(out.namespaces.entries, in.namespaces.entries));
		writer_deinit(&w);
	}
}

/* A mapping with all fields that a record without build ID has. */
static void test_mappings(void **state)
{
	struct record_fields in = {.type = RECORD_MMAP2,
		.mmap = {.pid = 11,
			.tid = 12,
			.start = BIG,
			.len = 0x2000,
			.pgoff = 0x3000,
			.major = 8,
			.minor = 9,
			.inode = BIG + 1,
			.inode_generation = 5,
			.prot = 7,
			.flags = 2,
			.filename = STR("/bin/x7")}}; /* 8 bytes with its NUL. */
	for (int swap = 0; swap < 2; swap++) {
		struct writer w = {.swap = swap};
		struct record_fields out = written_and_read(&w, &in, 0, 8 + 64 + 8);
		assert_int_equal(out.mmap.pid, 11);
		assert_int_equal(out.mmap.tid, 12);
		assert_int_equal(out.mmap.start, BIG);
		assert_int_equal(out.mmap.len, 0x2000);
		assert_int_equal(out.mmap.major, 8);
		assert_int_equal(out.mmap.minor, 9);
		assert_int_equal(out.mmap.inode, BIG + 1);
		assert_int_equal(out.mmap.inode_generation, 5);
		assert_int_equal(out.mmap.prot, 7);
		assert_int_equal(out.mmap.flags, 2);
		assert_false(out.mmap.has_build_id);
		assert_true(str_equal(out.mmap.filename, in.mmap.filename));
		writer_deinit(&w);
	}
}

/* None of these identities of files is a build ID, although the record has the bit of a build ID. */
static void test_identities_that_are_no_build_id(void **state)
{
	static const uint8_t identities[][24] = {
		{0, 0, 0, 0, 9}, /* The size is 0. */
		{20, 1, 0, 0, 9},
		{20, 0, 1, 0, 9},
		{20, 0, 0, 1, 9}, /* The bytes after the size are not zero. */
		{21, 0, 0, 0, 9}, /* The size is too large. */
		/* The bytes after the build ID are not zero. */
		{19, 0, 0, 0, 9, [23] = 1},
		{4, 0, 0, 0, 9, 9, 9, 9, 1},
	};
	static const uint8_t real[][24] = {{20, 0, 0, 0, 9, [23] = 1}, {4, 0, 0, 0, 9, 9, 9, 9}};
	struct record_fields in = {.type = RECORD_MMAP2, .mmap = {.filename = STR("/x")}};
	struct record record;
	struct record_fields out;
	struct writer w = {0};
	assert_true(record_encode(&w, &in, MISC_MMAP_BUILD_ID, NULL, NULL));
	for (size_t i = 0; i < ARRAY_LEN(identities); i++) {
		memcpy(w.data + 8 + 32, identities[i], 24);
		assert_int_equal(record_at(writer_view(&w), false, 0, &record, NULL), TALLY_OK);
		assert_int_equal(record_decode(&record, &out, NULL), TALLY_OK);
		assert_false(out.mmap.has_build_id);
	}
	for (size_t i = 0; i < 2; i++) {
		memcpy(w.data + 8 + 32, real[i], 24);
		assert_int_equal(record_at(writer_view(&w), false, 0, &record, NULL), TALLY_OK);
		assert_int_equal(record_decode(&record, &out, NULL), TALLY_OK);
		assert_true(out.mmap.has_build_id);
		assert_int_equal(out.mmap.build_id.size, real[i][0]);
		assert_memory_equal(out.mmap.build_id.bytes, real[i] + 4, 20);
	}
	writer_deinit(&w);
}

static void check_descriptions(struct writer *w)
{
	struct record_fields in = {.type = RECORD_HEADER_ATTR, .attr = {{words, 72}}};
	struct record_fields out = written_and_read(w, &in, 0, 80);
	assert_true(bytes_equal(out.attr.attr_and_ids, in.attr.attr_and_ids));
	writer_clear(w);
	in = (struct record_fields){.type = RECORD_HEADER_BUILD_ID,
		.build_id = {.pid = -1, .size = 16, .bytes = {1, 2, [15] = 16}, .filename = STR("/bin/foo")}};
	out = written_and_read(w, &in, MISC_BUILD_ID_SIZE | MISC_CPUMODE_USER, 8 + 28 + 12);
	assert_int_equal(out.build_id.pid, -1);
	assert_int_equal(out.build_id.size, 16);
	assert_memory_equal(out.build_id.bytes, in.build_id.bytes, 20);
	assert_true(str_equal(out.build_id.filename, in.build_id.filename));
	writer_clear(w);
	/* Without a size, or with an invalid one, all 20 bytes are the build ID. */
	out = written_and_read(w, &in, MISC_CPUMODE_USER, 8 + 28 + 12);
	assert_int_equal(out.build_id.size, 20);
	writer_clear(w);
	in.build_id.size = 21;
	out = written_and_read(w, &in, MISC_BUILD_ID_SIZE, 8 + 28 + 12);
	assert_int_equal(out.build_id.size, 20);
	writer_clear(w);
	in = (struct record_fields){.type = RECORD_HEADER_TRACING_DATA, .tracing_data = {1234}};
	assert_int_equal(written_and_read(w, &in, 0, 16).tracing_data.size, 1234);
	writer_clear(w);
	in = (struct record_fields){.type = RECORD_HEADER_FEATURE, .feature = {22, {words, 16}}};
	out = written_and_read(w, &in, 0, 32);
	assert_int_equal(out.feature.feature, 22);
	assert_true(bytes_equal(out.feature.payload, in.feature.payload));
	writer_clear(w);
	in = (struct record_fields){.type = RECORD_EVENT_UPDATE, .event_update = {EVENT_UPDATE_NAME, BIG, {words, 8}}};
	out = written_and_read(w, &in, 0, 32);
	assert_int_equal(out.event_update.update_type, EVENT_UPDATE_NAME);
	assert_int_equal(out.event_update.id, BIG);
	assert_true(bytes_equal(out.event_update.payload, in.event_update.payload));
}

static void check_maps(struct writer *w)
{
	struct record_fields in = {.type = RECORD_ID_INDEX, .id_index = {.count = 2, .entries = {words, 64}}};
	struct record_fields out = written_and_read(w, &in, 0, 80);
	assert_int_equal(out.id_index.count, 2);
	assert_false(out.id_index.has_machine);
	assert_true(bytes_equal(out.id_index.entries, in.id_index.entries));
	writer_clear(w);
	in.id_index.entries.len = 96; /* Entries with the guest of each. */
	out = written_and_read(w, &in, 0, 112);
	assert_true(out.id_index.has_machine);
	assert_int_equal(out.id_index.entries.len, 64);
	writer_clear(w);
	in = (struct record_fields){.type = RECORD_ID_INDEX};
	out = written_and_read(w, &in, 0, 16);
	assert_false(out.id_index.has_machine);
	writer_clear(w);
	in = (struct record_fields){.type = RECORD_THREAD_MAP, .thread_map = {3, {words, 72}}};
	out = written_and_read(w, &in, 0, 88);
	assert_int_equal(out.thread_map.count, 3);
	assert_true(bytes_equal(out.thread_map.entries, in.thread_map.entries));
	writer_clear(w);
	in = (struct record_fields){.type = RECORD_CPU_MAP, .cpu_map = {CPU_MAP_MASK, {words, 6}}};
	out = written_and_read(w, &in, 0, 16);
	assert_int_equal(out.cpu_map.encoding, CPU_MAP_MASK);
	assert_true(bytes_equal(out.cpu_map.payload, in.cpu_map.payload));
	for (int has_bits = 0; has_bits < 2; has_bits++) {
		writer_clear(w);
		in = (struct record_fields){
			.type = RECORD_TIME_CONV, .time_conv = {31, 7, BIG, 5, BIG + 1, has_bits, false, true}};
		out = written_and_read(w, &in, 0, has_bits ? 56 : 32);
		assert_int_equal(out.time_conv.shift, 31);
		assert_int_equal(out.time_conv.mult, 7);
		assert_int_equal(out.time_conv.zero, BIG);
		assert_int_equal(out.time_conv.has_cap_bits, has_bits);
		assert_int_equal(out.time_conv.cycles, has_bits ? 5 : 0);
		assert_int_equal(out.time_conv.mask, has_bits ? BIG + 1 : 0);
		assert_false(out.time_conv.cap_time_zero);
		assert_int_equal(out.time_conv.cap_time_short, has_bits);
	}
}

static void test_user_records(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct writer w = {.swap = swap};
		check_descriptions(&w);
		writer_clear(&w);
		check_maps(&w);
		writer_clear(&w);
		struct record_fields in = {.type = RECORD_FINISHED_INIT};
		assert_int_equal(written_and_read(&w, &in, 0, 8).type, RECORD_FINISHED_INIT);
		writer_deinit(&w);
	}
}

/* A record that cannot be encoded leaves no bytes in the writer. */
static void test_what_no_record_holds(void **state)
{
	static const uint32_t not_written[] = {RECORD_TEXT_POKE, RECORD_AUXTRACE, 0, 200};
	struct writer w = {0};
	uint8_t *large = calloc(1, RECORD_BYTES_MAX);
	assert_non_null(large);
	writer_u64(&w, BIG);
	for (size_t i = 0; i < ARRAY_LEN(not_written); i++) {
		struct record_fields in = {.type = not_written[i]};
		assert_false(record_encode(&w, &in, 0, NULL, NULL));
		assert_int_equal(w.len, 8);
	}
	size_t most = RECORD_BYTES_MAX / 8 * 8 - 16;
	struct record_fields in = {.type = RECORD_HEADER_FEATURE, .feature = {1, {large, most}}};
	assert_true(record_encode(&w, &in, 0, NULL, NULL));
	assert_int_equal(w.len, 8 + 16 + most);
	in.feature.payload.len++;
	assert_false(record_encode(&w, &in, 0, NULL, NULL));
	assert_int_equal(w.len, 8 + 16 + most);
	writer_clear(&w);
	struct perf_attr attr = {.sample_type = SAMPLE_AUX};
	struct record_layout layout = record_layout_make(&attr, false);
	struct sample sample = {.aux = {large, most}};
	assert_true(sample_encode(&w, &layout, 0, &sample));
	assert_int_equal(w.len, 16 + most);
	sample.aux.len++;
	assert_false(sample_encode(&w, &layout, 0, &sample));
	assert_int_equal(w.len, 16 + most);
	writer_deinit(&w);
	free(large);
}

/* Records are padded to 8 bytes with zeros. */
static void test_padding(void **state)
{
	struct record_fields in = {.type = RECORD_CPU_MAP, .cpu_map = {CPU_MAP_CPUS, {words, 1}}};
	struct perf_attr attr = {.sample_type = SAMPLE_AUX | SAMPLE_RAW};
	struct record_layout layout = record_layout_make(&attr, false);
	struct sample sample = {.raw = {words, 1}, .aux = {words, 3}};
	static const uint8_t padded[2][8] = {{0, 0, 1, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0}};
	struct writer w = {0};
	assert_true(record_encode(&w, &in, 0, NULL, NULL));
	assert_int_equal(w.len, 16);
	assert_memory_equal(w.data + 8, padded[0], 8);
	writer_clear(&w);
	assert_true(sample_encode(&w, &layout, 0, &sample));
	assert_int_equal(w.len, 8 + 8 + 8 + 8);
	assert_memory_equal(w.data + 8, padded[1], 8);
	assert_int_equal(sample_u64_at(w.data, 2, false), 3);
	assert_int_equal(sample_u64_at(w.data, 3, false), 0x030201);
	writer_deinit(&w);
}

/* A name ends with its padding, however long it is, and the trailer follows. A name that fills its record is not
 * terminated. */
static void test_what_follows_a_name(void **state)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	struct perf_attr attr = {.sample_type = SAMPLE_TIME, .flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL)};
	struct record_layout layout = record_layout_make(&attr, false);
	struct sample_id id = {.time = BIG};
	static const uint32_t types[] = {RECORD_COMM, RECORD_MMAP2};
	for (size_t len = 0; len < 2 * 24; len++) {
		struct tally_str name = {letters, len / 2};
		struct record_fields in = {.type = types[len % 2]}, out;
		struct record record;
		struct writer w = {0};
		if (in.type == RECORD_COMM)
			in.comm.comm = name;
		else
			in.mmap.filename = name;
		assert_true(record_encode(&w, &in, 0, &layout, &id));
		assert_int_equal(record_at(writer_view(&w), false, 0, &record, NULL), TALLY_OK);
		assert_int_equal(record_decode(&record, &out, NULL), TALLY_OK);
		assert_true(str_equal(in.type == RECORD_COMM ? out.comm.comm : out.mmap.filename, name));
		assert_int_equal(out.trailer_area.len, 8);
		assert_int_equal(sample_u64_at(out.trailer_area.data, 0, false), BIG);
		writer_deinit(&w);
	}
	uint8_t full[24] = {RECORD_COMM, 0, 0, 0, 0, 0, 24, 0};
	memcpy(full + 16, letters, 8);
	struct record record = {.type = RECORD_COMM, .bytes = {full, sizeof(full)}};
	struct record_fields out;
	assert_int_equal(record_decode(&record, &out, NULL), TALLY_OK);
	assert_int_equal(out.comm.comm.len, 8);
	assert_int_equal(out.trailer_area.len, 0);
	record.bytes.len = 16; /* The record has no name. */
	assert_int_equal(record_decode(&record, &out, NULL), TALLY_OK);
	assert_int_equal(out.comm.comm.len, 0);
	assert_int_equal(out.trailer_area.len, 0);
}

/* Only kernel records have trailers, with each field at the offset that the kernel uses. */
static void test_trailers(void **state)
{
	static const struct sample_id id = {
		.pid = 11, .tid = 12, .cpu = 3, .time = BIG, .id = 77, .stream_id = 78, .has_time = true};
	static const struct {
		uint64_t bit;
		size_t bytes;
	} cases[] = {{0, 0}, {SAMPLE_TID, 8}, {SAMPLE_TIME, 8}, {SAMPLE_ID, 8}, {SAMPLE_STREAM_ID, 8}, {SAMPLE_CPU, 8},
		{SAMPLE_IDENTIFIER, 8}, {SAMPLE_IP, 0}};
	for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
		uint64_t bit = cases[i / 2].bit;
		struct perf_attr attr = {.sample_type = bit, .flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL)};
		struct record_layout layout = record_layout_make(&attr, i % 2);
		struct record_fields in = {.type = RECORD_LOST, .lost = {1, 2}};
		struct writer w = {.swap = i % 2};
		struct record record;
		struct sample_id out;
		assert_true(record_encode(&w, &in, 0, &layout, &id));
		assert_int_equal(w.len, 24 + cases[i / 2].bytes);
		assert_int_equal(record_at(writer_view(&w), w.swap, 0, &record, NULL), TALLY_OK);
		assert_int_equal(sample_id_decode(&layout, &record, &out, NULL), TALLY_OK);
		bool has_id = bit == SAMPLE_ID || bit == SAMPLE_IDENTIFIER;
		assert_int_equal(out.has_tid, bit == SAMPLE_TID);
		assert_int_equal(out.pid, bit == SAMPLE_TID ? 11 : 0);
		assert_int_equal(out.tid, bit == SAMPLE_TID ? 12 : 0);
		assert_int_equal(out.has_time, bit == SAMPLE_TIME);
		assert_int_equal(out.time, bit == SAMPLE_TIME ? BIG : 0);
		assert_int_equal(out.has_id, has_id);
		assert_int_equal(out.id, has_id ? 77 : 0);
		assert_int_equal(out.has_stream_id, bit == SAMPLE_STREAM_ID);
		assert_int_equal(out.stream_id, bit == SAMPLE_STREAM_ID ? 78 : 0);
		assert_int_equal(out.has_cpu, bit == SAMPLE_CPU);
		assert_int_equal(out.cpu, bit == SAMPLE_CPU ? 3 : 0);
		/* A record shorter than its header and trailer is refused; one of the same size is all trailer. */
		record.bytes.len = 8 + cases[i / 2].bytes;
		assert_int_equal(sample_id_decode(&layout, &record, &out, NULL), TALLY_OK);
		record.bytes.len--;
		assert_int_equal(sample_id_decode(&layout, &record, &out, NULL), TALLY_CORRUPT);
		in = (struct record_fields){.type = RECORD_FINISHED_ROUND};
		writer_clear(&w);
		assert_true(record_encode(&w, &in, 0, &layout, &id));
		assert_int_equal(w.len, 8);
		writer_deinit(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_records),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_identities_that_are_no_build_id),
		cmocka_unit_test(test_user_records),
		cmocka_unit_test(test_what_no_record_holds),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_what_follows_a_name),
		cmocka_unit_test(test_trailers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
