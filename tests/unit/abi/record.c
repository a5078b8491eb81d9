/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/record.h"

#include <stdlib.h>
#include <string.h>

#include "abi/encode.h"
#include "base/array.h"
#include "unit_test.h"

static const struct perf_attr traced = {
	.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};
static const struct sample_id trailer = {
	.pid = 11, .tid = 12, .cpu = 3, .time = 0x1234567890, .id = 77, .stream_id = 78};

static void fill(struct record_fields *f, uint32_t type)
{
	static const uint8_t words[48] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	memset(f, 0, sizeof(*f));
	f->type = type;
	switch (type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		f->mmap = (struct record_mmap){.pid = 1,
			.tid = 2,
			.start = 0x400000,
			.len = 0x1000,
			.pgoff = 0x2000,
			.major = 8,
			.minor = 1,
			.inode = 99,
			.inode_generation = 5,
			.prot = type == RECORD_MMAP ? 4 : 5,
			.flags = type == RECORD_MMAP ? 0 : 2,
			.filename = STR("/usr/bin/true")};
		if (type == RECORD_MMAP)
			f->mmap.major = f->mmap.minor = 0, f->mmap.inode = f->mmap.inode_generation = 0;
		break;
	case RECORD_COMM:
		f->comm = (struct record_comm){.pid = 1, .tid = 2, .comm = STR("seven77")}; /* 8 bytes with its NUL. */
		break;
	case RECORD_FORK:
	case RECORD_EXIT:
		f->task = (struct record_task){1, 2, 3, 4, 5};
		break;
	case RECORD_LOST:
		f->lost = (struct record_lost){1, 2};
		break;
	case RECORD_LOST_SAMPLES:
		f->lost_samples.lost = 9;
		break;
	case RECORD_THROTTLE:
	case RECORD_UNTHROTTLE:
		f->throttle = (struct record_throttle){1, 2, 3};
		break;
	case RECORD_SWITCH_CPU_WIDE:
		f->context_switch = (struct record_switch){.is_cpu_wide = true, .next_prev_pid = 5, .next_prev_tid = 6};
		break;
	case RECORD_NAMESPACES:
		f->namespaces = (struct record_namespaces){1, 2, 3, {words, 48}};
		break;
	case RECORD_KSYMBOL:
		f->ksymbol = (struct record_ksymbol){0xffffffffc0000000, 64, 1, 0, STR("bpf_prog_1_x")};
		break;
	case RECORD_CGROUP:
		f->cgroup = (struct record_cgroup){5, STR("/user.slice")};
		break;
	default:
		break;
	}
}

static void assert_same_fields(const struct record_fields *a, const struct record_fields *b)
{
	switch (a->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		assert_int_equal(a->mmap.start, b->mmap.start);
		assert_int_equal(a->mmap.pgoff, b->mmap.pgoff);
		assert_int_equal(a->mmap.inode, b->mmap.inode);
		assert_int_equal(a->mmap.prot, b->mmap.prot);
		assert_true(str_equal(a->mmap.filename, b->mmap.filename));
		break;
	case RECORD_COMM:
		assert_true(str_equal(a->comm.comm, b->comm.comm));
		break;
	case RECORD_FORK:
	case RECORD_EXIT:
		assert_memory_equal(&a->task, &b->task, sizeof(a->task));
		break;
	case RECORD_LOST:
		assert_memory_equal(&a->lost, &b->lost, sizeof(a->lost));
		break;
	case RECORD_LOST_SAMPLES:
		assert_int_equal(a->lost_samples.lost, b->lost_samples.lost);
		break;
	case RECORD_THROTTLE:
	case RECORD_UNTHROTTLE:
		assert_memory_equal(&a->throttle, &b->throttle, sizeof(a->throttle));
		break;
	case RECORD_SWITCH_CPU_WIDE:
		assert_int_equal(b->context_switch.next_prev_tid, 6);
		assert_true(b->context_switch.is_cpu_wide);
		break;
	case RECORD_NAMESPACES:
		assert_int_equal(b->namespaces.count, 3);
		assert_int_equal(b->namespaces.entries.len, 48);
		break;
	case RECORD_KSYMBOL:
		assert_int_equal(a->ksymbol.addr, b->ksymbol.addr);
		assert_int_equal(a->ksymbol.len, b->ksymbol.len);
		assert_true(str_equal(a->ksymbol.name, b->ksymbol.name));
		break;
	case RECORD_CGROUP:
		assert_int_equal(a->cgroup.id, b->cgroup.id);
		assert_true(str_equal(a->cgroup.path, b->cgroup.path));
		break;
	default:
		fail();
	}
}

static const uint32_t types[] = {RECORD_MMAP, RECORD_MMAP2, RECORD_COMM, RECORD_FORK, RECORD_EXIT, RECORD_LOST,
	RECORD_LOST_SAMPLES, RECORD_THROTTLE, RECORD_UNTHROTTLE, RECORD_SWITCH_CPU_WIDE, RECORD_NAMESPACES,
	RECORD_KSYMBOL, RECORD_CGROUP};

