/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/convert/ctf_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/file.h"
#include "unit_test.h"

static char parent[] = "/tmp/tally-ctf-XXXXXX";
static char dir[64], metadata_path[80], stream_path[80];

static int make_parent(void **state)
{
	if (!mkdtemp(parent))
		return -1;
	snprintf(dir, sizeof(dir), "%s/trace", parent);
	snprintf(metadata_path, sizeof(metadata_path), "%s/metadata", dir);
	snprintf(stream_path, sizeof(stream_path), "%s/perf_stream_1", dir);
	return 0;
}

static int remove_trace(void **state)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static int remove_parent(void **state)
{
	return rmdir(parent);
}

static struct tally_bytes read_whole(const char *path)
{
	char *data;
	size_t len;
	assert_int_equal(file_read(path, 1 << 24, &data, &len, NULL), TALLY_OK);
	return (struct tally_bytes){(const uint8_t *)data, len};
}

static void free_whole(struct tally_bytes bytes)
{
	free((void *)(uintptr_t)bytes.data);
}

static const struct ctf_trace_info info = {
	.host = {"a \"b\"\n", 6}, .clock = {"clk", 3}, .cpu_count = 2, .clock_offset_ns = UINT64_C(3000000007)};

static struct ctf_trace *create(void)
{
	struct ctf_trace *trace;
	assert_int_equal(ctf_trace_create(dir, false, &info, &trace, NULL), TALLY_OK);
	return trace;
}

static void check_text(const char *expected)
{
	struct tally_bytes text = read_whole(metadata_path);
	if (!strstr((const char *)text.data, expected)) {
		print_message("%s\nhas no: %s\n", (const char *)text.data, expected);
		fail();
	}
	free_whole(text);
}

static void test_metadata(void **state)
{
	static const struct ctf_field fields[] = {
		{STR("plain"), CTF_U32, 0},
		{STR("event"), CTF_S64, 0}, /* A keyword of the metadata language. */
		{STR("a-b"), CTF_HEX64, 3},
		{STR("a_b"), CTF_STRING, 0}, /* The same identifier. */
		{STR("7th"), CTF_S32, 0},
		{STR("chain"), CTF_SEQUENCE_HEX64, 0},
		{STR("};\n"), CTF_U64, 0},
	};
	struct ctf_trace *trace = create();
	assert_int_equal(ctf_trace_add_class(trace, STR("first \"class\"\\"), fields, 7), 0);
	assert_int_equal(ctf_trace_add_class(trace, STR("second"), NULL, 0), 1);
	assert_int_equal(ctf_trace_close(trace, NULL), TALLY_OK);
	ctf_trace_destroy(trace);
	check_text("/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n");
	check_text("host = \"a \\\"b\\\"?\";\n");
	check_text("offset_s = 3;\n\toffset = 7;\n");
	check_text("name = \"first \\\"class\\\"\\\\\";\n\tid = 0;\n");
	check_text("size = 32; align = 8; signed = false; base = decimal; } plain;\n");
	check_text("size = 64; align = 8; signed = true; base = decimal; } _event;\n");
	check_text("size = 64; align = 8; signed = false; base = hexadecimal; } a_b[3];\n");
	check_text("string { encoding = UTF8; } a_b_dupl_1;\n");
	check_text("signed = true; base = decimal; } _7th;\n");
	check_text("base = decimal; } chain_size;\n");
	check_text("base = hexadecimal; } chain[chain_size];\n");
	check_text("base = decimal; } ____;\n");
	check_text("name = \"second\";\n\tid = 1;\n\tstream_id = 0;\n\tfields := struct {\n\t} align(8);\n");
}

