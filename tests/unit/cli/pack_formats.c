/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/packing/pack_formats.h"

#include <string.h>

#include "unit_test.h"

static void put_format(struct writer *w, const char *text)
{
	writer_u64(w, strlen(text));
	writer_bytes(w, text, strlen(text));
}

static void put_system(struct writer *w, const char *name, const char *format)
{
	writer_bytes(w, name, strlen(name) + 1);
	writer_u32(w, 1);
	put_format(w, format);
}

/* with_secrets adds a probe, and the lists after the formats. */
static void build(struct writer *w, bool swap, bool with_secrets)
{
	const uint16_t one = 1;
	bool host_is_big = *(const uint8_t *)&one == 0;
	w->swap = swap;
	writer_bytes(w, "\x17\x08\x44tracing0.6", 14);
	writer_u8(w, swap != host_is_big);
	writer_u8(w, 8);
	writer_u32(w, 4096);
	writer_bytes(w, "header_page", 12);
	put_format(w, "page");
	writer_bytes(w, "header_event", 13);
	put_format(w, "event");
	writer_u32(w, 1);
	put_format(w, "ftrace");
	writer_u32(w, with_secrets ? 3 : 2);
	put_system(w, "sched", "switch");
	if (with_secrets)
		put_system(w, "probe_secret", "secret");
	put_system(w, "syscalls", "enter");
	writer_u32(w, with_secrets ? 6 : 0);
	writer_bytes(w, "secret", with_secrets ? 6 : 0);
	writer_u32(w, 0);
	writer_u64(w, with_secrets ? 6 : 0);
	writer_bytes(w, "secret", with_secrets ? 6 : 0);
}

static void check(bool swap)
{
	struct writer in = {0}, wanted = {0}, out = {0};
	build(&in, swap, true);
	build(&wanted, swap, false);
	assert_true(pack_formats_scrub(writer_view(&in), &out));
	assert_int_equal(out.len, wanted.len);
	assert_memory_equal(out.data, wanted.data, wanted.len);
	writer_deinit(&in);
	writer_deinit(&wanted);
	writer_deinit(&out);
}

static void only_the_kernels_formats_stay(void **state)
{
	check(false);
	check(true);
}

static void what_is_cut_is_refused(void **state)
{
	struct writer in = {0};
	build(&in, false, false);
	for (size_t len = 0; len < in.len - 16; len++) {
		struct writer out = {0};
		assert_false(pack_formats_scrub((struct tally_bytes){in.data, len}, &out));
		writer_deinit(&out);
	}
	writer_deinit(&in);
}

static void what_lies_is_refused(void **state)
{
	struct writer in = {0};
	build(&in, false, true);
	for (size_t at = 0; at < in.len; at++) {
		struct writer out = {0};
		uint8_t kept = in.data[at];
		in.data[at] = 0xff;
		(void)pack_formats_scrub(writer_view(&in), &out);
		in.data[at] = kept;
		writer_deinit(&out);
	}
	writer_deinit(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_kernels_formats_stay),
		cmocka_unit_test(what_is_cut_is_refused),
		cmocka_unit_test(what_lies_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
