/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the output formats of addr2line of GNU binutils, elfutils and LLVM, which shell scripts simulate. */
#include "code/binaries/line_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "unit_test.h"

static char program[] = "/tmp/line_program.XXXXXX";

/* answers has the patterns of a shell case statement on an address in hexadecimal. */
static void write_program(const char *answers)
{
	FILE *f = fopen(program, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\nwhile read a; do case $a in %s *) printf '%%s\\n??\\n??:0\\n' $a;; esac; done\n",
		answers);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(program, 0700), 0);
}

static size_t ask(const char *answers, uint64_t address, struct source_place *places, struct line_program **lines)
{
	write_program(answers);
	assert_int_equal(line_program_open(program, "file", lines, NULL), TALLY_OK);
	assert_int_equal(line_program_load(*lines, &address, 1, NULL), TALLY_OK);
	return line_program_find(*lines, address, places, 8);
}

static void reads_what_was_inlined(void **state)
{
	(void)state;
	static const char *const all[] = {
		"0x1187) printf '0x0000000000001187\\n_Z1iv\\n/a/t.c:5\\nouter\\n/a/b:c.c:7 (discriminator 3)\\n';;",
		("0x1187) printf '0x0000000000001187\\n_Z1iv inlined at /a/t.c:7:2 in "
		 "outer\\n/a/t.c:5:9\\nouter\\n/a/b:c.c:7:2\\n';;"),
		"0x1187) printf '0x1187\\n_Z1iv\\n/a/t.c:5\\nouter\\n/a/b:c.c:7\\n';;"};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct line_program *lines;
		struct source_place p[8];
		assert_int_equal(ask(all[i], 0x1187, p, &lines), 2);
		assert_string_equal(p[0].function, "_Z1iv");
		assert_string_equal(p[0].path, "/a/t.c");
		assert_int_equal(p[0].line, 5);
		assert_true(p[0].is_inlined);
		assert_string_equal(p[1].function, "outer");
		assert_string_equal(p[1].path, "/a/b:c.c");
		assert_int_equal(p[1].line, 7);
		assert_int_equal(p[1].discriminator, i == 0 ? 3 : 0);
		assert_false(p[1].is_inlined);
		line_program_close(lines);
	}
}

static void nothing_known_is_nothing(void **state)
{
	(void)state;
	struct line_program *lines;
	struct source_place p[8];
	assert_int_equal(ask("", 0x1187, p, &lines), 0);
	line_program_close(lines);
	assert_int_equal(ask("0x10) printf '0x10\\n_end\\n??:0\\n';;", 0x10, p, &lines), 0);
	line_program_close(lines);
	assert_int_equal(ask("0x10) printf '0x10\\n??\\nt.c:?\\n';;", 0x10, p, &lines), 1);
	assert_null(p[0].function);
	assert_string_equal(p[0].path, "t.c");
	assert_int_equal(p[0].line, 0);
	line_program_close(lines);
}

static void asks_for_many(void **state)
{
	(void)state;
	uint64_t addresses[1000];
	struct line_program *lines;
	struct source_place p[8];
	for (size_t i = 0; i < 1000; i++)
		addresses[i] = 1 + i / 2; /* Each address occurs twice. */
	write_program("0x0) printf '0x0\\n??\\n??:0\\n';; 0x*) printf '%s\\nf\\nt.c:%d\\n' $a $a;;");
	assert_int_equal(line_program_open(program, "file", &lines, NULL), TALLY_OK);
	assert_int_equal(line_program_load(lines, addresses, 1000, NULL), TALLY_OK);
	write_program("0x0) printf '0x0\\n??\\n??:0\\n';; 0x*) printf '%s\\nf\\nt.c:7\\n' $a $a;;");
	/* The addresses are not requested again. */
	assert_int_equal(line_program_load(lines, addresses, 1000, NULL), TALLY_OK);
	for (size_t i = 0; i < 1000; i++) {
		assert_int_equal(line_program_find(lines, addresses[i], p, 8), 1);
		assert_int_equal(p[0].line, addresses[i]);
	}
	assert_int_equal(line_program_find(lines, 501, p, 8), 0);
	line_program_close(lines);
}

static void failures_are_kept(void **state)
{
	(void)state;
	struct line_program *lines;
	struct tally_error err;
	uint64_t address = 16;
	write_program("0x10) exit 1;;");
	assert_int_equal(line_program_open(program, "file", &lines, NULL), TALLY_OK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(line_program_load(lines, &address, 1, &err), TALLY_IO);
		assert_non_null(strstr(err.text, "ended before it had answered"));
	}
	line_program_close(lines);
	assert_int_equal(line_program_open("/nosuch/addr2line", "file", &lines, NULL), TALLY_OK);
	assert_int_equal(line_program_load(lines, &address, 1, &err), TALLY_IO);
	assert_non_null(strstr(err.text, "cannot run /nosuch/addr2line"));
	line_program_close(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(reads_what_was_inlined),
		cmocka_unit_test(nothing_known_is_nothing), cmocka_unit_test(asks_for_many),
		cmocka_unit_test(failures_are_kept)};
	int fd = mkstemp(program);
	if (fd < 0)
		return 1;
	close(fd);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(program);
	return failed;
}