/* Checks the first packet of CPU 1: its start, end and stated size, and its events one after another. */
static void test_a_packet(void **state)
{
	static const struct ctf_field fields[] = {{STR("n"), CTF_U32, 0}, {STR("s"), CTF_STRING, 0}};
	struct ctf_trace *trace = create();
	(void)ctf_trace_add_class(trace, STR("e"), fields, 2);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(ctf_event_begin(trace, 0, 1, i == 2 ? 5 : 10 + i, NULL), TALLY_OK);
		ctf_put_u32(trace, i);
		ctf_put_string(trace, (struct tally_str){"ab\0c", 4});
	}
	/* There is no such CPU, so the event goes to CPU 0. */
	assert_int_equal(ctf_event_begin(trace, 0, 77, 1, NULL), TALLY_OK);
	ctf_put_u32(trace, 0);
	ctf_put_string(trace, STR(""));
	assert_int_equal(ctf_trace_close(trace, NULL), TALLY_OK);
	ctf_trace_destroy(trace);
	struct tally_bytes stream = read_whole(stream_path);
	struct cursor c = cursor_make(stream, false);
	assert_int_equal(cursor_u32(&c), 0xc1fc1fc1);
	cursor_skip(&c, 16);
	assert_int_equal(cursor_u32(&c), 0);
	assert_int_equal(cursor_u64(&c), 10);
	assert_int_equal(cursor_u64(&c), 11);
	assert_int_equal(cursor_u64(&c), stream.len * 8);
	assert_int_equal(cursor_u64(&c), stream.len * 8);
	assert_int_equal(cursor_u64(&c), 0);
	assert_int_equal(cursor_u32(&c), 1);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(cursor_u32(&c), 0);
		assert_int_equal(cursor_u64(&c), i == 0 ? 10 : 11); /* Times never decrease. */
		assert_int_equal(cursor_u32(&c), i);
		assert_memory_equal(cursor_take(&c, 3), "ab", 3);
	}
	assert_int_equal(cursor_left(&c), 0);
	assert_false(c.failed);
	free_whole(stream);
}

static void test_many_packets(void **state)
{
	static const struct ctf_field fields[] = {{STR("n"), CTF_U64, 0}};
	struct ctf_trace *trace = create();
	(void)ctf_trace_add_class(trace, STR("e"), fields, 1);
	for (uint64_t i = 0; i < 20000; i++) {
		assert_int_equal(ctf_event_begin(trace, 0, 1, i, NULL), TALLY_OK);
		ctf_put_u64(trace, i);
	}
	assert_int_equal(ctf_trace_close(trace, NULL), TALLY_OK);
	ctf_trace_destroy(trace);
	struct tally_bytes stream = read_whole(stream_path);
	size_t at = 0, packets = 0;
	while (at < stream.len) {
		struct cursor c = cursor_make((struct tally_bytes){stream.data + at, stream.len - at}, false);
		assert_int_equal(cursor_u32(&c), 0xc1fc1fc1);
		cursor_skip(&c, 36);
		uint64_t bits = cursor_u64(&c);
		assert_true(bits / 8 <= stream.len - at);
		at += bits / 8;
		packets++;
	}
	assert_int_equal(packets, 7);
	assert_int_equal(stream.len, packets * 68 + 20000 * 20);
	free_whole(stream);
}

static void test_a_trace_that_is_there(void **state)
{
	struct tally_error err;
	struct ctf_trace *trace = create();
	(void)ctf_trace_add_class(trace, STR("e"), NULL, 0);
	assert_int_equal(ctf_event_begin(trace, 0, 1, 1, NULL), TALLY_OK);
	assert_int_equal(ctf_trace_close(trace, NULL), TALLY_OK);
	ctf_trace_destroy(trace);
	assert_true(file_exists(stream_path));
	assert_int_equal(ctf_trace_create(dir, false, &info, &trace, &err), TALLY_INVALID);
	assert_non_null(strstr(err.text, "--force"));
	assert_int_equal(ctf_trace_create(dir, true, &info, &trace, &err), TALLY_OK);
	assert_false(file_exists(stream_path));
	ctf_trace_destroy(trace);
}

static void test_places_that_take_no_trace(void **state)
{
	struct tally_error err;
	struct ctf_trace *trace;
	assert_int_not_equal(ctf_trace_create("/dev/null", false, &info, &trace, &err), TALLY_OK);
	assert_int_not_equal(ctf_trace_create("/proc/no/such", false, &info, &trace, &err), TALLY_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_metadata, remove_trace),
		cmocka_unit_test_teardown(test_a_packet, remove_trace),
		cmocka_unit_test_teardown(test_many_packets, remove_trace),
		cmocka_unit_test_teardown(test_a_trace_that_is_there, remove_trace),
		cmocka_unit_test_teardown(test_places_that_take_no_trace, remove_trace),
	};
	return cmocka_run_group_tests(tests, make_parent, remove_parent);
}
