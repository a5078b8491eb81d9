/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/wait_record.h"

#include "base/array.h"
#include "unit_test.h"

/* Size of perf's part of the raw data, with one frame. */
#define PERFS_BYTES 40

/* Writes a record with two frames of the waker, in the byte order of the writer. */
static void example_encode(struct writer *w, bool swap)
{
	static const uint64_t ips[] = {UINT64_C(0xfffffffffffffe00), 0x401234}, chain = UINT64_C(0x1122334455667788);
	uint64_t ordered[ARRAY_LEN(ips)];
	for (size_t i = 0; i < ARRAY_LEN(ips); i++)
		ordered[i] = swap ? __builtin_bswap64(ips[i]) : ips[i];
	w->swap = swap;
	wait_record_encode(w,
		&(struct sample){
			.pid = 1, .tid = 2, .period = 3, .callchain = {(const uint8_t *)&chain, 1}, .cgroup = 4},
		&(struct wait_record){
			.state = WAIT_FUTEX,
			.flags = WAIT_FLAG_SUM | WAIT_FLAG_WAKER,
			.count = UINT64_C(0x1122334455),
			.syscall = 202,
			.waker_pid = 70,
			.waker_tid = 71,
			.waker_comm = STR("holder"),
			.waker_ips = {(const uint8_t *)ordered, 2},
		});
	assert_false(w->failed);
}

static void decodes_what_was_encoded(void **state)
{
	for (unsigned swap = 0; swap < 2; swap++) {
		struct writer w = {0};
		struct wait_record wait;
		example_encode(&w, swap);
		assert_int_equal(w.len, PERFS_BYTES + WAIT_RECORD_BYTES + 2 * 8 + 4);
		assert_int_equal(w.data[PERFS_BYTES + (swap ? 3 : 0)], 'W');
		assert_true(wait_record_is(writer_view(&w), swap));
		assert_false(wait_record_is(writer_view(&w), !swap));
		assert_int_equal(wait_record_decode(writer_view(&w), swap, &wait, NULL), TALLY_OK);
		assert_int_equal(wait.state, WAIT_FUTEX);
		assert_int_equal(wait.flags, WAIT_FLAG_SUM | WAIT_FLAG_WAKER);
		assert_int_equal(wait.count, UINT64_C(0x1122334455));
		assert_int_equal(wait.syscall, 202);
		assert_int_equal(wait.waker_pid, 70);
		assert_int_equal(wait.waker_tid, 71);
		assert_true(str_equal(wait.waker_comm, STR("holder")));
		assert_int_equal(wait.waker_ips.count, 2);
		assert_int_equal(sample_u64_at(wait.waker_ips.data, 0, swap), UINT64_C(0xfffffffffffffe00));
		assert_int_equal(sample_u64_at(wait.waker_ips.data, 1, swap), 0x401234);
		writer_deinit(&w);
	}
}

static void lays_out_fields_as_documented(void **state)
{
	struct writer w = {.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__};
	static const uint8_t expected[] = {7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2,
		3, 4, 5, 6, 7, 8, 10, 0, 0, 0, 0, 0, 0, 0, 'W', 'A', 'I', 'T', 1, 0, 8, 48, 2, 0, 0, 0, 0, 0, 0, 0,
		0xff, 0xff, 0xff, 0xff, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0};
	static const uint8_t chain[] = {1, 2, 3, 4, 5, 6, 7, 8};
	wait_record_encode(&w, &(struct sample){.pid = 7, .tid = 8, .period = 9, .callchain = {chain, 1}, .cgroup = 10},
		&(struct wait_record){.state = WAIT_IO,
			.flags = 48,
			.count = 2,
			.syscall = -1,
			.waker_pid = 3,
			.waker_tid = 4,
			.waker_comm = STR("ab")});
	assert_int_equal(w.len, sizeof(expected));
	assert_memory_equal(w.data, expected, sizeof(expected));
	writer_deinit(&w);
}

static void has_an_end_of_its_own_if_flagged(void **state)
{
	for (unsigned swap = 0; swap < 2; swap++) {
		struct writer w = {.swap = swap};
		struct wait_record wait = {.state = WAIT_IO, .flags = WAIT_FLAG_END, .count = 1, .end_ns = 1234567};
		struct tally_error err;
		wait_record_encode(&w, &(struct sample){0}, &wait);
		wait.end_ns = 0;
		assert_int_equal(wait_record_decode(writer_view(&w), swap, &wait, NULL), TALLY_OK);
		assert_int_equal(wait.end_ns, 1234567);
		/* The last byte is missing. */
		struct tally_bytes cut = {w.data, w.len - sizeof(uint32_t) - 1};
		assert_int_equal(wait_record_decode(cut, swap, &wait, &err), TALLY_CORRUPT);
		assert_string_equal(err.text, "a wait of 87 bytes is cut");
		writer_deinit(&w);
	}
}

static void leaves_out_what_has_no_room(void **state)
{
	struct writer w = {0};
	struct wait_record wait;
	static const uint64_t ips[WAIT_RECORD_FRAMES_MOST + 3] = {1};
	wait_record_encode(&w, &(struct sample){0},
		&(struct wait_record){.state = WAIT_SLEEPING,
			.count = 1,
			.waker_comm = STR("a name of 20 letters"),
			.waker_ips = {(const uint8_t *)ips, ARRAY_LEN(ips)}});
	assert_int_equal(wait_record_decode(writer_view(&w), false, &wait, NULL), TALLY_OK);
	assert_true(str_equal(wait.waker_comm, STR("a name of 20 let")));
	assert_int_equal(wait.waker_ips.count, WAIT_RECORD_FRAMES_MOST);
	assert_int_equal(w.len, PERFS_BYTES - 8 + WAIT_RECORD_BYTES + WAIT_RECORD_FRAMES_MOST * 8 + 4);
	writer_deinit(&w);
}

