/* SPDX-License-Identifier: Apache-2.0 */
/* Tests locations as fetch arguments of the kernel: each kind of expression, refused ones with the reason, and
 * truncated ones. */
#include "arch/arch.h"
#include "code/probing/probe_value.h"
#include "object/dwarf/dwarf_numbers.h"
#include "object/frame_numbers.h"
#include "unit_test.h"

static struct dwarf_file file;
static struct dwarf_unit unit = {.version = 5, .address_size = 8, .offset_size = 4, .end = 0x1000};
static struct probe_binary binary = {.kind = PROBE_PROGRAM, .path = "/bin/app"};
static struct probe_place place = {.address = 0x401000, .file_offset = 0x1000, .entry = 0x401000};
static struct dwarf_location frame_base;
static struct probe_fetches fetches;
static struct tally_error error;

struct location_case {
	const char *text; /* NULL if the location is refused. */
	const char *reason; /* Part of the error message. */
	uint8_t size;
	uint8_t bytes[24];
};

/* Returns the text, or NULL with a message in error. */
static const char *location_text(
	const struct location_case *what, const struct arch *arch, uint64_t function_entry, size_t size)
{
	struct dwarf_location_lists lists = {.loc = {NULL, 0}};
	struct probe_reader reader = {.fetches = &fetches};
	struct probe_value value;
	struct dwarf_types types;
	struct probe_fetch fetch = {.name = NULL};
	binary.arch = arch;
	place.scope = (struct probe_scope){.file = &file, .unit = &unit, .function = 0x40};
	dwarf_types_init(&types);
	reader.types = &types;
	reader.locator = (struct probe_locator){.binary = &binary,
		.place = &place,
		.lists = &lists,
		.frame_base = &frame_base,
		.address = place.address,
		.function_entry = function_entry,
		.arena = &fetches.arena};
	const struct dwarf_scope_variable variable = {.at = {&file, 0x80},
		.name = {"v", 1},
		.location = {.kind = DWARF_LOCATION_EXPRESSION, .expression = {what->bytes, size}}};
	enum tally_status status = probe_value_begin(&reader, &variable, &value, &error);
	if (status == TALLY_OK)
		status = probe_value_print(&reader, &value, (struct tally_str){"", 0}, &fetch, &error);
	dwarf_types_deinit(&types);
	assert_int_not_equal(status, TALLY_NOMEM);
	return status == TALLY_OK ? fetch.text : NULL;
}

static void expect_cases(const struct location_case *cases, size_t count, const struct arch *arch, uint64_t entry)
{
	for (size_t i = 0; i < count; i++) {
		const char *text = location_text(&cases[i], arch, entry, cases[i].size);
		if (cases[i].text)
			assert_string_equal(text ? text : error.text, cases[i].text);
		else
			assert_null(text);
		if (cases[i].reason && !strstr(error.text, cases[i].reason))
			assert_string_equal(error.text, cases[i].reason);
	}
}

static const struct location_case here[] = {
	{"%di", NULL, 1, {DW_OP_reg5}},
	{"%r8", NULL, 2, {DW_OP_regx, 8}},
	{"+8(%sp)", NULL, 2, {DW_OP_breg7, 8}},
	{"-16(%bp)", NULL, 2, {DW_OP_breg6, 0x70}},
	{"%di", NULL, 3, {DW_OP_breg0 + 5, 0, DW_OP_stack_value}},
	{"+4(+8(%di))", NULL, 5, {DW_OP_breg0 + 5, 8, DW_OP_deref, DW_OP_plus_uconst, 4}},
	{"+8(%di)", NULL, 4, {DW_OP_breg0 + 5, 8, DW_OP_deref, DW_OP_stack_value}},
	{"+12(%di)", NULL, 5, {DW_OP_breg0 + 5, 8, DW_OP_const1u, 4, DW_OP_plus}},
	{"+4(%di)", NULL, 5, {DW_OP_breg0 + 5, 8, DW_OP_const1u, 4, DW_OP_minus}},
	{"@+0x5678", NULL, 9, {DW_OP_addr, 0x78, 0x56, 0x40}},
	{"\\7", NULL, 2, {DW_OP_lit7, DW_OP_stack_value}},
	{"\\-3", NULL, 3, {DW_OP_const1s, 0xfd, DW_OP_stack_value}},
	{"\\40", NULL, 4, {DW_OP_lit5, DW_OP_lit3, DW_OP_shl, DW_OP_stack_value}},
	{"\\5", NULL, 3, {DW_OP_implicit_value, 1, 5}},
	{"%si", NULL, 6, {DW_OP_reg0 + 4, DW_OP_piece, 8, DW_OP_reg5, DW_OP_piece, 8}},
	{"%di", NULL, 4, {DW_OP_entry_value, 1, DW_OP_reg5, DW_OP_stack_value}},
};

