/* SPDX-License-Identifier: Apache-2.0 */
/* Tests parsing of the output of objdump, and the object file that objdump is run on. */
#include "tasks/listing/annotate_objdump.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "object/elf/elf_image.h"
#include "unit_test.h"

static const uint8_t bytes[16] = {0x89, 0xf9, 0xc3};
static const struct binary_code code = {
	.bytes = {bytes, sizeof(bytes)}, .address = 0x1000, .elf_machine = EM_X86_64, .is_64 = true};

static void add(struct objdump_lines *lines, const char *text)
{
	assert_true(objdump_lines_add(lines, str_from(text), &code));
}

static void test_lines_of_instructions(void **state)
{
	(void)state;
	struct objdump_lines lines = {0};
	add(&lines, "");
	add(&lines, "0000000000001000 <.text>:");
	add(&lines, "    1000:\t89 f9                \tmov    %edi,%ecx");
	add(&lines, "    1002:\t66 2e 0f 1f 84 00 00 \tcs nopw 0x0(%rax,%rax,1)");
	add(&lines, "    1009:\t00 00 00 ");
	add(&lines, "    100c: 74 02                        \tje\t0x1010 <.text+0x10>");
	add(&lines, "    100e:\tc3                   \tret");
	assert_int_equal(lines.items.len, 4);
	assert_string_equal(lines.items.items[0].text, "mov    %edi,%ecx");
	assert_string_equal(lines.items.items[0].mnemonic, "mov");
	assert_string_equal(lines.items.items[0].operands, "%edi,%ecx");
	assert_int_equal(lines.items.items[1].size, 10);
	assert_string_equal(lines.items.items[2].text, "je\t0x1010");
	assert_string_equal(lines.items.items[2].operands, "0x1010");
	assert_string_equal(lines.items.items[3].operands, "");
	objdump_lines_deinit(&lines);
}

static void test_comments_are_no_operands(void **state)
{
	(void)state;
	struct objdump_lines lines = {0};
	add(&lines, "    1000:\t48 8d 0d 94 \tlea    0xa94(%rip),%rcx        # 0x1a9d");
	add(&lines, "    1004:\t52800020 \tmov\tw0, #0x1                   \t// #1");
	assert_string_equal(lines.items.items[0].operands, "0xa94(%rip),%rcx");
	assert_string_equal(lines.items.items[1].operands, "w0, #0x1");
	assert_string_equal(lines.items.items[1].text, "mov\tw0, #0x1                   \t// #1");
	objdump_lines_deinit(&lines);
}

static void test_what_lies_elsewhere_is_left_out(void **state)
{
	(void)state;
	static const char *const others[] = {"    0fff:\t89 f9 \tmov    %edi,%ecx", "    1010:\tc3 \tret",
		"    100f:\tc3 c3 \tret", "    1000:\t\tret", "    1000:\tc \tret", "    1000:\txx \tret",
		"    :\tc3 \tret", "    1000:\tc3", "ffffffffffffffffff:\tc3 \tret",
		"    1000:\t000000000000000000000000000000000000000000000000000000000000000000 \tret"};
	struct objdump_lines lines = {0};
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		add(&lines, others[i]);
	assert_int_equal(lines.items.len, 0);
	add(&lines, "    1002:\tc3 \tret");
	add(&lines, "    1000:\t89 f9 \tmov    %edi,%ecx");
	assert_int_equal(lines.items.len, 1);
	objdump_lines_deinit(&lines);
}

static void test_the_object_is_an_elf_file(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct binary_code other = code;
		struct writer w = {0};
		struct elf_image *image;
		other.is_64 = kind & 1;
		other.is_big_endian = kind & 2;
		assert_true(objdump_object(&w, &other));
		int fd = memfd_create("object", MFD_CLOEXEC);
		assert_true(fd >= 0);
		assert_int_equal(file_write_all(fd, w.data, w.len, NULL), TALLY_OK);
		assert_int_equal(elf_image_open_fd(fd, "object", &image, NULL), TALLY_OK);
		struct tally_bytes text = elf_image_section(image, ".text");
		assert_int_equal(text.len, sizeof(bytes));
		assert_memory_equal(text.data, bytes, sizeof(bytes));
		assert_int_equal(elf_image_section_address(image, ".text"), 0x1000);
		assert_int_equal(elf_image_machine(image), EM_X86_64);
		elf_image_close(image);
		close(fd);
		writer_deinit(&w);
	}
}

static void test_programs_that_fail(void **state)
{
	(void)state;
	struct objdump_lines lines = {0};
	struct tally_error err;
	assert_int_equal(objdump_run("/nosuch/objdump", NULL, &code, &lines, &err), TALLY_NOT_FOUND);
	assert_int_equal(objdump_run("false", NULL, &code, &lines, &err), TALLY_INVALID);
	assert_int_equal(objdump_run("true", NULL, &code, &lines, &err), TALLY_INVALID);
	assert_int_equal(lines.items.len, 0);
	objdump_lines_deinit(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_of_instructions),
		cmocka_unit_test(test_comments_are_no_operands),
		cmocka_unit_test(test_what_lies_elsewhere_is_left_out),
		cmocka_unit_test(test_the_object_is_an_elf_file),
		cmocka_unit_test(test_programs_that_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
