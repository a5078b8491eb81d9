/* SPDX-License-Identifier: Apache-2.0 */
/* Unwound stacks that go on by the kernel's chain of frame pointers. */
#include "analysis/live/live_splice.h"

#include <string.h>

#include "base/array.h"
#include "unit_test.h"

#define STACK UINT64_C(0x7000)
#define FP    6 /* x86-64's frame pointer, by DWARF's number */

/* Code is below 0x1000. */
static bool find_code(void *context, uint64_t pc, struct unwind_module *module)
{
	(void)context;
	*module = (struct unwind_module){.low = 0, .high = 0x1000};
	return pc < 0x1000;
}

struct case_of_splice {
	uint64_t unwound[8], chain[8], wanted[8]; /* each ends with 0 */
	enum unwind_end end;
	bool is_outermost;
	uint64_t last_fp; /* 0: not known */
	uint32_t signal; /* what a handler returns to; 0: none */
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
		/* the copy ended */
		{{1, 2, 3}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, .end = UNWIND_STACK_SHORT},
		/* what has no frame of its own is not in the chain */
		{{1, 2, 3, 4}, {1, 3, 4, 5}, {1, 2, 3, 4, 5}, .end = UNWIND_STACK_SHORT},
		/* it looked like the first function, or led to a wrong one */
		{{1, 2, 3}, {1, 2, 3, 4}, {1, 2, 3, 4}, .end = UNWIND_ROOT},
		{{1, 2, 3, 9}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, .end = UNWIND_ROOT},
		{{1, 2, 3, 9, 8}, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, .end = UNWIND_BROKEN},
		/* but not for less */
		{{1, 2, 3, 9, 8}, {1, 2, 3, 4}, {1, 2, 3, 9, 8}, .end = UNWIND_BROKEN},
		{{1, 2, 3, 9, 8}, {1, 2, 3, 4, 5}, {1, 2, 3, 9, 8}, .end = UNWIND_STACK_SHORT},
		{{1, 2, 3, 9, 8}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, .end = UNWIND_BROKEN},
		{{1, 2, 3, 9}, {1, 2, 3, 4}, {1, 2, 3, 4}, .end = UNWIND_ROOT},
		/* call-frame information says that it is the first */
		{{1, 2, 3}, {1, 2, 3, 4}, {1, 2, 3}, .end = UNWIND_ROOT, .is_outermost = true},
		/* recursion */
		{{1, 2, 2, 2}, {1, 2, 2, 2, 2, 2, 3}, {1, 2, 2, 2, 2, 2, 3}, .end = UNWIND_STACK_SHORT},
		/* only the pc is the same: nothing says that the function keeps frame pointers */
		{{1, 2, 3}, {1, 7, 8, 9}, {1, 2, 3}, .end = UNWIND_BROKEN},
		/* three in a row, though what is before differs */
		{{1, 2, 3, 4, 5}, {1, 9, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, .end = UNWIND_STACK_SHORT},
		/* as far as it is code */
		{{1, 2, 3}, {1, 2, 3, 4, 0x5000, 5}, {1, 2, 3, 4}, .end = UNWIND_STACK_SHORT},
		{{1, 2, 3}, {1, 2, 3, 0x5000, 5}, {1, 2, 3}, .end = UNWIND_STACK_SHORT},
		/* code without frame pointers was called: its caller's is that of the sample, or the one that this saved */
		{{1, 2, 3, 4}, {1, 5, 6}, {1, 2, 3, 4, 5, 6}, .end = UNWIND_BROKEN, .last_fp = 0x7010},
		{{1, 2, 3, 4}, {1, 5, 6, 7}, {1, 2, 3, 4, 6, 7}, .end = UNWIND_BROKEN, .last_fp = 0x7030},
		{{1, 2, 3, 4}, {1, 5, 6, 7}, {1, 2, 3, 4, 7}, .end = UNWIND_BROKEN, .last_fp = 0x9000},
		{{1, 2, 3, 4}, {1, 5, 6}, {1, 2, 3, 4}, .end = UNWIND_BROKEN, .last_fp = 0x7018},
		/* a handler on a stack of its own: what was interrupted stays */
		{{1, 2, 3, 9}, {1, 2, 3, 4, 5}, {1, 2, 3, 9, 4, 5}, .end = UNWIND_STACK_SHORT, .signal = 2},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(&cases[i], 8);
	check(&cases[0], 4); /* there is room for one more */
	check(&cases[0], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_where_the_chain_goes_on)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
