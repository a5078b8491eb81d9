/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/tracing_formats.h"

#include <stdlib.h>
#include <string.h>

#include "base/writer.h"
#include "unit_test.h"

static const char own[] = "name: function\nID: 1\nformat:\n";
static const char wake[] = "name: sched_wakeup\nID: 310\nformat:\n";
static const char exits[] = "name: exit\nID: 7\nformat:\n";

static void put_format(struct writer *w, const char *text)
{
	writer_u64(w, strlen(text));
	writer_bytes(w, text, strlen(text));
}

static void put_system(struct writer *w, const char *name, uint32_t events)
{
	writer_bytes(w, name, strlen(name) + 1);
	writer_u32(w, events);
}

/* Writes one event of ftrace itself, a system with one event, one with none and one with two; then both other files. */
static void build(struct writer *w)
{
	bool host_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	writer_bytes(w, "\027\010\104tracing0.6", 14);
	writer_u8(w, w->swap == host_is_little);
	writer_u8(w, w->swap ? 4 : 8);
	writer_u32(w, 4096);
	writer_bytes(w, "header_page", 12);
	put_format(w, "page");
	writer_bytes(w, "header_event", 13);
	put_format(w, "event");
	writer_u32(w, 1);
	put_format(w, own);
	writer_u32(w, 3);
	put_system(w, "sched", 1);
	put_format(w, wake);
	put_system(w, "none", 0);
	put_system(w, "syscalls", 2);
	put_format(w, exits);
	put_format(w, "no format");
	writer_u32(w, 3);
	writer_bytes(w, "abc", 3);
	writer_u32(w, 2);
	writer_bytes(w, "de", 2);
}

static void assert_format(struct tracing_formats *f, const char *system, const char *text)
{
	struct tally_bytes format;
	assert_true(tracing_formats_next(f, &format));
	assert_true(str_equal(f->system, str_from(system)));
	assert_int_equal(format.len, strlen(text));
	assert_memory_equal(format.data, text, format.len);
}

static void check(bool swap)
{
	struct writer w = {.swap = swap};
	struct tracing_formats f;
	struct tally_bytes format, kallsyms, printk;
	build(&w);
	assert_true(tracing_formats_open(&f, writer_view(&w)));
	assert_int_equal(f.swap, swap);
	assert_int_equal(f.long_bytes, swap ? 4 : 8);
	assert_format(&f, "ftrace", own);
	assert_format(&f, "sched", wake);
	assert_format(&f, "syscalls", exits);
	assert_format(&f, "syscalls", "no format");
	assert_false(tracing_formats_next(&f, &format));
	kallsyms = tracing_formats_file(&f);
	printk = tracing_formats_file(&f);
	assert_int_equal(kallsyms.len, 3);
	assert_memory_equal(kallsyms.data, "abc", 3);
	assert_int_equal(printk.len, 2);
	assert_memory_equal(printk.data, "de", 2);
	writer_deinit(&w);
}

static void test_formats_of_all_systems(void **state)
{
	check(false);
	check(true);
}

/* The copies have their exact size, so that the sanitizer detects a read past the end. */
static void test_every_cut(void **state)
{
	struct writer w = {0};
	size_t most = 0;
	build(&w);
	for (size_t len = 0; len < w.len; len++) {
		struct tally_bytes copy = {malloc(len + 1), len}, format;
		struct tracing_formats f;
		size_t found = 0;
		memcpy((void *)(uintptr_t)copy.data, w.data, len);
		bool is_open = tracing_formats_open(&f, copy);
		while (is_open && tracing_formats_next(&f, &format))
			found++;
		assert_true(found >= most && found <= 4);
		most = found;
		free((void *)(uintptr_t)copy.data);
	}
	assert_int_equal(most, 4);
	writer_deinit(&w);
}

static bool identifies(const char *text, uint64_t *id, struct tally_str *name)
{
	return tracing_format_identify((struct tally_bytes){(const uint8_t *)text, strlen(text)}, id, name);
}

static void test_what_a_format_is_of(void **state)
{
	uint64_t id = 0;
	struct tally_str name;
	assert_true(identifies(wake, &id, &name));
	assert_int_equal(id, 310);
	assert_true(str_equal(name, STR("sched_wakeup")));
	assert_false(identifies("", &id, &name));
	assert_false(identifies("name: \nID: 3\n", &id, &name));
	assert_false(identifies("name: x\n", &id, &name));
	assert_false(identifies("name: x\nID: y\n", &id, &name));
	assert_false(identifies("ID: 3\nname: x\n", &id, &name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats_of_all_systems),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_what_a_format_is_of),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
