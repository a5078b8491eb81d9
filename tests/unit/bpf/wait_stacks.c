/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/wait_stacks.h"

#include "abi/perf_constants.h"
#include "base/array.h"
#include "unit_test.h"

static void makes_chains_with_markers(void **state)
{
	struct wait_stacks stacks = {0};
	const uint64_t ips[] = {0xffff800000000010, 0xffff800000000020, 0x401000};
	uint64_t chain[WAIT_CHAIN_MOST];
	assert_true(wait_stacks_add(&stacks, 7, ips, 2, 1));
	assert_int_equal(wait_stacks_chain(&stacks, 7, chain, ARRAY_LEN(chain)), 5);
	const uint64_t expected[] = {CONTEXT_KERNEL, ips[0], ips[1], CONTEXT_USER, ips[2]};
	assert_memory_equal(chain, expected, sizeof(expected));
	assert_int_equal(wait_stacks_chain(&stacks, 8, chain, ARRAY_LEN(chain)), 0);
	/* A stack with only a truncated user part. */
	assert_true(wait_stacks_add(&stacks, 9, ips, 0, 3));
	assert_int_equal(wait_stacks_chain(&stacks, 9, chain, 3), 3);
	assert_int_equal(chain[0], CONTEXT_USER);
	assert_int_equal(chain[2], ips[1]);
	wait_stacks_deinit(&stacks);
}

static void leaves_out_the_scheduler(void **state)
{
	struct wait_stacks stacks = {.scheduler = {{0x1000, 0x1100}, {0x2000, 0x2100}}, .scheduler_count = 2};
	const uint64_t ips[] = {0x9000 /* the BPF program */, 0x1050, 0x2050, 0x3000, 0x4000};
	const uint64_t all[] = {0x9000, 0x1050};
	uint64_t chain[WAIT_CHAIN_MOST];
	assert_true(wait_stacks_add(&stacks, 1, ips, 5, 0));
	assert_int_equal(wait_stacks_chain(&stacks, 1, chain, ARRAY_LEN(chain)), 3);
	assert_int_equal(chain[1], 0x3000);
	/* At least one frame remains. */
	assert_true(wait_stacks_add(&stacks, 2, all, 2, 0));
	assert_int_equal(wait_stacks_chain(&stacks, 2, chain, ARRAY_LEN(chain)), 2);
	assert_int_equal(chain[1], 0x1050);
	wait_stacks_deinit(&stacks);
}

static void ends_interrupts_where_they_entered(void **state)
{
	const struct wait_stacks stacks = {.interrupts = {0x5000, 0x6000}}, unknown = {0};
	const uint64_t chain[] = {CONTEXT_KERNEL, 0x3000, 0x5010, 0x5ff0, 0x4000, 0x5020};
	assert_int_equal(wait_stacks_interrupt(&stacks, chain, ARRAY_LEN(chain)), 4);
	assert_int_equal(wait_stacks_interrupt(&stacks, chain, 3), 3);
	assert_int_equal(wait_stacks_interrupt(&stacks, chain, 2), 2);
	assert_int_equal(wait_stacks_interrupt(&stacks, chain, 0), 0);
	assert_int_equal(wait_stacks_interrupt(&unknown, chain, ARRAY_LEN(chain)), ARRAY_LEN(chain));
}

struct forgotten_ids {
	uint64_t ids[64];
	size_t len;
};

static void note_forgotten(void *context, uint64_t id)
{
	struct forgotten_ids *f = context;
	assert_true(f->len < ARRAY_LEN(f->ids));
	f->ids[f->len++] = id;
}

static void forgets_what_is_old_and_not_used(void **state)
{
	struct forgotten_ids forgotten = {.len = 0};
	struct wait_stacks stacks = {
		.most_bytes = 10 * 16, .forgotten = note_forgotten, .forgotten_context = &forgotten};
	uint64_t chain[WAIT_CHAIN_MOST];
	for (uint64_t id = 1; id <= 60; id++) {
		assert_true(wait_stacks_add(&stacks, id, &id, 0, 1));
		assert_int_equal(wait_stacks_chain(&stacks, id, chain, ARRAY_LEN(chain)), 2);
		assert_int_equal(wait_stacks_chain(&stacks, 1, chain, ARRAY_LEN(chain)), 2); /* The stack is in use. */
		assert_int_equal(chain[1], 1);
	}
	assert_true(forgotten.len > 20);
	for (size_t i = 0; i < forgotten.len; i++)
		assert_int_not_equal(forgotten.ids[i], 1);
	assert_int_equal(wait_stacks_chain(&stacks, forgotten.ids[0], chain, ARRAY_LEN(chain)), 0);
	wait_stacks_deinit(&stacks);
}

static void keeps_what_nobody_can_send_again(void **state)
{
	struct wait_stacks stacks = {.most_bytes = 10 * 16, .scheduler = {{0x1000, 0x1100}}, .scheduler_count = 1};
	const uint64_t ips[] = {0x1050, 0x3000, 0x401000}, user[] = {0x401000, 0x402000, 0x403000};
	const uint64_t first[] = {CONTEXT_KERNEL, 0x3000, CONTEXT_USER, 0x401000};
	const uint64_t whole[] = {CONTEXT_KERNEL, 0x3000, CONTEXT_USER, 0x401000, 0x402000, 0x403000};
	uint64_t chain[WAIT_CHAIN_MOST];
	assert_true(wait_stacks_keep(&stacks, 1000, ips, 2, 1));
	assert_int_equal(wait_stacks_chain(&stacks, 1000, chain, ARRAY_LEN(chain)), ARRAY_LEN(first));
	assert_memory_equal(chain, first, sizeof(first));
	assert_true(wait_stacks_keep_user(&stacks, 1000, user, ARRAY_LEN(user)));
	for (uint64_t id = 1; id <= 60; id++)
		assert_true(wait_stacks_add(&stacks, id, &id, 0, 1));
	assert_int_equal(wait_stacks_chain(&stacks, 1000, chain, ARRAY_LEN(chain)), ARRAY_LEN(whole));
	assert_memory_equal(chain, whole, sizeof(whole));
	/* The number of retained stacks is limited. */
	for (uint64_t id = 2000; id <= 2060; id++)
		assert_true(wait_stacks_keep(&stacks, id, ips, 2, 1));
	assert_int_equal(wait_stacks_chain(&stacks, 1000, chain, ARRAY_LEN(chain)), 0);
	assert_int_equal(wait_stacks_chain(&stacks, 2060, chain, ARRAY_LEN(chain)), ARRAY_LEN(first));
	/* A stack without a kernel part. */
	assert_true(wait_stacks_keep_user(&stacks, 1001, user, 1));
	assert_int_equal(wait_stacks_chain(&stacks, 1001, chain, ARRAY_LEN(chain)), 2);
	wait_stacks_deinit(&stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_chains_with_markers),
		cmocka_unit_test(leaves_out_the_scheduler),
		cmocka_unit_test(ends_interrupts_where_they_entered),
		cmocka_unit_test(forgets_what_is_old_and_not_used),
		cmocka_unit_test(keeps_what_nobody_can_send_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
