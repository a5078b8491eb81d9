/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/sample.h"
#include "analysis/resolve.h"
#include "base/vec.h"
#include "machine/machine.h"
#include "unit_test.h"

#define REGISTERS (UINT64_C(1) << 6 | UINT64_C(1) << 7 | UINT64_C(1) << 8) /* bp, sp and ip of x86-64. */
#define CODE	  UINT64_C(0x400000)
#define STACK	  UINT64_C(0x7ff000)
#define KERNEL	  UINT64_C(0xffffffff81000000)
#define WORDS	  32

struct fixture {
	bool swap;
	struct machine *machine;
	struct binary_store *store;
	struct perfdata_features features;
	struct unwind_files files;
	struct sample_unwinder unwinder;
	struct resolver resolver;
	uint64_t stack[WORDS], registers[3], chain[4];
	struct sample sample;
};

static uint64_t stored(const struct fixture *f, uint64_t word)
{
	return f->swap ? __builtin_bswap64(word) : word;
}

/* Maps generated code: it has no file, and frames are found by frame pointer. */
static void start(struct fixture *f, bool swap)
{
	const struct record record = {.type = RECORD_MMAP2, .misc = MISC_CPUMODE_USER};
	const struct record_fields map = {.type = RECORD_MMAP2,
		.mmap = {.pid = 1, .tid = 1, .start = CODE, .len = 0x10000, .prot = 5, .filename = STR("//anon")}};
	*f = (struct fixture){.swap = swap, .features.arch = STR("x86_64")};
	assert_int_equal(machine_create(&f->machine, NULL), TALLY_OK);
	assert_int_equal(machine_apply(f->machine, &record, &map, 1, NULL), TALLY_OK);
	assert_int_equal(machine_finish(f->machine, NULL), TALLY_OK);
	assert_int_equal(binary_store_create(&(struct binary_store_options){0}, &f->store, NULL), TALLY_OK);
	unwind_files_init(&f->files, f->machine, f->store);
	assert_int_equal(unwind_files_add_all(&f->files, NULL), TALLY_OK);
	sample_unwinder_init(&f->unwinder, &f->files, &f->features, swap);
	assert_true(resolver_init(&f->resolver, f->machine, swap));
	f->resolver.unwinder = &f->unwinder;
	f->registers[0] = stored(f, STACK + 8); /* bp, sp, ip. */
	f->registers[1] = stored(f, STACK);
	f->registers[2] = stored(f, CODE + 0x10);
	/* Two callers, each with {saved bp, return address}; the last has a frame pointer of 0. */
	f->stack[1] = stored(f, STACK + 32);
	f->stack[2] = stored(f, CODE + 0x21);
	f->stack[4] = stored(f, 0);
	f->stack[5] = stored(f, CODE + 0x31);
	f->sample = (struct sample){.swap = swap, .pid = 1, .tid = 1, .time = 2};
	f->sample.regs_user = (struct sample_regs){REGS_ABI_64, REGISTERS, {(const uint8_t *)f->registers, 3}};
	f->sample.stack_user.bytes = (struct tally_bytes){(const uint8_t *)f->stack, sizeof(f->stack)};
	f->sample.stack_user.size = f->sample.stack_user.dyn_size = sizeof(f->stack);
}

static void stop(struct fixture *f)
{
	resolver_deinit(&f->resolver);
	sample_unwinder_deinit(&f->unwinder);
	unwind_files_deinit(&f->files);
	binary_store_destroy(f->store);
	machine_destroy(f->machine);
}

static void record_chain(struct fixture *f, const uint64_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		f->chain[i] = stored(f, words[i]);
	f->sample.callchain = (struct sample_array){(const uint8_t *)f->chain, count};
}

static void expect(struct fixture *f, const uint64_t *wanted, uint32_t count)
{
	const struct record_layout layout = {.sample_type = SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER};
	struct resolve_where where = resolver_where(&f->resolver, 1, 2);
	struct sample_array chain = resolver_sample_chain(&f->resolver, &where, &layout, &f->sample);
	assert_int_equal(chain.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(sample_u64_at(chain.data, i, f->swap), wanted[i]);
}

static const uint64_t unwound[] = {CONTEXT_KERNEL, KERNEL, CONTEXT_USER, CODE + 0x10, CODE + 0x20, CODE + 0x30};

static void test_callers_behind_the_kernels_in_both_byte_orders(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct fixture f;
		start(&f, swap);
		expect(&f, unwound + 2, 4);
		record_chain(&f, unwound, 2);
		expect(&f, unwound, 6);
		record_chain(&f, unwound, 4); /* Frames that the kernel has already found are not added again. */
		expect(&f, unwound, 6);
		assert_int_equal(f.unwinder.ends.ends[UNWIND_ROOT], 3);
		assert_int_equal(f.unwinder.ends.bridged, 3);
		f.resolver.max_stack = 2;
		expect(&f, unwound, 5);
		assert_int_equal(f.unwinder.ends.ends[UNWIND_LIMIT], 1);
		stop(&f);
	}
}

