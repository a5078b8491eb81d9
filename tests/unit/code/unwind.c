/* SPDX-License-Identifier: Apache-2.0 */
/* Tests tables and unwinding with call-frame information made by hand: every rule, every reason to stop, and damaged
 * input. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cfi_builder.h"
#include "code/binaries/load_unwind.h"
#include "code/unwind/unwinder.h"
#include "object/frame_numbers.h"
#include "unit_test.h"

#define BIAS	    UINT64_C(0x550000000000)
#define LOW	    UINT64_C(0x1000) /* Link-time start of the code. */
#define HIGH	    UINT64_C(0x9000)
#define STACK	    UINT64_C(0x7ff000000000)
#define STACK_WORDS 64
#define MOST	    16

struct world {
	const struct arch *arch;
	struct cfi_builder cfi;
	const struct unwind_stub *stubs;
	size_t stub_count;
	struct unwind_table *table;
	struct unwinder *unwinder;
	struct unwind_registers registers;
	uint64_t bias, stack_address;
	struct writer stack;
	bool has_no_table;
	uint64_t ips[MOST];
	size_t max;
};

static void begin(struct world *w, const struct arch *arch, bool is_big)
{
	*w = (struct world){.arch = arch, .max = MOST};
	w->bias = arch->pointer_bytes == 8 ? BIAS : 0x56000000;
	w->stack_address = arch->pointer_bytes == 8 ? STACK : 0x7f000000;
	cfi_builder_init(&w->cfi, arch->pointer_bytes, is_big);
	w->stack.swap = w->cfi.w.swap;
	writer_zeros(&w->stack, (size_t)STACK_WORDS * arch->pointer_bytes);
	assert_int_equal(unwinder_create(arch, &w->unwinder, NULL), TALLY_OK);
	w->registers.values[arch->dwarf_sp] = w->stack_address;
	w->registers.known = UINT64_C(1) << arch->dwarf_sp;
}

static void end(struct world *w)
{
	unwind_table_destroy(w->table);
	unwinder_destroy(w->unwinder);
	writer_deinit(&w->cfi.w);
	writer_deinit(&w->stack);
}

/* Writes the word at the index into the stack. */
static void put(struct world *w, size_t word, uint64_t value)
{
	if (w->arch->pointer_bytes == 8)
		writer_patch_u64(&w->stack, word * 8, value);
	else
		writer_patch_u32(&w->stack, word * 4, (uint32_t)value);
}

static void set(struct world *w, unsigned number, uint64_t value)
{
	w->registers.values[number] = value;
	w->registers.known |= UINT64_C(1) << number;
}

static uint64_t word_at(const struct world *w, size_t word)
{
	return w->stack_address + word * w->arch->pointer_bytes;
}

static bool find(void *context, uint64_t pc, struct unwind_module *module)
{
	const struct world *w = context;
	if (pc < w->bias + LOW || pc >= w->bias + HIGH)
		return false;
	*module = (struct unwind_module){.table = w->has_no_table ? NULL : w->table,
		.low = w->bias + LOW,
		.high = w->bias + HIGH,
		.bias = w->bias};
	return true;
}

static struct unwind_result run(struct world *w, uint64_t pc)
{
	struct cfi_section section = cfi_builder_section(&w->cfi);
	struct unwind_table_source source = {.arch = w->arch,
		.sections = &section,
		.section_count = section.bytes.len > 0,
		.stubs = w->stubs,
		.stub_count = w->stub_count};
	if (!w->table)
		assert_int_equal(unwind_table_create(&source, &w->table, NULL), TALLY_OK);
	struct unwind_modules modules = {.find = find, .context = w};
	struct unwind_stack stack = {
		.address = w->stack_address, .bytes = writer_view(&w->stack), .swap = w->stack.swap};
	w->registers.pc = pc < HIGH && pc >= LOW ? w->bias + pc : pc;
	return unwinder_run(w->unwinder, &w->registers, &stack, &modules, w->ips, w->max);
}