static void refuses_every_cut_record(void **state)
{
	struct writer w = {0};
	struct wait_record wait = {.count = 42};
	struct tally_error err;
	example_encode(&w, false);
	for (size_t len = 0; len < PERFS_BYTES + WAIT_RECORD_BYTES + 2 * 8; len++) {
		/* The copy has exactly that size, so that the sanitizer detects a read past the end. */
		uint8_t *cut = test_malloc(len + 1);
		memcpy(cut + 1, w.data, len);
		assert_int_equal(
			wait_record_decode((struct tally_bytes){cut + 1, len}, false, &wait, &err), TALLY_CORRUPT);
		assert_int_equal(wait_record_is((struct tally_bytes){cut + 1, len}, false), len >= PERFS_BYTES + 4);
		test_free(cut);
	}
	assert_int_equal(wait.count, 42);
	writer_deinit(&w);
}

static enum tally_status status_with(size_t offset, const void *bytes, size_t len)
{
	struct writer w = {0};
	struct wait_record wait;
	struct tally_error err;
	example_encode(&w, false);
	memcpy(w.data + PERFS_BYTES + offset, bytes, len);
	enum tally_status status = wait_record_decode(writer_view(&w), false, &wait, &err);
	writer_deinit(&w);
	return status;
}

static void finds_a_record_without_perfs_part(void **state)
{
	struct writer w = {0};
	struct wait_record wait;
	example_encode(&w, false);
	struct tally_bytes bare = bytes_part(writer_view(&w), PERFS_BYTES, SIZE_MAX);
	assert_true(wait_record_is(bare, false));
	assert_int_equal(wait_record_decode(bare, false, &wait, NULL), TALLY_OK);
	assert_int_equal(wait.waker_tid, 71);
	writer_deinit(&w);
}

static void survives_a_wrong_number_of_perfs_frames(void **state)
{
	uint64_t frames[] = {0, 2, 7, 1000, UINT64_MAX / 8, UINT64_MAX - 1, UINT64_MAX};
	struct writer w = {0};
	struct wait_record wait;
	example_encode(&w, false);
	for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
		writer_patch_u64(&w, 16, frames[i]);
		assert_false(wait_record_is(writer_view(&w), false));
		assert_int_equal(wait_record_decode(writer_view(&w), false, &wait, NULL), TALLY_CORRUPT);
	}
	writer_deinit(&w);
}

static void refuses_what_cannot_be(void **state)
{
	uint32_t frames[] = {4, WAIT_RECORD_FRAMES_MOST, WAIT_RECORD_FRAMES_MOST + 1, 0x20000002, UINT32_MAX};
	assert_int_equal(status_with(0, "TIAW", 4), TALLY_CORRUPT);
	assert_int_equal(status_with(4, &(uint16_t){2}, 2), TALLY_UNSUPPORTED);
	assert_int_equal(status_with(6, &(uint8_t){WAIT_RUNNING}, 1), TALLY_CORRUPT);
	assert_int_equal(status_with(6, &(uint8_t){WAIT_STATES}, 1), TALLY_CORRUPT);
	assert_int_equal(status_with(6, &(uint8_t){255}, 1), TALLY_CORRUPT);
	assert_int_equal(status_with(6, &(uint8_t){WAIT_UNTOLD}, 1), TALLY_CORRUPT);
	assert_int_equal(status_with(6, &(uint8_t){WAIT_OTHER}, 1), TALLY_OK);
	assert_int_equal(status_with(6, &(uint8_t){WAIT_THROTTLED}, 1), TALLY_OK);
	for (size_t i = 0; i < ARRAY_LEN(frames); i++)
		assert_int_equal(status_with(28, &frames[i], 4), TALLY_CORRUPT);
	assert_int_equal(status_with(28, &(uint32_t){1}, 4), TALLY_OK);
}

static void names_each_state(void **state)
{
	for (unsigned i = 0; i < WAIT_STATES; i++)
		for (unsigned other = 0; other < i; other++)
			assert_false(str_equal(
				wait_state_name((enum wait_state)i), wait_state_name((enum wait_state)other)));
	assert_true(str_equal(wait_state_name(WAIT_FUTEX), STR("lock")));
	assert_true(str_equal(wait_state_name(WAIT_STATES), STR("?")));
}

static void sources_have_names(void **state)
{
	assert_true(str_equal(wait_source_name(WAIT_SOURCE_BPF), STR("bpf")));
	assert_true(str_equal(wait_source_name(WAIT_SOURCE_SWITCHES), STR("switches")));
	assert_true(str_equal(wait_source_name(WAIT_SOURCE_UNKNOWN), STR("?")));
	assert_true(str_equal(wait_source_name(UINT64_MAX), STR("?")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_have_names),
		cmocka_unit_test(decodes_what_was_encoded),
		cmocka_unit_test(lays_out_fields_as_documented),
		cmocka_unit_test(has_an_end_of_its_own_if_flagged),
		cmocka_unit_test(leaves_out_what_has_no_room),
		cmocka_unit_test(refuses_every_cut_record),
		cmocka_unit_test(finds_a_record_without_perfs_part),
		cmocka_unit_test(survives_a_wrong_number_of_perfs_frames),
		cmocka_unit_test(refuses_what_cannot_be),
		cmocka_unit_test(names_each_state),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
