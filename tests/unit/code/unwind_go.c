/* SPDX-License-Identifier: Apache-2.0 */
/* Tests unwinding of Go programs without call-frame information: frames from the function table, and stack switches. */
#include "base/array.h"
#include "base/writer.h"
#include "cfi_builder.h"
#include "code/unwind/unwinder.h"
#include "object/frame_numbers.h"
#include "unit_test.h"

#define LOW    UINT64_C(0x1000)
#define HIGH   UINT64_C(0x9000)
#define STACK  UINT64_C(0xc000010000)
#define WORDS  32
#define FRAMES 16

enum { LEAF = 0x1000, OUTER = 0x2000, FIRST = 0x3000, SWITCH = 0x4000, CLOCK = 0x5000, MCALL = 0x6000 };

static const struct go_frame go_frames[] = {
	{LEAF, LEAF + 0x40, GO_FRAME_CALLED, 0, false, false},
	{OUTER, OUTER + 4, GO_FRAME_CALLED, 0, false, false},
	{OUTER + 4, OUTER + 0x40, GO_FRAME_CALLED, 24, true, true},
	{FIRST, FIRST + 0x40, GO_FRAME_FIRST, 0, false, false},
	{SWITCH, SWITCH + 0x40, GO_FRAME_SWITCHED, 0, false, false},
	{CLOCK, CLOCK + 4, GO_FRAME_CALLED, 0, false, false},
	{CLOCK + 4, CLOCK + 0x40, GO_FRAME_SWITCHED, 24, true, true},
	{MCALL, MCALL + 0x40, GO_FRAME_LEFT, 0, false, false},
};

struct go_world {
	const struct arch *arch;
	struct unwind_table *table;
	struct unwinder *unwinder;
	struct unwind_registers registers;
	uint64_t words[WORDS];
	uint64_t ips[FRAMES];
};

static void go_world_begin(struct go_world *w, const struct arch *arch, const struct cfi_section *section)
{
	*w = (struct go_world){.arch = arch};
	const struct unwind_table_source source = {.arch = arch,
		.sections = section,
		.section_count = section != NULL,
		.go_frames = go_frames,
		.go_frame_count = ARRAY_LEN(go_frames)};
	assert_int_equal(unwind_table_create(&source, &w->table, NULL), TALLY_OK);
	assert_int_equal(unwinder_create(arch, &w->unwinder, NULL), TALLY_OK);
}

static void go_world_end(struct go_world *w)
{
	unwind_table_destroy(w->table);
	unwinder_destroy(w->unwinder);
}

static void put_register(struct go_world *w, unsigned number, uint64_t value)
{
	w->registers.values[number] = value;
	w->registers.known |= UINT64_C(1) << number;
}

static bool find_go_module(void *context, uint64_t pc, struct unwind_module *module)
{
	const struct go_world *w = context;
	*module = (struct unwind_module){.table = w->table, .low = LOW, .high = HIGH};
	return pc >= LOW && pc < HIGH;
}

static uint64_t at_word(size_t word)
{
	return STACK + word * 8;
}