static void check_type(uint32_t type, bool swap)
{
	struct record_fields in, out;
	struct record_layout layout = record_layout_make(&traced, swap);
	struct writer w = {.swap = swap};
	fill(&in, type);
	assert_true(record_encode(&w, &in, 0, &layout, &trailer));
	assert_int_equal(w.len % 8, 0);

	struct record record;
	assert_int_equal(record_at(writer_view(&w), swap, 0, &record, NULL), TALLY_OK);
	assert_int_equal(record.type, type);
	assert_int_equal(record.bytes.len, w.len);
	assert_int_equal(record_decode(&record, &out, NULL), TALLY_OK);
	assert_same_fields(&in, &out);
	struct tally_str name = record_mmap_name(&record);
	bool is_mmap = type == RECORD_MMAP || type == RECORD_MMAP2;
	assert_true(is_mmap ? name.len > 0 && str_equal(name, out.mmap.filename) : name.len == 0);
	struct sample_id id;
	assert_int_equal(sample_id_decode(&layout, &record, &id, NULL), TALLY_OK);
	assert_int_equal(id.tid, 12);
	assert_int_equal(id.time, 0x1234567890);
	assert_int_equal(id.id, 77);
	assert_int_equal(id.stream_id, 78);
	assert_int_equal(id.cpu, 3);
	uint64_t time_ns = 0;
	assert_true(sample_id_time(&layout, &record, &time_ns));
	assert_int_equal(time_ns, 0x1234567890);
	struct record bare = record;
	bare.bytes.len = (size_t)layout.trailer_bytes + RECORD_HEADER_BYTES - 1;
	assert_false(sample_id_time(&layout, &bare, &time_ns));

	/* Each prefix with a matching size gives an error, or fields that end inside it. */
	for (size_t cut = RECORD_HEADER_BYTES; cut < w.len; cut++) {
		uint8_t *copy = malloc(cut);
		memcpy(copy, w.data, cut);
		uint16_t size = swap ? __builtin_bswap16((uint16_t)cut) : (uint16_t)cut;
		memcpy(copy + 6, &size, sizeof(size));
		struct tally_error err;
		assert_int_equal(record_at((struct tally_bytes){copy, cut}, swap, 0, &record, &err), TALLY_OK);
		enum tally_status status = record_decode(&record, &out, &err);
		assert_true(status == TALLY_OK || status == TALLY_CORRUPT);
		if (status == TALLY_CORRUPT)
			assert_int_equal(out.type, 0);
		name = record_mmap_name(&record);
		assert_true(status == TALLY_OK && is_mmap ? str_equal(name, out.mmap.filename) : name.len == 0);
		free(copy);
	}
	writer_deinit(&w);
}

static void test_every_kernel_record(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		check_type(types[i], false);
		check_type(types[i], true);
	}
}

static void test_mmap2_with_build_id(void **state)
{
	struct record_fields in, out;
	fill(&in, RECORD_MMAP2);
	in.mmap.build_id.size = 20;
	memset(in.mmap.build_id.bytes, 0xab, 20);
	struct writer w = {0};
	assert_true(record_encode(&w, &in, MISC_MMAP_BUILD_ID | MISC_CPUMODE_USER, NULL, NULL));
	struct record record;
	assert_int_equal(record_at(writer_view(&w), false, 0, &record, NULL), TALLY_OK);
	assert_int_equal(record_decode(&record, &out, NULL), TALLY_OK);
	assert_true(out.mmap.has_build_id);
	assert_int_equal(out.mmap.build_id.size, 20);
	assert_memory_equal(out.mmap.build_id.bytes, in.mmap.build_id.bytes, 20);
	assert_int_equal(out.mmap.inode, 0);
	writer_deinit(&w);
}

/* A record with the bit of a build ID, but with device and inode of the file. */
static void test_mmap2_with_a_bit_of_another_session(void **state)
{
	static const uint32_t majors[] = {0, 7, 8, 254, 259};
	for (size_t i = 0; i < 2 * ARRAY_LEN(majors); i++) {
		struct record_fields in, out;
		fill(&in, RECORD_MMAP2);
		in.mmap.major = majors[i / 2];
		in.mmap.minor = 1;
		in.mmap.inode = 332383;
		in.mmap.inode_generation = 3976042161;
		struct writer w = {.swap = i % 2};
		assert_true(record_encode(&w, &in, MISC_CPUMODE_USER, NULL, NULL));
		struct record record;
		assert_int_equal(record_at(writer_view(&w), w.swap, 0, &record, NULL), TALLY_OK);
		record.misc |= MISC_MMAP_BUILD_ID;
		assert_int_equal(record_decode(&record, &out, NULL), TALLY_OK);
		assert_false(out.mmap.has_build_id);
		assert_int_equal(out.mmap.build_id.size, 0);
		assert_int_equal(out.mmap.major, majors[i / 2]);
		assert_int_equal(out.mmap.inode, 332383);
		assert_int_equal(out.mmap.inode_generation, 3976042161);
		writer_deinit(&w);
	}
}