static void test_there(void **state)
{
	(void)state;
	expect_cases(here, sizeof(here) / sizeof(*here), &arch_x86_64, place.address);
}

static const struct location_case refused[] = {
	{NULL, "optimised out", 0, {0}},
	{NULL, "%xmm1, which the kernel does not give", 2, {DW_OP_regx, 18}},
	{NULL, "%st2", 2, {DW_OP_regx, 35}},
	{NULL, "register 200 of DWARF", 3, {DW_OP_regx, 0xc8, 0x01}},
	{NULL, "a sum (%di+8)", 3, {DW_OP_breg0 + 5, 8, DW_OP_stack_value}},
	{NULL, "in %di at the function's entry, and was not kept", 4,
		{DW_OP_entry_value, 1, DW_OP_reg5, DW_OP_stack_value}},
	{NULL, "each thread has its own", 3, {DW_OP_const1u, 8, DW_OP_GNU_push_tls_address}},
	{NULL, "computed from others", 6, {DW_OP_breg0 + 5, 0, DW_OP_breg0 + 4, 0, DW_OP_plus, DW_OP_stack_value}},
	{NULL, "computed from others", 5, {DW_OP_breg0 + 5, 0, DW_OP_lit3, DW_OP_mul, DW_OP_stack_value}},
	{NULL, "callers no longer pass", 6, {DW_OP_GNU_parameter_ref, 1, 0, 0, 0, DW_OP_stack_value}},
	{NULL, "is not known", 2, {DW_OP_fbreg, 8}},
	{NULL, "call-frame information", 1, {DW_OP_call_frame_cfa}},
	{NULL, "this part of it was optimised out", 5, {DW_OP_piece, 8, DW_OP_reg5, DW_OP_piece, 8}},
	{NULL, "damaged", 1, {DW_OP_plus}},
	{NULL, "damaged", 3, {DW_OP_lit1, DW_OP_lit5, DW_OP_addr}},
	{NULL, "pointer 'v' was optimised out", 6, {DW_OP_implicit_pointer, 0x90, 0, 0, 0, 0}},
	{NULL, "goes beyond its register", 5, {DW_OP_breg0 + 5, 0, DW_OP_lit15, DW_OP_shr, DW_OP_stack_value}},
	{NULL, "is an address in the program", 10, {DW_OP_addr, 0x78, 0x56, 0x40, 0, 0, 0, 0, 0, DW_OP_stack_value}},
};

static void test_refused(void **state)
{
	(void)state;
	expect_cases(refused, sizeof(refused) / sizeof(*refused), &arch_x86_64, place.address - 16);
}

static void test_arm64(void **state)
{
	const struct location_case cases[] = {
		{"%x5", NULL, 1, {DW_OP_reg5}},
		{"+16(%sp)", NULL, 2, {DW_OP_breg31, 16}},
		{"%lr", NULL, 1, {DW_OP_reg0 + 30}},
		{NULL, "%v3, which", 2, {DW_OP_regx, 67}},
	};
	(void)state;
	expect_cases(cases, sizeof(cases) / sizeof(*cases), &arch_aarch64, place.address);
}

/* A frame base in a register is valid in the body of the function; without call-frame information it is
 * used unchanged. */
static void test_frame_base(void **state)
{
	static const uint8_t base[] = {DW_OP_reg6};
	const struct location_case at = {"-20(%bp)", NULL, 2, {DW_OP_fbreg, 0x6c}};
	(void)state;
	frame_base = (struct dwarf_location){.kind = DWARF_LOCATION_EXPRESSION, .expression = {base, sizeof(base)}};
	expect_cases(&at, 1, &arch_x86_64, place.address);
	frame_base.kind = DWARF_LOCATION_NONE;
}

/* Tries every prefix, and every change of one byte. */
static void test_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(here) / sizeof(*here); i++) {
		struct location_case changed = here[i];
		for (size_t size = 0; size < here[i].size; size++)
			(void)location_text(&here[i], &arch_x86_64, 0, size);
		for (size_t at = 0; at < here[i].size; at++)
			for (unsigned byte = 0; byte < 256; byte++) {
				changed.bytes[at] = (uint8_t)byte;
				(void)location_text(&changed, &arch_x86_64, 0, changed.size);
				changed.bytes[at] = here[i].bytes[at];
			}
	}
}

static int set_up(void **state)
{
	(void)state;
	probe_fetches_init(&fetches);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	probe_fetches_deinit(&fetches);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_frame_base),
		cmocka_unit_test(test_damaged),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