static void check_stack(
	struct go_world *w, uint64_t pc, size_t sp_word, enum unwind_end end, const uint64_t *ips, size_t count)
{
	const struct unwind_modules modules = {find_go_module, w};
	const struct unwind_stack stack = {
		.address = at_word(sp_word), .bytes = {(const uint8_t *)&w->words[sp_word], 8 * (WORDS - sp_word)}};
	unwinder_forget(w->unwinder);
	put_register(w, w->arch->dwarf_sp, at_word(sp_word));
	w->registers.pc = pc;
	struct unwind_result result = unwinder_run(w->unwinder, &w->registers, &stack, &modules, w->ips, FRAMES);
	if (result.end != end)
		fail_msg("%s, not %s", unwind_end_name(result.end), unwind_end_name(end));
	assert_int_equal(result.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(w->ips[i], ips[i]);
}

#define CHECK(w, pc, sp_word, end, ...)                                           \
	check_stack((w), (pc), (sp_word), (end), (const uint64_t[]){__VA_ARGS__}, \
		sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* A leaf has no frame, nor has a function before its prologue; the outermost one has no caller. */
static void test_callers_of_x86(void **state)
{
	struct go_world w;
	go_world_begin(&w, &arch_x86_64, NULL);
	w.words[2] = OUTER + 0x10; /* Return address of leaf. */
	w.words[5] = at_word(9); /* Saved frame pointer of the caller of outer, below its return address. */
	w.words[6] = OUTER + 0x20;
	w.words[10] = FIRST + 1;
	CHECK(&w, LEAF + 0x10, 2, UNWIND_ROOT, LEAF + 0x10, OUTER + 0x10, OUTER + 0x20, FIRST + 1);
	CHECK(&w, OUTER, 2, UNWIND_ROOT, OUTER, OUTER + 0x10, OUTER + 0x20, FIRST + 1);
	go_world_end(&w);
}

/* The return address is in the link register, or at the lowest address of the frame. */
static void test_callers_of_aarch64(void **state)
{
	struct go_world w;
	go_world_begin(&w, &arch_aarch64, NULL);
	put_register(&w, 30, OUTER + 0x10);
	w.words[2] = OUTER + 0x20;
	w.words[5] = FIRST + 4;
	CHECK(&w, LEAF + 0x10, 2, UNWIND_ROOT, LEAF + 0x10, OUTER + 0x10, OUTER + 0x20, FIRST + 4);
	/* The frame pointer of clock points below its frame, to that of the caller, above which is the
	 * return address. */
	put_register(&w, 29, at_word(20));
	put_register(&w, 30, CLOCK + 0x10);
	w.words[20] = 0;
	w.words[21] = OUTER + 0x20;
	w.words[24] = FIRST + 4;
	CHECK(&w, LEAF + 0x10, 2, UNWIND_ROOT, LEAF + 0x10, CLOCK + 0x10, OUTER + 0x20, FIRST + 4);
	go_world_end(&w);
}

static void test_changes_of_stacks(void **state)
{
	struct go_world w;
	go_world_begin(&w, &arch_x86_64, NULL);
	/* The caller of a function that switches stacks is unknown, or does not exist. */
	w.words[2] = SWITCH + 0x10;
	w.words[3] = OUTER + 0x10; /* A value of another frame. */
	CHECK(&w, LEAF + 0x10, 2, UNWIND_STACK_SHORT, LEAF + 0x10, SWITCH + 0x10);
	w.words[2] = MCALL + 0x10;
	CHECK(&w, LEAF + 0x10, 2, UNWIND_ROOT, LEAF + 0x10, MCALL + 0x10);
	/* The frame pointer gives the previous stack pointer, on this stack or on one that is not in the dump. */
	put_register(&w, 6, at_word(20));
	w.words[2] = CLOCK + 0x10;
	w.words[20] = 0;
	w.words[21] = FIRST + 1;
	CHECK(&w, LEAF + 0x10, 2, UNWIND_ROOT, LEAF + 0x10, CLOCK + 0x10, FIRST + 1);
	put_register(&w, 6, STACK - 0x100000);
	CHECK(&w, LEAF + 0x10, 2, UNWIND_STACK_SHORT, LEAF + 0x10, CLOCK + 0x10);
	put_register(&w, 6, STACK << 8);
	CHECK(&w, LEAF + 0x10, 2, UNWIND_STACK_SHORT, LEAF + 0x10, CLOCK + 0x10);
	w.registers.known &= ~(UINT64_C(1) << 6);
	CHECK(&w, LEAF + 0x10, 2, UNWIND_NO_REGISTERS, LEAF + 0x10, CLOCK + 0x10);
	/* Before clock sets up its frame, its caller is found by the stack pointer. */
	w.words[2] = FIRST + 1;
	CHECK(&w, CLOCK, 2, UNWIND_ROOT, CLOCK, FIRST + 1);
	go_world_end(&w);
}

/* The innermost instruction of a function that switches stacks may be before or after the switch. */
static void test_innermost_change_of_stacks(void **state)
{
	struct go_world w;
	go_world_begin(&w, &arch_x86_64, NULL);
	w.words[2] = OUTER + 0x10;
	w.words[6] = FIRST + 1;
	CHECK(&w, SWITCH + 0x10, 2, UNWIND_ROOT, SWITCH + 0x10, OUTER + 0x10, FIRST + 1);
	CHECK(&w, MCALL + 0x10, 2, UNWIND_ROOT, MCALL + 0x10, OUTER + 0x10, FIRST + 1);
	w.words[2] = 77;
	CHECK(&w, SWITCH + 0x10, 2, UNWIND_NO_CFI, SWITCH + 0x10);
	go_world_end(&w);
}

/* Call-frame information has precedence, but does not describe stack switches. */
static void test_call_frame_information_counts(void **state)
{
	static const uint8_t cie[] = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};
	static const uint8_t deeper[] = {DW_CFA_def_cfa_offset, 48};
	struct cfi_builder b;
	struct go_world w;
	cfi_builder_init(&b, 8, false);
	cfi_builder_cie(&b, 16, -8, false, cie, sizeof(cie));
	cfi_builder_fde(&b, OUTER, 0x40, deeper, sizeof(deeper));
	cfi_builder_fde(&b, SWITCH, 0x40, deeper, sizeof(deeper));
	const struct cfi_section section = cfi_builder_section(&b);
	go_world_begin(&w, &arch_x86_64, &section);
	assert_int_equal(unwind_table_find(w.table, OUTER + 0x10)->cfa, 48);
	assert_int_equal(unwind_table_find(w.table, LEAF)->cfa, 8);
	assert_false(unwind_table_find(w.table, OUTER)->is_switch);
	assert_true(unwind_table_find(w.table, SWITCH)->is_switch);
	assert_true(unwind_table_find(w.table, FIRST)->is_root);
	assert_null(unwind_table_find(w.table, LEAF + 0x40));
	assert_int_equal(unwind_table_size(w.table).damaged, 0);
	go_world_end(&w);
	writer_deinit(&b.w);
}

/* Frames that overlap, are empty or are out of order are ignored. */
static void test_go_frames_in_disorder(void **state)
{
	static const struct go_frame frames[] = {
		{OUTER, OUTER + 0x40, GO_FRAME_CALLED, 24, false, false},
		{OUTER + 0x20, OUTER + 0x60, GO_FRAME_CALLED, 32, false, false},
		{LEAF, LEAF + 0x40, GO_FRAME_CALLED, 0, false, false},
		{FIRST, FIRST, GO_FRAME_CALLED, 0, false, false},
		{SWITCH, UINT64_MAX, GO_FRAME_CALLED, 0, false, false},
		{CLOCK, CLOCK + 4, GO_FRAME_CALLED, UINT32_MAX, true, true},
	};
	const struct unwind_table_source source = {
		.arch = &arch_x86_64, .go_frames = frames, .go_frame_count = ARRAY_LEN(frames)};
	struct unwind_table *table;
	assert_int_equal(unwind_table_create(&source, &table, NULL), TALLY_OK);
	assert_int_equal(unwind_table_find(table, OUTER + 0x3f)->cfa, 32);
	assert_null(unwind_table_find(table, OUTER + 0x40));
	assert_null(unwind_table_find(table, LEAF));
	assert_null(unwind_table_find(table, FIRST));
	assert_null(unwind_table_find(table, SWITCH));
	assert_true(unwind_table_find(table, CLOCK)->cfa == UINT32_MAX + INT64_C(8));
	unwind_table_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers_of_x86),
		cmocka_unit_test(test_callers_of_aarch64),
		cmocka_unit_test(test_changes_of_stacks),
		cmocka_unit_test(test_innermost_change_of_stacks),
		cmocka_unit_test(test_call_frame_information_counts),
		cmocka_unit_test(test_go_frames_in_disorder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