static void test_headers_that_lie(void **state)
{
	struct tally_error err;
	struct record record;
	uint8_t bytes[16] = {9, 0, 0, 0, 0, 0, 16, 0};
	struct tally_bytes all = {bytes, sizeof(bytes)};
	assert_int_equal(record_at(all, false, 0, &record, &err), TALLY_OK);
	assert_int_equal(record_at(all, false, 16, &record, &err), TALLY_END);
	bytes[6] = 17;
	assert_int_equal(record_at(all, false, 0, &record, &err), TALLY_CORRUPT);
	assert_int_equal(err.offset, 0);
	bytes[6] = 7;
	assert_int_equal(record_at(all, false, 0, &record, &err), TALLY_CORRUPT);
	assert_int_equal(record_at((struct tally_bytes){bytes, 5}, false, 0, &record, &err), TALLY_CORRUPT);
}

/* Errors of headers name the wrong values. */
static void test_errors_of_headers(void **state)
{
	static const struct {
		uint16_t size;
		size_t left;
		const char *text;
	} cases[] = {{16, 5, "a record header is truncated: 5 of 8 bytes"},
		{16, 7, "a record header is truncated: 7 of 8 bytes"},
		{7, 16, "a record of type 9 has an invalid size of 7 bytes"},
		{0, 8, "a record of type 9 has an invalid size of 0 bytes"},
		{17, 16, "a record of type 9 has 17 bytes, but only 16 are left"},
		{9, 8, "a record of type 9 has 9 bytes, but only 8 are left"}};
	for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
		uint8_t bytes[8 + 16] = {0};
		bool swap = i % 2;
		uint16_t size = swap ? __builtin_bswap16(cases[i / 2].size) : cases[i / 2].size;
		struct record record;
		struct tally_error err = {0};
		bytes[8 + (swap ? 3 : 0)] = 9;
		memcpy(bytes + 8 + 6, &size, sizeof(size));
		struct tally_bytes all = {bytes, 8 + cases[i / 2].left};
		assert_int_equal(record_at(all, swap, 8, &record, &err), TALLY_CORRUPT);
		assert_memory_equal(err.text, cases[i / 2].text, strlen(cases[i / 2].text));
		assert_string_equal(err.text + strlen(cases[i / 2].text), " at offset 0x8");
		assert_int_equal(err.offset, 8);
	}
}

/* A stack dump is unwound later if the kernel was configured to omit the user call chain. */
static void test_call_chains_of_layouts(void **state)
{
	static const struct {
		uint64_t type, flags;
		uint32_t stack_bytes;
		bool has_call_chains;
	} cases[] = {{SAMPLE_IP, 0, 0, false}, {SAMPLE_STACK_USER, 0, 0, false}, {SAMPLE_STACK_USER, 0, 8, false},
		{SAMPLE_STACK_USER, ATTR_FLAG(ATTR_BIT_EXCLUDE_CALLCHAIN_USER), 0, true},
		{SAMPLE_IP, ATTR_FLAG(ATTR_BIT_EXCLUDE_CALLCHAIN_USER), 0, false}, {SAMPLE_IP, 0, 8, true}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct perf_attr attr = {.sample_type = cases[i].type,
			.flags = cases[i].flags,
			.sample_stack_user = cases[i].stack_bytes};
		assert_int_equal(record_layout_make(&attr, false).has_call_chains, cases[i].has_call_chains);
	}
}

static void test_counts_that_lie(void **state)
{
	/* NAMESPACES with 2^60 entries, THREAD_MAP with 2^61, ID_INDEX with 2^59. */
	static const uint32_t counted[] = {
		RECORD_NAMESPACES, RECORD_THREAD_MAP, RECORD_ID_INDEX, RECORD_STAT_CONFIG, RECORD_CALLCHAIN_DEFERRED};
	for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
		uint8_t bytes[40];
		memset(bytes, 0x10, sizeof(bytes));
		struct record record = {.type = counted[i], .bytes = {bytes, sizeof(bytes)}};
		struct record_fields fields;
		assert_int_equal(record_decode(&record, &fields, NULL), TALLY_CORRUPT);
	}
}

static void test_unknown_types(void **state)
{
	uint8_t bytes[8] = {0};
	struct record record = {.type = 0x7fffffff, .bytes = {bytes, 8}};
	struct record_fields fields;
	struct tally_error err;
	assert_int_equal(record_decode(&record, &fields, &err), TALLY_UNSUPPORTED);
	assert_null(record_type_name(0));
	assert_null(record_type_name(63));
	assert_string_equal(record_type_name(RECORD_MMAP2), "MMAP2");
	assert_string_equal(record_type_name(RECORD_FINISHED_INIT), "FINISHED_INIT");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kernel_record),
		cmocka_unit_test(test_mmap2_with_build_id),
		cmocka_unit_test(test_mmap2_with_a_bit_of_another_session),
		cmocka_unit_test(test_headers_that_lie),
		cmocka_unit_test(test_errors_of_headers),
		cmocka_unit_test(test_call_chains_of_layouts),
		cmocka_unit_test(test_counts_that_lie),
		cmocka_unit_test(test_unknown_types),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
