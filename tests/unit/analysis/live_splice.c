/* SPDX-License-Identifier: Apache-2.0 */
/* Tests unwound stacks that are continued with the frame-pointer chain of the kernel. */
#include "analysis/live/live_splice.h"

#include <string.h>

#include "base/array.h"
#include "unit_test.h"

#define STACK UINT64_C(0x7000)
#define FP    6 /* The DWARF number of the frame pointer of x86-64. */

/* Addresses below 0x1000 are code. */
static bool find_code(void *context, uint64_t pc, struct unwind_module *module)
{
	(void)context;
	*module = (struct unwind_module){.low = 0, .high = 0x1000};
	return pc < 0x1000;
}

struct case_of_splice {
	uint64_t unwound[8], chain[8], wanted[8]; /* Terminated by 0. */
	enum unwind_end end;
	bool is_outermost;
	uint64_t last_fp; /* 0 if the frame pointer is unknown. */
	uint32_t signal; /* Index of the frame to which a signal handler returns; 0 if there is none. */
};

static size_t count_of(const uint64_t *words)
{
	size_t count = 0;
	while (count < 8 && words[count])
		count++;
	return count;
}

static void check(const struct case_of_splice *c, size_t max)
{
	static const struct unwind_modules modules = {find_code, NULL};
	/* Saved frame pointers: 0x7010 -> 0x7030 -> another stack. */
	static const uint64_t memory[8] = {0, 0, 0x7030, 0, 0, 0, 0x9000, 0};
	struct unwind_registers registers = {.values[FP] = 0x7010, .known = UINT64_C(1) << FP};
	uint64_t ips[8];
	struct unwind_result result = {.count = count_of(c->unwound),
		.end = c->end,
		.is_outermost = c->is_outermost,
		.last_fp = c->last_fp,
		.has_last_fp = c->last_fp != 0,
		.signal_count = c->signal != 0,
		.signals = {c->signal}};
	const struct live_splice splice = {.arch = &arch_x86_64,
		.chain = {(const uint8_t *)c->chain, (uint32_t)count_of(c->chain)},
		.registers = &registers,
		.stack = {STACK, {(const uint8_t *)memory, sizeof(memory)}, false},
		.modules = &modules};
	memcpy(ips, c->unwound, sizeof(ips));
	size_t added = live_splice(&splice, ips, max, &result);
	size_t wanted = count_of(c->wanted) < max ? count_of(c->wanted) : max;
	assert_int_equal(result.count, wanted);
	for (size_t i = 0; i < wanted; i++)
		assert_int_equal(ips[i], c->wanted[i]);
	assert_int_equal(added > 0, memcmp(c->unwound, c->wanted, sizeof(ips)) != 0 && max > count_of(c->unwound));
}

static void test_where_the_chain_goes_on(void **state)
{
	(void)state;
	static const struct case_of_splice cases[] = {
		/* The stack dump ended. */
		{{1, 2, 3}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, .end = UNWIND_STACK_SHORT},
		/* Functions without a frame of their own are missing from the chain. */
		{{1, 2, 3, 4}, {1, 3, 4, 5}, {1, 2, 3, 4, 5}, .end = UNWIND_STACK_SHORT},
		/* The last frame seemed to be the outermost one, or was wrong. */
		{{1, 2, 3}, {1, 2, 3, 4}, {1, 2, 3, 4}, .end = UNWIND_ROOT},
		{{1, 2, 3, 9}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, .end = UNWIND_ROOT},
		{{1, 2, 3, 9, 8}, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, .end = UNWIND_BROKEN},
		/* The chain is not used if it is shorter. */
		{{1, 2, 3, 9, 8}, {1, 2, 3, 4}, {1, 2, 3, 9, 8}, .end = UNWIND_BROKEN},
		{{1, 2, 3, 9, 8}, {1, 2, 3, 4, 5}, {1, 2, 3, 9, 8}, .end = UNWIND_STACK_SHORT},
		{{1, 2, 3, 9, 8}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, .end = UNWIND_BROKEN},
		{{1, 2, 3, 9}, {1, 2, 3, 4}, {1, 2, 3, 4}, .end = UNWIND_ROOT},
		/* Call-frame information marks the frame as outermost. */
		{{1, 2, 3}, {1, 2, 3, 4}, {1, 2, 3}, .end = UNWIND_ROOT, .is_outermost = true},
		/* Recursion. */
		{{1, 2, 2, 2}, {1, 2, 2, 2, 2, 2, 3}, {1, 2, 2, 2, 2, 2, 3}, .end = UNWIND_STACK_SHORT},
		/* Only the PC is the same, so the function may not maintain frame pointers. */
		{{1, 2, 3}, {1, 7, 8, 9}, {1, 2, 3}, .end = UNWIND_BROKEN},
		/* Three equal frames in a row are enough, although earlier ones differ. */
		{{1, 2, 3, 4, 5}, {1, 9, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, .end = UNWIND_STACK_SHORT},
		/* The chain is used up to the first address that is not code. */
		{{1, 2, 3}, {1, 2, 3, 4, 0x5000, 5}, {1, 2, 3, 4}, .end = UNWIND_STACK_SHORT},
		{{1, 2, 3}, {1, 2, 3, 0x5000, 5}, {1, 2, 3}, .end = UNWIND_STACK_SHORT},
		/* Code without frame pointers was called: the frame pointer of its caller is that of the sample, or the
		 * one that this function saved. */
		{{1, 2, 3, 4}, {1, 5, 6}, {1, 2, 3, 4, 5, 6}, .end = UNWIND_BROKEN, .last_fp = 0x7010},
		{{1, 2, 3, 4}, {1, 5, 6, 7}, {1, 2, 3, 4, 6, 7}, .end = UNWIND_BROKEN, .last_fp = 0x7030},
		{{1, 2, 3, 4}, {1, 5, 6, 7}, {1, 2, 3, 4, 7}, .end = UNWIND_BROKEN, .last_fp = 0x9000},
		{{1, 2, 3, 4}, {1, 5, 6}, {1, 2, 3, 4}, .end = UNWIND_BROKEN, .last_fp = 0x7018},
		/* A signal handler on a separate stack: the interrupted frame is retained. */
		{{1, 2, 3, 9}, {1, 2, 3, 4, 5}, {1, 2, 3, 9, 4, 5}, .end = UNWIND_STACK_SHORT, .signal = 2},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(&cases[i], 8);
	check(&cases[0], 4); /* There is space for one more frame. */
	check(&cases[0], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_where_the_chain_goes_on)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