static void check(struct world *w, struct unwind_result result, enum unwind_end how, const uint64_t *ips, size_t count)
{
	if (result.end != how)
		fail_msg("%s, not %s", unwind_end_name(result.end), unwind_end_name(how));
	assert_int_equal(result.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(w->ips[i], ips[i] >= LOW && ips[i] < HIGH ? w->bias + ips[i] : ips[i]);
}

#define CHECK(w, result, how, ...) \
	check((w), (result), (how), (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)
#define PROGRAM(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* Defines three functions of x86-64: 0x1000 pushes rbx at offset 2 and sets up rbp at offset 8; 0x2000 has a frame of
 * 32 bytes; 0x3000 is the outermost. */
static void x86_functions(struct world *w)
{
	cfi_builder_cie(&w->cfi, 16, -8, false, PROGRAM(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1));
	cfi_builder_fde(&w->cfi, 0x1000, 0x40,
		PROGRAM(DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 3, 2,
			DW_CFA_advance_loc | 30, DW_CFA_def_cfa_offset, 8));
	cfi_builder_fde(&w->cfi, 0x2000, 0x40, PROGRAM(DW_CFA_def_cfa_offset, 40));
	cfi_builder_fde(&w->cfi, 0x3000, 0x40, PROGRAM(DW_CFA_undefined, 16));
}

static void plain_frames(void **state)
{
	(void)state;
	for (int is_big = 0; is_big < 2; is_big++) {
		struct world w;
		begin(&w, &arch_x86_64, is_big);
		x86_functions(&w);
		put(&w, 0, 77); /* Saved rbx. */
		put(&w, 1, w.bias + 0x2010);
		put(&w, 2 + 4, w.bias + 0x3010);
		CHECK(&w, run(&w, 0x1010), UNWIND_ROOT, 0x1010, 0x2010, 0x3010);
		/* At the entry nothing has been pushed. */
		put(&w, 0, w.bias + 0x2010);
		put(&w, 1 + 4, w.bias + 0x3010);
		CHECK(&w, run(&w, 0x1000), UNWIND_ROOT, 0x1000, 0x2010, 0x3010);
		/* The register has been popped: the slot of its rule is below the stack dump. */
		CHECK(&w, run(&w, 0x1030), UNWIND_ROOT, 0x1030, 0x2010, 0x3010);
		end(&w);
	}
}

/* A rule that needs rbx, which is first saved in memory, and after the pop in the register. */
static void saved_registers(void **state)
{
	(void)state;
	struct world w;
	begin(&w, &arch_x86_64, false);
	x86_functions(&w);
	cfi_builder_fde(&w.cfi, 0x4000, 0x40, PROGRAM(DW_CFA_def_cfa, 3, 16));
	put(&w, 0, word_at(&w, 10));
	put(&w, 1, w.bias + 0x4010);
	put(&w, 11, w.bias + 0x3010);
	CHECK(&w, run(&w, 0x1010), UNWIND_ROOT, 0x1010, 0x4010, 0x3010);
	put(&w, 0, w.bias + 0x4010);
	CHECK(&w, run(&w, 0x1030), UNWIND_NO_REGISTERS, 0x1030, 0x4010);
	set(&w, 3, word_at(&w, 10));
	CHECK(&w, run(&w, 0x1030), UNWIND_ROOT, 0x1030, 0x4010, 0x3010);
	end(&w);
}

/* A return address may be the first of the next function, because the call precedes it. An interrupted PC is exact. */
static void calls_and_signals(void **state)
{
	(void)state;
	struct world w;
	begin(&w, &arch_x86_64, false);
	x86_functions(&w);
	cfi_builder_fde(&w.cfi, 0x2040, 0x10, PROGRAM(DW_CFA_def_cfa_offset, 80));
	put(&w, 0, w.bias + 0x2040);
	put(&w, 1 + 4, w.bias + 0x3010);
	CHECK(&w, run(&w, 0x1000), UNWIND_ROOT, 0x1000, 0x2040, 0x3010);
	end(&w);

	begin(&w, &arch_x86_64, false);
	x86_functions(&w);
	cfi_builder_fde(&w.cfi, 0x2040, 0x10, PROGRAM(DW_CFA_def_cfa_offset, 80));
	/* Like a signal trampoline: the stack pointer and PC of the interrupted code are in words 5 and 6. */
	cfi_builder_cie(&w.cfi, 16, -8, true,
		PROGRAM(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 40, DW_OP_deref, DW_CFA_expression, 16, 2,
			DW_OP_breg7, 48));
	cfi_builder_fde(&w.cfi, 0x5000, 0x10, NULL, 0);
	put(&w, 0, w.bias + 0x5001);
	put(&w, 1 + 5, word_at(&w, 20));
	put(&w, 1 + 6, w.bias + 0x2040);
	put(&w, 20 + 9, w.bias + 0x3010);
	struct unwind_result result = run(&w, 0x1000);
	CHECK(&w, result, UNWIND_ROOT, 0x1000, 0x5001, 0x2040, 0x3010);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(unwind_is_exact(&result, i), i < 3);
	/* The signal handler had a separate stack: the interrupted stack is not in the stack dump, at whatever address
	 * it is. */
	put(&w, 1 + 5, w.stack_address - 0x100000);
	CHECK(&w, run(&w, 0x1000), UNWIND_STACK_SHORT, 0x1000, 0x5001, 0x2040);
	put(&w, 1 + 5, w.stack_address + (UINT64_C(1) << 40));
	CHECK(&w, run(&w, 0x1000), UNWIND_STACK_SHORT, 0x1000, 0x5001, 0x2040);
	end(&w);
}

static void expressions(void **state)
{
	(void)state;
	struct world w;
	begin(&w, &arch_x86_64, false);
	x86_functions(&w);
	/* The CFI of binutils for the PLT: the CFA is 8 bytes higher from offset 11 of each entry on. */
	cfi_builder_fde(&w.cfi, 0x6000, 0x100,
		PROGRAM(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
			DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus));
	put(&w, 0, w.bias + 0x3011);
	put(&w, 1, w.bias + 0x3012);
	CHECK(&w, run(&w, 0x601a), UNWIND_ROOT, 0x601a, 0x3011);
	CHECK(&w, run(&w, 0x601b), UNWIND_ROOT, 0x601b, 0x3012);
	end(&w);

	begin(&w, &arch_x86_64, false);
	x86_functions(&w);
	/* r10 holds the address of the CFA, rbx is in another register, rbp is CFA - 16, and r12 is computed. */
	cfi_builder_fde(&w.cfi, 0x6000, 0x100,
		PROGRAM(DW_CFA_def_cfa_expression, 3, DW_OP_breg10, 0, DW_OP_deref, DW_CFA_register, 3, 12,
			DW_CFA_val_offset, 6, 2, DW_CFA_val_expression, 12, 3, DW_OP_plus_uconst, 0x90, 0x01,
			DW_CFA_same_value, 13));
	cfi_builder_fde(&w.cfi, 0x6100, 0x10, PROGRAM(DW_CFA_def_cfa, 3, 0));
	cfi_builder_fde(&w.cfi, 0x6200, 0x10, PROGRAM(DW_CFA_def_cfa, 6, 56));
	cfi_builder_fde(&w.cfi, 0x6300, 0x10, PROGRAM(DW_CFA_def_cfa, 12, 0));
	set(&w, 10, word_at(&w, 2));
	set(&w, 12, word_at(&w, 16));
	put(&w, 2, word_at(&w, 9)); /* The CFA. */
	put(&w, 8, w.bias + 0x6108);
	put(&w, 15, w.bias + 0x3010);
	CHECK(&w, run(&w, 0x6000), UNWIND_ROOT, 0x6000, 0x6108, 0x3010);
	put(&w, 8, w.bias + 0x6208); /* rbp is word 7, the CFA is word 14. */
	put(&w, 13, w.bias + 0x3020);
	CHECK(&w, run(&w, 0x6000), UNWIND_ROOT, 0x6000, 0x6208, 0x3020);
	put(&w, 8, w.bias + 0x6308); /* r12 is word 9 + 144 bytes = word 27. */
	put(&w, 26, w.bias + 0x3030);
	CHECK(&w, run(&w, 0x6000), UNWIND_ROOT, 0x6000, 0x6308, 0x3030);
	end(&w);
}

static void ways_to_end(void **state)
{
	(void)state;
	struct world w;
	begin(&w, &arch_x86_64, false);
	x86_functions(&w);
	cfi_builder_fde(&w.cfi, 0x4000, 0x10, PROGRAM(DW_CFA_def_cfa, 6, 16));
	cfi_builder_fde(&w.cfi, 0x4100, 0x10, PROGRAM(DW_CFA_def_cfa_offset, 0x80, 0x20));
	put(&w, 0, 0);
	CHECK(&w, run(&w, 0x1000), UNWIND_ROOT, 0x1000);
	put(&w, 0, 0x1234567);
	CHECK(&w, run(&w, 0x1000), UNWIND_BROKEN, 0x1000);
	CHECK(&w, run(&w, 0x4100), UNWIND_STACK_SHORT, 0x4100);
	CHECK(&w, run(&w, 0x4000), UNWIND_NO_REGISTERS, 0x4000);
	set(&w, 6, word_at(&w, 62)); /* The return address is the last word of the stack dump. */
	put(&w, 63, 0);
	CHECK(&w, run(&w, 0x4000), UNWIND_ROOT, 0x4000);
	set(&w, 6, word_at(&w, 63));
	CHECK(&w, run(&w, 0x4000), UNWIND_STACK_SHORT, 0x4000);
	set(&w, 6, word_at(&w, 4) + 1);
	CHECK(&w, run(&w, 0x4000), UNWIND_BROKEN, 0x4000);
	set(&w, 6, w.stack_address - 64);
	CHECK(&w, run(&w, 0x4000), UNWIND_BROKEN, 0x4000);
	set(&w, 6, w.stack_address + (UINT64_C(1) << 40));
	CHECK(&w, run(&w, 0x4000), UNWIND_BROKEN, 0x4000);
	set(&w, 6, UINT64_MAX - 15); /* The CFA is 0. */
	CHECK(&w, run(&w, 0x4000), UNWIND_BROKEN, 0x4000);
	/* An endless chain: every word returns into the same function. */
	for (size_t i = 0; i < STACK_WORDS; i++)
		put(&w, i, w.bias + 0x1000 + 1);
	w.max = 5;
	CHECK(&w, run(&w, 0x1000), UNWIND_LIMIT, 0x1000, 0x1001, 0x1001, 0x1001, 0x1001);
	w.max = 0;
	assert_int_equal(run(&w, 0x1000).end, UNWIND_LIMIT);
	w.max = MOST;
	w.registers.known = 0;
	struct unwind_result none = run(&w, 0x1000);
	assert_int_equal(none.end, UNWIND_NO_REGISTERS);
	assert_int_equal(none.count, 0);
	end(&w);
}

static void frame_pointer_bridges(void **state)
{
	(void)state;
	struct world w;
	struct unwind_result result;
	begin(&w, &arch_x86_64, false);
	x86_functions(&w);
	/* 0x7000 and 0x7100 have only frame pointers, 0x2000 has rules. */
	set(&w, 6, word_at(&w, 2));
	put(&w, 2, word_at(&w, 6));
	put(&w, 3, w.bias + 0x7100);
	put(&w, 6, word_at(&w, 20));
	put(&w, 7, w.bias + 0x2010);
	put(&w, 8 + 4, w.bias + 0x3010);
	result = run(&w, 0x7000);
	CHECK(&w, result, UNWIND_ROOT, 0x7000, 0x7100, 0x2010, 0x3010);
	assert_int_equal(result.bridged, 2);
	assert_int_equal(result.last_sp, word_at(&w, 8 + 5));
	/* The value that the last of them saved for its caller, which has CFI, is not a frame pointer. */
	put(&w, 6, 12345);
	CHECK(&w, run(&w, 0x7000), UNWIND_ROOT, 0x7000, 0x7100, 0x2010, 0x3010);
	put(&w, 7, w.bias + 0x7200);
	CHECK(&w, run(&w, 0x7000), UNWIND_NO_CFI, 0x7000, 0x7100);
	/* The end of the chain, and a frame pointer that points outside the stack. */
	put(&w, 6, 0);
	put(&w, 7, w.bias + 0x7200);
	CHECK(&w, run(&w, 0x7000), UNWIND_ROOT, 0x7000, 0x7100, 0x7200);
	put(&w, 7, 0x99);
	CHECK(&w, run(&w, 0x7000), UNWIND_NO_CFI, 0x7000, 0x7100);
	put(&w, 2, word_at(&w, 1));
	CHECK(&w, run(&w, 0x7000), UNWIND_NO_CFI, 0x7000);
	set(&w, 6, 0);
	CHECK(&w, run(&w, 0x7000), UNWIND_NO_CFI, 0x7000);
	set(&w, 6, word_at(&w, 1000));
	CHECK(&w, run(&w, 0x7000), UNWIND_NO_CFI, 0x7000);
	w.registers.known = 1 << 7;
	CHECK(&w, run(&w, 0x7000), UNWIND_NO_CFI, 0x7000);
	/* Generated code is mapped, but has no table. */
	w.has_no_table = true;
	unwinder_forget(w.unwinder);
	set(&w, 6, word_at(&w, 2));
	put(&w, 2, 0);
	CHECK(&w, run(&w, 0x7000), UNWIND_ROOT, 0x7000, 0x7100);
	end(&w);
}

/* Assembly code that has not changed the stack: the guess must give a consistent stack. */
static void leaf_of_unknown_code(void **state)
{
	(void)state;
	struct world w;
	struct unwind_result result;
	begin(&w, &arch_x86_64, false);
	x86_functions(&w);
	put(&w, 0, w.bias + 0x2010);
	put(&w, 1 + 4, w.bias + 0x3010);
	result = run(&w, 0x7000);
	CHECK(&w, result, UNWIND_ROOT, 0x7000, 0x2010, 0x3010);
	assert_int_equal(result.bridged, 1);
	/* A plausible value in the stack leads to nothing; the frame pointer does lead to the caller. */
	put(&w, 1 + 4, 77);
	CHECK(&w, run(&w, 0x7000), UNWIND_NO_CFI, 0x7000);
	set(&w, 6, word_at(&w, 10));
	put(&w, 11, w.bias + 0x3010);
	result = run(&w, 0x7000);
	CHECK(&w, result, UNWIND_ROOT, 0x7000, 0x3010);
	assert_int_equal(result.bridged, 1);
	end(&w);

	begin(&w, &arch_aarch64, false);
	cfi_builder_cie(&w.cfi, 30, -8, false, PROGRAM(DW_CFA_def_cfa, 31, 0));
	cfi_builder_fde(&w.cfi, 0x3000, 0x40, PROGRAM(DW_CFA_undefined, 30));
	set(&w, 30, w.bias + 0x3010);
	CHECK(&w, run(&w, 0x7000), UNWIND_ROOT, 0x7000, 0x3010);
	end(&w);
}

/* _start of the dynamic loader has no CFI, but the stack has the layout that the kernel creates. */
static void start_of_a_process(void **state)
{
	(void)state;
	for (int is_big = 0; is_big < 2; is_big++) {
		struct world w;
		begin(&w, is_big ? &arch_arm : &arch_x86_64, is_big);
		put(&w, 0, 2);
		put(&w, 1, word_at(&w, 50));
		put(&w, 2, word_at(&w, 51));
		put(&w, 4, word_at(&w, 52));
		CHECK(&w, run(&w, 0x7000), UNWIND_ROOT, 0x7000);
		put(&w, 3, 1); /* argv is not terminated by 0. */
		CHECK(&w, run(&w, 0x7000), UNWIND_NO_CFI, 0x7000);
		put(&w, 3, 0);
		put(&w, 1, word_at(&w, 52)); /* The pointers do not ascend. */
		CHECK(&w, run(&w, 0x7000), UNWIND_NO_CFI, 0x7000);
		put(&w, 0, 0);
		CHECK(&w, run(&w, 0x7000), UNWIND_NO_CFI, 0x7000);
		put(&w, 0, 1000);
		CHECK(&w, run(&w, 0x7000), UNWIND_NO_CFI, 0x7000);
		end(&w);
	}
}

/* vfork removes its return address from the stack while it is in the kernel. */
static void return_address_in_a_register(void **state)
{
	(void)state;
	struct world w;
	begin(&w, &arch_x86_64, false);
	x86_functions(&w);
	cfi_builder_fde(&w.cfi, 0x4000, 0x40, PROGRAM(DW_CFA_def_cfa_offset, 0, DW_CFA_register, 16, 5));
	set(&w, 5, w.bias + 0x2010);
	put(&w, 4, w.bias + 0x3010);
	CHECK(&w, run(&w, 0x4000), UNWIND_ROOT, 0x4000, 0x2010, 0x3010);
	end(&w);
}

static void call_of_nothing(void **state)
{
	(void)state;
	struct world w;
	begin(&w, &arch_x86_64, false);
	x86_functions(&w);
	put(&w, 0, w.bias + 0x2010);
	put(&w, 1 + 4, w.bias + 0x3010);
	CHECK(&w, run(&w, 0), UNWIND_ROOT, 0, 0x2010, 0x3010);
	put(&w, 0, 0x10);
	assert_int_equal(run(&w, 0).end, UNWIND_BROKEN);
	end(&w);
}

#define PAC(address) ((address) | UINT64_C(0x00aa) << 48)

static void aarch64_frames(void **state)
{
	(void)state;
	struct world w;
	begin(&w, &arch_aarch64, false);
	cfi_builder_cie(&w.cfi, 30, -8, false, PROGRAM(DW_CFA_def_cfa, 31, 0));
	cfi_builder_fde(&w.cfi, 0x1000, 0x40, NULL, 0); /* A leaf function. */
	/* stp x29, x30 at the bottom of a frame of 32 bytes, with a signed return address. */
	cfi_builder_fde(&w.cfi, 0x2000, 0x40,
		PROGRAM(DW_CFA_GNU_window_save, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30,
			3));
	cfi_builder_fde(&w.cfi, 0x3000, 0x40, PROGRAM(DW_CFA_undefined, 30));
	set(&w, 30, w.bias + 0x2010);
	put(&w, 1, PAC(w.bias + 0x3010));
	CHECK(&w, run(&w, 0x1000), UNWIND_ROOT, 0x1000, 0x2010, 0x3010);
	/* A leaf function cannot be a caller. */
	put(&w, 1, w.bias + 0x1010);
	CHECK(&w, run(&w, 0x2020), UNWIND_BROKEN, 0x2020, 0x1010);
	w.registers.known &= ~(UINT64_C(1) << 30);
	CHECK(&w, run(&w, 0x1000), UNWIND_NO_REGISTERS, 0x1000);
	end(&w);
}

/* The signal trampoline of the kernel: registers x0 to x30, SP and PC at 312 bytes from the stack pointer. */
static void aarch64_signal(void **state)
{
	(void)state;
	const struct unwind_stub stub = {.low = LOW + 0x7ffc, .high = LOW + 0x8000, .is_signal = true};
	struct world w;
	begin(&w, &arch_aarch64, false);
	w.stubs = &stub;
	w.stub_count = 1;
	writer_zeros(&w.stack, 1024);
	cfi_builder_cie(&w.cfi, 30, -8, false, PROGRAM(DW_CFA_def_cfa, 31, 0));
	cfi_builder_fde(&w.cfi, 0x1000, 0x40, NULL, 0);
	cfi_builder_fde(&w.cfi, 0x3000, 0x40, PROGRAM(DW_CFA_undefined, 30));
	put(&w, 39 + 30, w.bias + 0x3010);
	put(&w, 39 + 31, word_at(&w, 100));
	/* Interrupted at the first instruction, when the link register is still valid. */
	put(&w, 39 + 32, w.bias + 0x1000);
	struct unwind_result result = run(&w, LOW + 0x7ffc);
	CHECK(&w, result, UNWIND_ROOT, LOW + 0x7ffc, 0x1000, 0x3010);
	assert_int_equal(result.last_sp, word_at(&w, 100));
	assert_true(unwind_is_exact(&result, 0) && unwind_is_exact(&result, 1) && !unwind_is_exact(&result, 2));
	end(&w);
}

static void other_architectures(void **state)
{
	(void)state;
	static const struct {
		const struct arch *arch;
		uint8_t return_register, align;
	} cases[] = {{&arch_i386, 8, 4}, {&arch_arm, 14, 4}, {&arch_riscv64, 1, 8}, {&arch_aarch64, 30, 8}};
	for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
		const struct arch *arch = cases[i / 2].arch;
		uint8_t ra = cases[i / 2].return_register;
		struct world w;
		begin(&w, arch, i % 2);
		cfi_builder_cie(&w.cfi, ra, -cases[i / 2].align, false,
			PROGRAM(DW_CFA_def_cfa, arch->dwarf_sp, (uint8_t)(4 * cases[i / 2].align), DW_CFA_offset | ra,
				2));
		cfi_builder_fde(&w.cfi, 0x1000, 0x40, NULL, 0);
		cfi_builder_fde(&w.cfi, 0x3000, 0x40, PROGRAM(DW_CFA_undefined, ra));
		put(&w, 2, w.bias + 0x1010 + (arch == &arch_arm)); /* The lowest bit means Thumb. */
		put(&w, 6, w.bias + 0x3010);
		CHECK(&w, run(&w, 0x1000), UNWIND_ROOT, 0x1000, 0x1010, 0x3010);
		/* The frame pointer is used if there is no CFI. */
		set(&w, arch->dwarf_fp, word_at(&w, 8));
		writer_patch_u32(&w.stack, 0, 0);
		size_t fp_word = (size_t)(8 + arch->frame_fp_offset / arch->pointer_bytes);
		size_t return_word = (size_t)(8 + arch->frame_return_offset / arch->pointer_bytes);
		put(&w, fp_word, word_at(&w, 20));
		put(&w, return_word, w.bias + 0x3010);
		CHECK(&w, run(&w, 0x7000), UNWIND_ROOT, 0x7000, 0x3010);
		end(&w);
	}
}

static void stubs_where_nothing_is_said(void **state)
{
	(void)state;
	static const struct unwind_stub stubs[] = {{.low = 0x1000, .high = 0x1010, .cfa_offset = 800},
		{.low = 0x6000, .high = 0x600b, .cfa_offset = 8}, {.low = 0x600b, .high = 0x6010, .cfa_offset = 16},
		{.low = 0x600c, .high = 0x600d, .cfa_offset = 800}};
	struct world w;
	begin(&w, &arch_x86_64, false);
	w.stubs = stubs;
	w.stub_count = 4;
	x86_functions(&w);
	put(&w, 0, w.bias + 0x3010);
	put(&w, 1, w.bias + 0x3020);
	CHECK(&w, run(&w, 0x1000), UNWIND_ROOT, 0x1000, 0x3010);
	CHECK(&w, run(&w, 0x600a), UNWIND_ROOT, 0x600a, 0x3010);
	CHECK(&w, run(&w, 0x600b), UNWIND_ROOT, 0x600b, 0x3020);
	CHECK(&w, run(&w, 0x600f), UNWIND_ROOT, 0x600f, 0x3020);
	assert_null(unwind_table_find(w.table, 0x6010));
	end(&w);
}

static void check_rule(const struct cfi_row *row, const struct unwind_rule *rule)
{
	unsigned saved = 0;
	assert_int_equal(rule->cfa_is_expression, row->cfa_is_expression);
	if (!row->cfa_is_expression) {
		assert_int_equal(rule->cfa, row->cfa.value);
		assert_int_equal(rule->cfa_register, row->cfa_register);
	}
	for (unsigned i = 0; i < CFI_REGISTERS; i++) {
		const struct cfi_rule *from = &row->registers[i];
		if (from->kind == CFI_UNSET || from->kind == CFI_SAME)
			continue;
		assert_true(saved < rule->saved_count);
		assert_int_equal(rule->saved[saved].number, i);
		assert_int_equal(rule->saved[saved].kind, from->kind);
		if (from->kind == CFI_AT_OFFSET)
			assert_int_equal(rule->saved[saved].value, from->value);
		saved++;
	}
	assert_int_equal(saved, rule->saved_count);
}

/* For this program and libc, the table has the same rules as an interpreter of the CFI at every row. */
static void tables_say_what_rows_say(void **state)
{
	(void)state;
	struct elf_image *image;
	struct elf_frames frames;
	assert_int_equal(elf_image_open("/proc/self/exe", &image, NULL), TALLY_OK);
	if (!elf_image_eh_frame(image, &frames)) {
		elf_image_close(image);
		skip_because("this program has no .eh_frame");
	}
	struct cfi_section section = {.bytes = frames.bytes,
		.address = frames.address,
		.is_eh = true,
		.address_size = elf_image_pointer_bytes(image)};
	struct cfi_table cfi;
	assert_int_equal(cfi_open(&cfi, &section, NULL), TALLY_OK);
	struct unwind_table *table = load_unwind_image(image, NULL, 0, false);
	assert_non_null(table);
	assert_int_equal(unwind_table_size(table).damaged, 0);
	assert_true(unwind_table_size(table).rows > cfi.fdes.len);
	for (size_t i = 0; i < cfi.fdes.len; i++) {
		const struct cfi_fde *fde = &cfi.fdes.items[i];
		struct cfi_row row = {.high = fde->low};
		struct cfi_frame frame;
		while (row.high < fde->high) {
			uint64_t pc = row.high;
			assert_true(cfi_row_at(&cfi, fde, pc, &row, &frame));
			check_rule(&row, unwind_table_find(table, pc));
			assert_ptr_equal(unwind_table_find(table, pc), unwind_table_find(table, row.high - 1));
		}
	}
	unwind_table_destroy(table);
	cfi_deinit(&cfi);
	elf_image_close(image);
}

static void far_apart(void **state)
{
	(void)state;
	struct cfi_builder b;
	struct unwind_table *table;
	cfi_builder_init(&b, 8, false);
	cfi_builder_cie(&b, 16, -8, false, PROGRAM(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1));
	cfi_builder_fde(&b, UINT64_C(0x7000000000), 0x10, NULL, 0);
	cfi_builder_fde(&b, 0x1000, 0x10, NULL, 0);
	cfi_builder_fde(&b, 0x1008, 0x10,
		PROGRAM(DW_CFA_def_cfa_offset, 16)); /* Both cover 0x1008; the later one takes precedence. */
	cfi_builder_fde(&b, UINT64_C(0x8000000000), UINT64_MAX / 2, NULL, 0);
	struct cfi_section section = cfi_builder_section(&b);
	struct unwind_table_source source = {.arch = &arch_x86_64, .sections = &section, .section_count = 1};
	assert_int_equal(unwind_table_create(&source, &table, NULL), TALLY_OK);
	assert_int_equal(unwind_table_find(table, 0x1007)->cfa, 8);
	assert_int_equal(unwind_table_find(table, 0x1008)->cfa, 16);
	assert_int_equal(unwind_table_find(table, 0x1017)->cfa, 16);
	assert_null(unwind_table_find(table, 0x1018));
	assert_null(unwind_table_find(table, 0xfff));
	assert_non_null(unwind_table_find(table, UINT64_C(0x700000000f)));
	assert_null(unwind_table_find(table, UINT64_C(0x7000000010)));
	assert_null(unwind_table_find(table, UINT64_C(0x8000000000)));
	assert_int_equal(unwind_table_size(table).rules, 2);
	unwind_table_destroy(table);
	writer_deinit(&b.w);
}

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Whatever is damaged in the rules, registers or stack, unwinding ends and stays in bounds. */
static void damage(void **state)
{
	(void)state;
	uint64_t seed = 88172645463325252ull;
	for (unsigned turn = 0; turn < 3000; turn++) {
		struct world w;
		begin(&w, arch_at(turn % 5), turn % 2);
		x86_functions(&w);
		cfi_builder_cie(&w.cfi, 16, -8, turn % 3 == 0,
			PROGRAM(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 40, DW_OP_deref, DW_CFA_expression, 16, 2,
				DW_OP_breg7, 48));
		cfi_builder_fde(&w.cfi, 0x5000, 0x10, NULL, 0);
		for (unsigned i = 0; i < turn % 7; i++)
			w.cfi.w.data[random_next(&seed) % w.cfi.w.len] = (uint8_t)random_next(&seed);
		if (turn % 11 == 0)
			w.cfi.w.len = random_next(&seed) % w.cfi.w.len;
		for (size_t i = 0; i < STACK_WORDS; i++) {
			uint64_t value = random_next(&seed);
			put(&w, i,
				value % 3 == 0	 ? w.bias + LOW + value % (HIGH - LOW)
				: value % 3 == 1 ? word_at(&w, value % 80)
						 : value);
		}
		for (unsigned i = 0; i < 33; i++)
			if (i != w.arch->dwarf_sp)
				set(&w, i, word_at(&w, random_next(&seed) % 80));
		static const uint64_t places[] = {0x1000, 0x1010, 0x2010, 0x5004, 0x7000, 0};
		struct unwind_result result = run(&w, places[turn % 6]);
		assert_in_range(result.count, 1, MOST);
		assert_in_range(result.end, 0, UNWIND_ENDS - 1);
		end(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_frames),
		cmocka_unit_test(saved_registers),
		cmocka_unit_test(calls_and_signals),
		cmocka_unit_test(expressions),
		cmocka_unit_test(ways_to_end),
		cmocka_unit_test(frame_pointer_bridges),
		cmocka_unit_test(leaf_of_unknown_code),
		cmocka_unit_test(start_of_a_process),
		cmocka_unit_test(return_address_in_a_register),
		cmocka_unit_test(call_of_nothing),
		cmocka_unit_test(aarch64_frames),
		cmocka_unit_test(aarch64_signal),
		cmocka_unit_test(other_architectures),
		cmocka_unit_test(stubs_where_nothing_is_said),
		cmocka_unit_test(tables_say_what_rows_say),
		cmocka_unit_test(far_apart),
		cmocka_unit_test(damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