/* The limit applies to user callers as well as to kernel callers in the recording. */
static void test_callers_have_a_bound_of_their_own(void **state)
{
	const uint64_t recorded[] = {CONTEXT_KERNEL, KERNEL, KERNEL + 8, KERNEL + 16};
	const struct record_layout layout = {.sample_type = SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER};
	struct fixture f;
	start(&f, false);
	f.resolver.max_stack = 2;
	record_chain(&f, recorded, 4);
	struct resolve_where where = resolver_where(&f.resolver, 1, 2);
	struct sample_array chain = resolver_sample_chain(&f.resolver, &where, &layout, &f.sample);
	struct resolved_chain frames = resolver_chain_frames(&f.resolver, &where, &chain);
	const uint64_t wanted[] = {KERNEL, KERNEL + 8, CODE + 0x10, CODE + 0x20};
	assert_int_equal(frames.count, 4);
	for (size_t i = 0; i < frames.count; i++)
		assert_int_equal(frames.ips[i], wanted[i]);
	/* The limit also applies to recorded user chains. */
	memset(&f.sample.stack_user, 0, sizeof(f.sample.stack_user));
	const uint64_t whole[] = {CONTEXT_KERNEL, KERNEL, CONTEXT_USER, CODE};
	f.resolver.max_stack = 1;
	record_chain(&f, whole, 4);
	chain = resolver_sample_chain(&f.resolver, &where, &layout, &f.sample);
	assert_int_equal(resolver_chain_frames(&f.resolver, &where, &chain).count, 1);
	stop(&f);
}

static void test_a_short_copy_counts_as_far_as_the_kernel_copied(void **state)
{
	struct fixture f;
	start(&f, false);
	f.sample.stack_user.dyn_size = 24;
	expect(&f, unwound + 2, 3);
	assert_int_equal(f.unwinder.ends.ends[UNWIND_ROOT], 0);
	assert_int_equal(stack_ends_unwound(&f.unwinder.ends), 1);
	stop(&f);
}

static void test_a_recorded_chain_that_knows_more_stands(void **state)
{
	const uint64_t recorded[] = {CONTEXT_USER, CODE + 0x10, CODE + 0x21, CODE + 0x31};
	struct fixture f;
	start(&f, false);
	f.sample.stack_user.dyn_size = 24;
	record_chain(&f, recorded, 4);
	expect(&f, recorded, 4);
	stop(&f);
}

static void test_without_registers_or_machine_nothing_is_unwound(void **state)
{
	struct fixture f;
	start(&f, false);
	record_chain(&f, unwound, 2);
	f.sample.regs_user = (struct sample_regs){.abi = REGS_ABI_NONE}; /* A kernel thread. */
	expect(&f, unwound, 2);
	assert_int_equal(stack_ends_unwound(&f.unwinder.ends), 0);
	f.sample.regs_user = (struct sample_regs){REGS_ABI_64, REGISTERS, {(const uint8_t *)f.registers, 3}};
	f.features.arch = STR("vax");
	expect(&f, unwound, 2);
	assert_int_equal(f.unwinder.ends.ends[UNWIND_NO_REGISTERS], 1);
	f.features.arch = STR("x86_64");
	f.sample.regs_user.values.count = 1; /* Truncated: only bp is left. */
	expect(&f, unwound, 2);
	assert_int_equal(f.unwinder.ends.ends[UNWIND_NO_REGISTERS], 2);
	stop(&f);
}

/* The stack has {saved ebp, return address} in words of 4 bytes. */
static void test_a_32_bit_program_of_a_64_bit_kernel(void **state)
{
	static const uint32_t stack[8] = {0, (uint32_t)STACK + 16, CODE + 0x21, 0, 0, CODE + 0x31};
	struct fixture f;
	start(&f, false);
	f.registers[0] = STACK + 4;
	f.sample.regs_user.abi = REGS_ABI_32;
	f.sample.stack_user.bytes = (struct tally_bytes){(const uint8_t *)stack, sizeof(stack)};
	f.sample.stack_user.dyn_size = f.sample.stack_user.size = sizeof(stack);
	expect(&f, unwound + 2, 4);
	assert_int_equal(f.unwinder.ends.ends[UNWIND_ROOT], 1);
	stop(&f);
}

static void test_code_that_nothing_is_known_of_adds_nothing(void **state)
{
	struct fixture f;
	start(&f, false);
	record_chain(&f, unwound, 2);
	f.registers[2] = 0xb8c; /* Nothing is mapped at this address. */
	f.registers[0] = 1;
	f.stack[0] = 0;
	expect(&f, unwound, 2);
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers_behind_the_kernels_in_both_byte_orders),
		cmocka_unit_test(test_callers_have_a_bound_of_their_own),
		cmocka_unit_test(test_a_short_copy_counts_as_far_as_the_kernel_copied),
		cmocka_unit_test(test_a_recorded_chain_that_knows_more_stands),
		cmocka_unit_test(test_without_registers_or_machine_nothing_is_unwound),
		cmocka_unit_test(test_a_32_bit_program_of_a_64_bit_kernel),
		cmocka_unit_test(test_code_that_nothing_is_known_of_adds_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
